package exec

import "math/bits"

// tally counts what blocks execute, several counters in a word, so that a block
// costs three additions.
type tally struct {
	low   uint64 // instructions of SALU, SMEM, Branch, VALU, 16 bits each
	high  uint64 // of MFMA, VMEM, LDS, and of all classes together
	lanes uint64 // active lanes of VALU, VMEM, LDS, 21 bits each
}

// maxTally is after how many instructions a tally has to be flushed: there is
// room for 2^15 of them, with all lanes active, and translated code looks only
// where it goes back, or comes from Go.
const maxTally = 1 << 11

func (t *tally) full() bool { return t.high>>48 >= maxTally }

// lookTally is after how many instructions a wave that spins is looked at again.
const lookTally = maxTally / 8

// hasten has the tally full within lookTally instructions. The number of all instructions is of no other use.
func (t *tally) hasten() { t.high = t.high&(1<<48-1) | (maxTally-lookTally)<<48 }

const laneBits = 21

// tallied are a block's counters in the form of tally; of lanes, for one lane.
type tallied struct{ low, high, lanes uint64 }

func tallyOf(counts *[NumClasses]uint32) tallied {
	c := func(k Class) uint64 { return uint64(counts[k]) }
	all := uint64(0)
	for _, n := range counts {
		all += uint64(n)
	}
	return tallied{
		low:   c(SALU) | c(SMEM)<<16 | c(Branch)<<32 | c(VALU)<<48,
		high:  c(MFMA) | c(VMEM)<<16 | c(LDS)<<32 | all<<48,
		lanes: c(VALU) | c(VMEM)<<laneBits | c(LDS)<<(2*laneBits),
	}
}

// add counts a block that was executed under exec.
func (t *tally) add(b *block, exec uint64) {
	t.low += b.tallied.low
	t.high += b.tallied.high
	t.lanes += b.tallied.lanes * uint64(bits.OnesCount64(exec))
}

// flushTally adds what was counted to the wave's statistics.
func (w *wave) flushTally() { w.tally.flush(&w.stats, uint64(w.d.waveSize())) }

// flush adds what was counted of waves of so many lanes to s.
func (t *tally) flush(s *Stats, lanes uint64) {
	for i, c := range []Class{SALU, SMEM, Branch, VALU} {
		s.Instructions[c] += t.low >> (16 * i) & 0xffff
	}
	for i, c := range []Class{MFMA, VMEM, LDS} {
		s.Instructions[c] += t.high >> (16 * i) & 0xffff
	}
	s.Lanes[MFMA] += lanes * (t.high & 0xffff)
	for i, c := range []Class{VALU, VMEM, LDS} {
		s.Lanes[c] += t.lanes >> (laneBits * i) & (1<<laneBits - 1)
	}
	*t = tally{}
}
