package exec

import (
	"hash/maphash"
	"unsafe"
)

// Spinning. A wave that waits for another one to write something goes round a loop in which nothing changes: as long as memory is what it is
// it can do nothing else. On a card that costs nobody anything. Here it would be all that a core does for the rest of the workgroup's turn, and whoever is
// waited for may be parked: in a scan that looks back, most workgroups wait most of the time for the one before them. So it is found out, by the registers:
// they are what they were when the wave was at the same place before, a time slice ago. Then the wave's turn is over. Nothing else depends on it, so no harm is
// done where only memory, or registers that are not looked at, have changed.

// waveSpin is what a wave was like at the end of its last time slice.
type waveSpin struct {
	at      *block // where it stood
	scalars [256]uint32
	vectors uint64 // their hash, if they have been looked at
	looked  bool
	wait    uint8 // time slices until they are looked at again
	waited  uint8 // that was how many the last time
}

// mostSpinWait is how many time slices go by between two looks at the vector registers of a wave whose scalar registers do not change.
const mostSpinWait = 64

var spinSeed = maphash.MakeSeed()

// spins reports whether the wave, which a time slice ends at b or which sleeps before it, spins.
func (w *wave) spins(b *block) bool {
	s := &w.spin
	if s.at != b || s.scalars != w.S {
		s.at, s.scalars, s.looked, s.wait, s.waited = b, w.S, false, 0, 0
		return false
	}
	if s.wait > 0 {
		s.wait--
		return false
	}
	was, looked := s.vectors, s.looked
	s.vectors, s.looked = w.vectorsHash(), true
	if !looked || s.vectors == was {
		return looked
	}
	// It computes, each lane for itself.
	s.looked, s.waited = false, min(2*s.waited+1, mostSpinWait)
	s.wait = s.waited
	return false
}

// vectorsHash is a hash of the vector registers.
func (w *wave) vectorsHash() uint64 {
	return maphash.Bytes(spinSeed, unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(w.V))), len(w.V)*int(unsafe.Sizeof(Vec{}))))
}
