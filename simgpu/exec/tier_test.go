package exec

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// The kernels of every tier of this processor against the portable ones. In a
// build without tiers there is nothing to compare.

// boundary32 and boundary64 are the values where kernels go wrong.
var (
	boundary32 = []uint32{0, 1, 2, 31, 32, 33, 63, 64, 0xff, 0xffff, 0xffffff, 0x7fffffff, 0x80000000, 0x80000001, 0xffffffff,
		0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00001, 0x7f800001, 0xff812345, // infinities, NaNs
		0x00000001, 0x807fffff, 0x00800000, 0x80800000, 0x7f7fffff, 0xff7fffff, // denormals and the limits
		0x4effffff, 0x4f000000, 0xcf000000, 0xcf000001, 0x4f7fffff, 0x4f800000, 0xbf7fffff, 0x3effffff, 0x3f000000, 0xbfc00000, 0x4b000001}
	boundaryHigh = []uint32{0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0x3ff00000, 0xbff00000, 0x7ff00000, 0xfff00000, 0x7ff80000,
		0xfff80000, 0x7ff00001, 0x000fffff, 0x800fffff, 0x00100000, 0x7fefffff, 0xffefffff, 0x43300000, 0x41e00000, 0x41f00000}
	execPatterns = []uint64{^uint64(0), 0, 0x5555555555555555, 0xaaaaaaaaaaaaaaaa, 1, 1 << 63, 0xffff, 0xffffffff00000000, 0x00ff00ff12345678}
)

// operandSet fills the registers of a file: one in three lanes has a boundary
// value, and neighbours are often alike so that comparisons are equal.
func operandSet(r *rand.Rand, file *[8]Vec) {
	for i := range file {
		for l := range file[i] {
			switch x := r.Uint32(); r.IntN(6) {
			case 0, 1:
				file[i][l] = boundary32[x%uint32(len(boundary32))]
			case 2:
				file[i][l] = boundaryHigh[x%uint32(len(boundaryHigh))]
			case 3:
				file[i][l] = file[max(i-2, 0)][l]
			default:
				file[i][l] = x
			}
		}
	}
}

// isNaNOf says whether the result is a NaN of the type that v has.
func (v *vop) isNaNOf(lo, hi uint32) bool {
	switch v.fl {
	case isF32:
		return isNaN32(lo)
	case isF64:
		f := f64(lo, hi)
		return f != f
	}
	return false
}

// Registers of a test's file: the result, and the sources.
const (
	testD, testA, testB, testC = 0, 2, 4, 6
)

func rounds() int {
	if testing.Short() {
		return 20
	}
	return 200
}

func TestTierKernels(t *testing.T) {
	for name, tier := range tiers() {
		for _, op := range slices.Sorted(maps.Keys(tier.kernels)) {
			t.Run(name+"/"+op, func(t *testing.T) {
				v, k := vops[op], tier.kernels[op]
				if v == nil {
					t.Fatal("there is no such operation")
				}
				r := rand.New(rand.NewPCG(1, 2))
				for i := range rounds() {
					var file [8]Vec
					operandSet(r, &file)
					mask := r.Uint64()
					if i < len(execPatterns)*2 {
						mask = execPatterns[i%len(execPatterns)]
					}
					// In turn: all different, the result in the place of a source, the same source twice.
					at := [][4]int{{testD, testA, testB, testC}, {testA, testA, testB, testC}, {testC, testA, testB, testC}, {testD, testA, testA, testA}}[i%4]
					want, got := file, file
					var out [2]Vec
					v.k(&out[0], &file[at[1]], &file[at[2]], &file[at[3]])
					for l := range WaveSize {
						if mask>>l&1 != 0 {
							for j := range v.dst {
								want[at[0]+j][l] = out[j][l]
							}
						}
					}
					k(&got[at[0]], &got[at[1]], &got[at[2]], &got[at[3]], mask)
					if err := sameFiles(v, at[0], &got, &want); err != nil {
						t.Fatalf("mask %#x, registers %v: %v; sources %s", mask, at, err, sourcesOf(&file, at, err.lane))
					}
				}
			})
		}
	}
}

// TestTierBinders binds each kernel to registers, constants and scalars as an
// instruction would.
func TestTierBinders(t *testing.T) {
	for name, tier := range tiers() {
		for _, op := range slices.Sorted(maps.Keys(tier.binders)) {
			t.Run(name+"/"+op, func(t *testing.T) {
				v := vops[op]
				r := rand.New(rand.NewPCG(13, 14))
				for i := range rounds() {
					w := &wave{V: make([]Vec, 8), exec: r.Uint64()}
					w.setBases()
					w.setMode(0xf0)
					var file [8]Vec
					operandSet(r, &file)
					p := plain{d: placeOf(inV, testD), a: placeOf(inV, testA), b: placeOf(inV, testB), c: placeOf(inV, testC)}
					scalar := func(reg int, at *vplace) {
						for j := range 2 {
							w.S[8+j] = file[reg+j][0]
							for l := range WaveSize {
								file[reg+j][l] = w.S[8+j]
							}
						}
						*at, p.bcast = placeOf(inBcast, 8), []uint8{8}
					}
					switch i % 4 {
					case 1:
						scalar(testA, &p.a)
					case 2:
						scalar(testB, &p.b)
					case 3: // a constant
						p.b = vplace{con: &file[testB]}
					}
					copy(w.V, file[:])
					want := file
					var out [2]Vec
					v.k(&out[0], &file[testA], &file[testB], &file[testC])
					for l := range WaveSize {
						for j := range v.dst {
							if w.exec>>l&1 != 0 {
								want[testD+j][l] = out[j][l]
							}
						}
					}
					run := tier.binders[op](p, v.fl, func(*wave) { t.Fatal("this mode is not slow") })
					if run == nil {
						if p.bcast == nil {
							t.Fatal("not bound")
						}
						continue
					}
					run(w)
					if err := sameFiles(v, testD, (*[8]Vec)(w.V), &want); err != nil {
						t.Fatalf("%v; sources %s", err, sourcesOf(&file, [4]int{testD, testA, testB, testC}, err.lane))
					}
				}
			})
		}
	}
}

func sourcesOf(file *[8]Vec, at [4]int, lane int) string {
	s := ""
	for _, r := range at[1:] {
		s += fmt.Sprintf(" %08x_%08x", file[r+1][lane], file[r][lane])
	}
	return s
}

type laneError struct {
	reg, lane int
	got, want uint32
}

func (e *laneError) Error() string {
	return fmt.Sprintf("register %d lane %d: %#x, want %#x", e.reg, e.lane, e.got, e.want)
}

// sameFiles compares all registers: of NaNs in the result only that they are.
func sameFiles(v *vop, d int, got, want *[8]Vec) *laneError {
	for i := range got {
		for l := range got[i] {
			if got[i][l] == want[i][l] {
				continue
			}
			if i >= d && i < d+v.dst && v.isNaNOf(got[d][l], got[d+1][l]) && v.isNaNOf(want[d][l], want[d+1][l]) {
				continue
			}
			return &laneError{i, l, got[i][l], want[i][l]}
		}
	}
	return nil
}

func TestTierMoves(t *testing.T) {
	for name, tier := range tiers() {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(3, 4))
			for i := range rounds() {
				var file [8]Vec
				operandSet(r, &file)
				mask, sel := r.Uint64(), r.Uint64()
				if i < len(execPatterns) {
					mask = execPatterns[i]
				}
				want := file
				for l := range WaveSize {
					if mask>>l&1 != 0 {
						want[0][l] = file[1][l]
					}
				}
				got := file
				tier.merge(&got[0], &got[1], mask)
				if got != want {
					t.Fatalf("merge %#x: %v, want %v", mask, got[0], want[0])
				}
				got = file
				tier.fill(&got[5], file[6][i%64])
				for l, x := range got[5] {
					if x != file[6][i%64] {
						t.Fatalf("fill: lane %d is %#x", l, x)
					}
				}
				if tier.pick == nil {
					continue
				}
				for l := range WaveSize {
					if x := file[1][l]; mask>>l&1 != 0 {
						if sel>>l&1 != 0 {
							x = file[2][l]
						}
						want[0][l] = x
					}
				}
				got = file
				tier.pick(&got[0], &got[1], &got[2], sel, mask)
				if got != want {
					t.Fatalf("pick %#x of %#x: %v, want %v", sel, mask, got[0], want[0])
				}
			}
		})
	}
}
