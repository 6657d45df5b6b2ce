package gcn

import (
	"fmt"
	"math/rand"
	"os"
	"sort"
	"strconv"
	"testing"
)

func report(t *testing.T, what string, y *tally, limit float64) {
	t.Helper()
	rate := 100 * float64(y.n-y.bad) / float64(max(y.n, 1))
	t.Logf("%s: %d of %d instructions as llvm-mc (%.4f %%)", what, y.n-y.bad, y.n, rate)
	if y.n == 0 || rate < limit {
		keys := make([]string, 0, len(y.byKey))
		for k := range y.byKey {
			keys = append(keys, k)
		}
		sort.Slice(keys, func(i, j int) bool { return y.byKey[keys[i]] > y.byKey[keys[j]] })
		n := 8
		if os.Getenv("GCN_ALL") != "" {
			n = len(keys)
		}
		for _, k := range keys[:min(len(keys), n)] {
			t.Errorf("%s: %d times, e.g. %s", k, y.byKey[k], y.examples[k])
		}
	}
}

// TestOrdinary compares every opcode of every encoding with LLVM, filled with
// the operands that compilers emit.
func TestOrdinary(t *testing.T) {
	for _, arch := range archsAndWaves() {
		for _, enc := range encodings(arch) {
			t.Run(fmt.Sprint(arch, "/", arch.WaveSize(), "/", enc), func(t *testing.T) {
				r := rand.New(rand.NewSource(int64(enc)))
				var blocks [][]uint32
				for op := uint32(0); op < opcodeCount(arch, enc); op++ {
					blocks = append(blocks, ordinaryBlocks(r, arch, enc, op)...)
				}
				var y tally
				compare(t, arch, blocks, &y)
				report(t, "ordinary operands", &y, 100)
			})
		}
	}
}

// TestRandom does the same with random bits in all fields of all opcodes.
// GCN_ROUNDS=n makes it n times as long.
func TestRandom(t *testing.T) {
	rounds, _ := strconv.Atoi(os.Getenv("GCN_ROUNDS"))
	for _, arch := range archsAndWaves() {
		for _, enc := range encodings(arch) {
			t.Run(fmt.Sprint(arch, "/", arch.WaveSize(), "/", enc), func(t *testing.T) {
				var y tally
				for i := 0; i < max(1, rounds); i++ {
					r := rand.New(rand.NewSource(100 + int64(enc) + int64(i)<<16))
					compare(t, arch, randomBlocks(r, arch, enc, max(12, 6000/int(opcodeCount(arch, enc)))), &y)
				}
				report(t, "random fields", &y, 100)
			})
		}
	}
}

// TestStreams compares streams of random words: whatever the first word is.
func TestStreams(t *testing.T) {
	rounds, _ := strconv.Atoi(os.Getenv("GCN_ROUNDS"))
	for _, arch := range archsAndWaves() {
		var y tally
		for i := 0; i < max(1, rounds); i++ {
			r := rand.New(rand.NewSource(7 + int64(i)<<8))
			var blocks [][]uint32
			for k := 0; k < 20000; k++ {
				b := []uint32{r.Uint32(), r.Uint32(), r.Uint32(), r.Uint32()}
				if k%2 == 0 {
					b[0] |= 0xc0000000 // half of all words are VOP2 otherwise
				}
				for j := range b[:3] { // llvm-mc crashes on some SDWA words
					if b[j]>>31 == 0 && b[j]&0x1ff == srcSDWA && !arch.Has(RDNA) {
						b[j+1] = knownSelectors(b[j+1])
					}
				}
				if b[3]>>31 == 0 && b[3]&0x1ff == srcSDWA {
					b[3]++
				}
				for j := range b {
					if arch.Has(RDNA) {
						tameRDNA(b[j:])
					} else {
						tame(b[j:])
					}
				}
				blocks = append(blocks, b)
			}
			compare(t, arch, blocks, &y)
		}
		report(t, "random words", &y, 100)
	}
}
