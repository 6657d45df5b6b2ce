package exec

import (
	"math/bits"
	"testing"
)

// TestTallyHoldsTheLargestBlocks fills every counter as far as it can be before
// the tally is flushed: with whole regions, between whose blocks nobody looks.
func TestTallyHoldsTheLargestBlocks(t *testing.T) {
	const region = 4096 + maxBlock + 1 // see regionInsts
	for i, exec := range []uint64{^uint64(0), 0, 1, 0xffff0000} {
		lanes := uint64(64 >> (i & 1))
		for c := range NumClasses {
			var got, want Stats
			var sum tally
			add := func(n uint32) {
				var b block
				b.counts[c] = n
				b.tallied = tallyOf(&b.counts)
				sum.add(&b, exec)
				want.Instructions[c] += uint64(n)
				switch c {
				case VALU, VMEM, LDS:
					want.Lanes[c] += uint64(n) * uint64(bits.OnesCount64(exec))
				case MFMA:
					want.Lanes[c] += uint64(n) * lanes
				}
			}
			for sum.high>>48 < maxTally-1 {
				add(1)
			}
			if sum.full() {
				t.Errorf("%v: full too early", c)
			}
			for range region / maxBlock {
				add(maxBlock)
			}
			add(maxBlock)
			if !sum.full() {
				t.Errorf("%v: not full", c)
			}
			if sum.flush(&got, lanes); got != want {
				t.Errorf("%v under %#x: %+v, want %+v", c, exec, got, want)
			}
			if sum != (tally{}) {
				t.Errorf("%v: not empty after flush: %+v", c, sum)
			}
		}
	}
}
