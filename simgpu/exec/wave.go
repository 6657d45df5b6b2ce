package exec

import (
	"math/bits"
	"unsafe"

	"github.com/rocwire/rocwire/simgpu/exec/internal/x64"
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
	gaveWay                 // waits for a load until the others of its workgroup do
	sleeping                // asked to let others run
	spinning                // waits for something in memory, see waveSpin
	atGWS                   // waits for waves of other workgroups, see waits
	ended
)

// affineSlots is how many affine numbers translated code can have at a time, see affine.
const affineSlots = 16

// affineMisses is of how many blocks a wave knows that they do not begin with affine registers.
const affineMisses = 8

// ldsSlots is how many registers translated code can know something of, see ldsRange.
const ldsSlots = ldsKept + ldsShared

// Slots that registers keep all through a region, and those that blocks share.
const (
	ldsKept   = 8
	ldsShared = 4
)

// wave is the state of one wave. It is reused for one workgroup after another.
// What translated code moves 64 bytes at a time comes first and lies in lines of the cache:
// who reads a part of what was stored over the end of a line would have to wait.
type wave struct {
	S     [256]uint32
	begin [chainScalars]uint32 // what S begins with, in a chain
	out   [4]Vec               // results before they are merged under EXEC
	offs  [64]uint64           // memory offsets of the lanes
	tiles tileMemory

	V []Vec // vector registers
	A []Vec // accumulation registers

	ones               uint64   // a bit for each lane that there is
	exec               uint64   // EXEC, as it is throughout the current block
	full               bool     // all lanes that there are are set in exec
	merging, selecting laneMask // of merge and v_cndmask

	mode     uint32
	priority uint8  // s_setprio
	traps    uint32 // TRAPSTS as the kernel has written it
	fp       fpEnv

	blk    *block // where it stands
	idx    int    // instruction of blk that executes
	status status
	gives  spaces  // the loads for which it gives way when it waits
	waits  gwsWait // at atGWS
	clocks uint32  // times it has looked at a clock
	sleeps uint32  // times it was to sleep

	d   *Dispatch
	mem *Memory
	wg  *workgroup
	id  int // number within the workgroup

	ldsAt      unsafe.Pointer // the LDS, for translated code
	ldsLen     uint32
	scratchAt  unsafe.Pointer // likewise: scratch, and the bytes of a lane in it
	scratchLen uint32
	aside      uint64                  // likewise: lanes of an access that are not led to device memory, but beyond a buffer or in the LDS
	zeros      [16]byte                // what lanes beyond a buffer load
	sink       [16]byte                // where they store
	ldsKind    [ldsSlots]uint32        // likewise: see ldsRange
	ldsBases   [ldsSlots][4]int32      // addresses of the quarters' lowest lanes
	affine     [affineSlots]uint64     // likewise: see affine
	affineNot  [affineMisses][2]uint32 // of blocks that were found not to begin with affine registers: the lower half of the address, and how often that is still taken for granted
	ldsOwner   *region                 // whose registers are in the kept slots of ldsKind; nil: nobody's
	accessing  uint32                  // 1 + number of the exit of the memory access that translated code does
	region     *region                 // whose code executes
	chain      waveChain
	meet       waveMeet
	left       uint32 // 1 + number of the exit through which translated code left the wave, while Go executes others

	slots [x64.SlotBytes]byte // registers of translated code where that is AVX2

	scratch []byte // private segments of the lanes, interleaved by dword

	tmp     [6]Vec                   // modified sources, two for each
	flushed [3][2]Vec                // sources without denormal numbers
	bases   [numBases]unsafe.Pointer // of V, A and bcast
	bcast   [258]Vec                 // scalar registers as vectors; element 0 says of which value
	dpp     uint64                   // lanes that DPP lets write
	mat     matrices
	stats   Stats
	tally   tally // what is not in stats yet

	spin    waveSpin
	ldsRoom [ldsSlots]uint32 // see ldsRange

	watched *watched // nil: nobody watches
}

// setExec loads what depends on EXEC; called at the start of every block.
func (w *wave) setExec() {
	w.exec = w.active()
	w.full = w.exec == w.ones
}

// active is EXEC as it is now, condition VCC. A wave of 32 lanes has neither's high half: that of VCC is a
// scalar register like others there.
func (w *wave) active() uint64    { return w.s64(regEXEC) & w.ones }
func (w *wave) condition() uint64 { return w.s64(regVCC) & w.ones }

// laneMask is a lane mask with its form as a vector of all-ones and zero.
type laneMask struct {
	of uint64
	v  Vec
}

// vec returns the vector form of a mask. It is kept for the next time.
func (l *laneMask) vec(mask uint64) *Vec {
	if l.of != mask {
		l.of = mask
		v := pairs(&l.v)
		for i := range v {
			// Two lanes at a time: bits 0 and 1 to all bits of the halves.
			v[i] = uint64(uint32(-(mask & 1))) | -(mask>>1&1)<<32
			mask >>= 2
		}
	}
	return &l.v
}

// merge copies the lanes of the mask from s to d.
func (w *wave) merge(d, s *Vec, mask uint64) {
	switch {
	case mask == ^uint64(0):
		*d = *s
	case bits.OnesCount64(mask&^(mask<<1)) <= 4: // a few runs of lanes
		for mask != 0 {
			first := bits.TrailingZeros64(mask)
			n := bits.TrailingZeros64(^(mask >> first))
			copy(d[first:first+n], s[first:])
			mask &^= 1<<(first+n) - 1
		}
	case bits.OnesCount64(mask) <= 8:
		for ; mask != 0; mask &= mask - 1 {
			i := bits.TrailingZeros64(mask) & 63
			d[i] = s[i]
		}
	default:
		x, y, m := pairs(d), pairs(s), pairs(w.merging.vec(mask))
		for i := range x {
			x[i] ^= (x[i] ^ y[i]) & m[i]
		}
	}
}

// pairs views a register as pairs of lanes, for bitwise operations, and
// touches it, so that a loop over it has no nil checks.
func pairs(v *Vec) *[WaveSize / 2]uint64 {
	p := (*[WaveSize / 2]uint64)(unsafe.Pointer(v))
	_ = p[0]
	return p
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
	w.unchain() // waves begin with another one
	w.fp = newFPEnv(m)
}
