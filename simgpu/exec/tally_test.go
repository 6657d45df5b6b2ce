package exec

import (
	"math/bits"
	"testing"
)

// TestTallyHoldsTheLargestBlocks fills every counter as far as it can be before
// the tally is flushed.
func TestTallyHoldsTheLargestBlocks(t *testing.T) {
	for _, exec := range []uint64{^uint64(0), 0, 1, 0xffff0000} {
		for c := range NumClasses {
			var b block
			b.counts[c] = maxBlock + 1
			b.tallied = tallyOf(&b.counts)
			var got, want Stats
			var sum tally
			for range maxTally {
				sum.add(&b, exec)
				want.Instructions[c] += maxBlock + 1
				switch c {
				case VALU, VMEM, LDS:
					want.Lanes[c] += (maxBlock + 1) * uint64(bits.OnesCount64(exec))
				case MFMA:
					want.Lanes[c] += (maxBlock + 1) * WaveSize
				}
			}
			if sum.flush(&got); got != want {
				t.Errorf("%v under %#x: %+v, want %+v", c, exec, got, want)
			}
			if sum != (tally{}) {
				t.Errorf("%v: not empty after flush: %+v", c, sum)
			}
		}
	}
}
