package exec

import (
	"math/bits"
	"unsafe"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Vec is a vector register: one 32-bit element for each lane of a wave.
// 64-bit values lie in two consecutive registers, low halves in the first.
type Vec [WaveSize]uint32

// upper is the register after v: the high halves of a 64-bit operand. v must
// point into an array of registers that goes on.
func upper(v *Vec) *Vec { return (*Vec)(unsafe.Add(unsafe.Pointer(v), unsafe.Sizeof(*v))) }

// The scalar state is one array indexed by the scalar source number, so VCC,
// EXEC, M0 and FLAT_SCRATCH need no special case; SCC lies at its source number.
const (
	regFlatScratch = gcn.RegFlatScratch
	regVCC         = gcn.RegVCC
	regM0          = gcn.RegM0
	regEXEC        = gcn.RegEXEC
	regVCCZ        = gcn.SrcVCCZ
	regEXECZ       = gcn.SrcEXECZ
	regSCC         = gcn.SrcSCC
)

// status is why a wave stopped executing.
type status uint8

const (
	running   status = iota // its time slice is over
	atBarrier               // waits for the other waves of its workgroup
	sleeping                // asked to let others run
	ended
)

// wave is the state of one wave. It is reused for one workgroup after another.
type wave struct {
	V []Vec // vector registers
	A []Vec // accumulation registers
	S [256]uint32

	exec   uint64 // EXEC, as it is throughout the current block
	full   bool   // all lanes of exec are set
	mask   Vec    // maskOf as one all-ones or zero element per lane
	maskOf uint64
	mode   uint32
	fp     fpEnv

	blk    *block // where it stands
	idx    int    // instruction of blk that executes
	status status

	d   *Dispatch
	mem *Memory
	wg  *workgroup
	id  int // number within the workgroup

	scratch []byte // private segments of the lanes, interleaved by dword

	out   [4]Vec     // results before they are merged under EXEC
	tmp   [6]Vec     // modified sources, two for each
	offs  [64]uint64 // memory offsets of the lanes
	bcast [258]Vec   // scalar registers as vectors; element 0 says of which value
	dpp   uint64     // lanes that DPP lets write
	stats Stats
}

// setExec loads what depends on EXEC; called at the start of every block.
func (w *wave) setExec() {
	e := uint64(w.S[regEXEC]) | uint64(w.S[regEXEC+1])<<32
	w.exec = e
	w.full = e == ^uint64(0)
}

// lanes returns a lane mask as a vector of all-ones and zero.
func (w *wave) lanes(mask uint64) *Vec {
	if w.maskOf != mask {
		w.maskOf = mask
		for i := range w.mask {
			w.mask[i] = uint32(-(mask & 1))
			mask >>= 1
		}
	}
	return &w.mask
}

// merge copies the lanes of the mask from s to d.
func (w *wave) merge(d, s *Vec, mask uint64) {
	switch n := bits.OnesCount64(mask); {
	case n == WaveSize:
		*d = *s
	case n <= 8:
		for ; mask != 0; mask &= mask - 1 {
			i := bits.TrailingZeros64(mask) & 63
			d[i] = s[i]
		}
	default:
		m := w.lanes(mask)
		for i := range d {
			d[i] ^= (d[i] ^ s[i]) & m[i]
		}
	}
}

func (w *wave) s64(n uint8) uint64 { return uint64(w.S[n]) | uint64(w.S[n+1])<<32 }

func (w *wave) setS64(n uint8, v uint64) {
	w.S[n] = uint32(v)
	w.S[n+1] = uint32(v >> 32)
}

// setSCC sets the scalar condition code to b.
func (w *wave) setSCC(b bool) {
	var v uint32
	if b {
		v = 1
	}
	w.S[regSCC] = v
}

// broadcast returns scalar register n as a vector. The vectors are kept, so an
// unchanged register costs a comparison.
func (w *wave) broadcast(n uint8) *Vec {
	v := &w.bcast[n]
	if s := w.S[n]; v[0] != s {
		for i := range v {
			v[i] = s
		}
	}
	return v
}

// setMode writes the MODE register.
func (w *wave) setMode(m uint32) {
	w.mode = m
	w.fp = newFPEnv(m)
}
