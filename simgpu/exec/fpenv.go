package exec

// rounding is a FLOAT_ROUND mode.
type rounding uint8

const (
	roundEven rounding = iota
	roundUp
	roundDown
	roundZero
)

// fpEnv is what MODE says about floating-point arithmetic.
type fpEnv struct {
	round32, round64 rounding // round64 is also that of f16
	flushIn32        bool     // denormal inputs count as zero
	flushOut32       bool     // denormal results become zero
	flushIn64        bool     // f64 and f16
	flushOut64       bool
	ieee             bool // signalling NaNs are quieted by min and max
	dx10             bool // clamp turns NaN into 0
	ovfl16           bool // f16 overflow gives the largest finite number

	// slow32 and slow64 say that the mode is not the usual one (nearest even,
	// denormals kept), so the exact but slow functions must be used.
	slow32, slow64 bool

	_ [5]byte // 16 bytes: they are copied in one go, for every wave
}

func newFPEnv(m uint32) fpEnv {
	e := fpEnv{
		round32:    rounding(m & 3),
		round64:    rounding(m >> 2 & 3),
		flushIn32:  m>>4&1 == 0,
		flushOut32: m>>5&1 == 0,
		flushIn64:  m>>6&1 == 0,
		flushOut64: m>>7&1 == 0,
		dx10:       m>>8&1 != 0,
		ieee:       m>>9&1 != 0,
		ovfl16:     m>>23&1 != 0,
	}
	e.slow32 = e.round32 != roundEven || e.flushIn32 || e.flushOut32
	e.slow64 = e.round64 != roundEven || e.flushIn64 || e.flushOut64
	return e
}
