package exec

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unsafe"
)

func TestTierRelations(t *testing.T) {
	for name, tier := range tiers() {
		for _, op := range slices.Sorted(maps.Keys(tier.relations)) {
			t.Run(name+"/"+op, func(t *testing.T) {
				cond, typ, _ := strings.Cut(op, "_")
				o := orderings[typ]
				want := o.conditions()[cond]
				if want == nil {
					t.Fatal("there is no such condition")
				}
				r := rand.New(rand.NewPCG(5, 6))
				for range rounds() {
					var file [8]Vec
					operandSet(r, &file)
					if g, w := tier.relations[op](&file[testA], &file[testB]), want(&file[testA], &file[testB]); g != w {
						t.Fatalf("%#x, want %#x", g, w)
					}
				}
			})
		}
	}
}

func TestTierCarries(t *testing.T) {
	portable := map[string]struct {
		k   carryKernel
		dst int
	}{"addc": {addc, 1}, "subb": {subb, 1}, "subbrev": {subbrev, 1}, "mad_u64_u32": {madU64, 2}}
	for name, tier := range tiers() {
		for _, op := range slices.Sorted(maps.Keys(tier.carries)) {
			t.Run(name+"/"+op, func(t *testing.T) {
				p := portable[op]
				r := rand.New(rand.NewPCG(7, 8))
				for i := range rounds() {
					var file [8]Vec
					operandSet(r, &file)
					in, mask := r.Uint64(), r.Uint64()
					if i < len(execPatterns) {
						mask = execPatterns[i]
					}
					at := []int{testD, testA, testC}[i%3]
					want, got := file, file
					var out [2]Vec
					carry := p.k(&out[0], &file[testA], &file[testB], &file[testC], in)
					for l := range WaveSize {
						for j := range p.dst {
							if mask>>l&1 != 0 {
								want[at+j][l] = out[j][l]
							}
						}
					}
					if g := tier.carries[op](&got[at], &got[testA], &got[testB], &got[testC], in, mask); g != carry {
						t.Fatalf("carries %#x, want %#x", g, carry)
					}
					if got != want {
						t.Fatalf("registers %v, want %v", got, want)
					}
				}
			})
		}
	}
}

func TestTierOffsets(t *testing.T) {
	for name, tier := range tiers() {
		if tier.offset.narrow == nil {
			continue
		}
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(9, 10))
			for range rounds() {
				var file [8]Vec
				operandSet(r, &file)
				start := []uint64{r.Uint64(), 0, 1 << 40, ^uint64(0)}[r.IntN(4)]
				limit := []uint64{r.Uint64() >> 1, 0, 65532, 1<<40 + uint64(r.Uint32())}[r.IntN(4)]
				var wide, narrow, far uint64
				var wantWide, wantNarrow, off [64]uint64
				for l := range WaveSize {
					x := start + uint64(file[0][l])
					y := start + (uint64(file[0][l]) | uint64(file[1][l])<<32)
					wantNarrow[l], wantWide[l] = x, y
					narrow |= (x | (limit - x)) >> 63 << l
					wide |= (y | (limit - y)) >> 63 << l
				}
				if g := tier.offset.narrow(&off, &file[0], start, limit); g != narrow || off != wantNarrow {
					t.Fatalf("narrow %#x, want %#x; %v, want %v", g, narrow, off, wantNarrow)
				}
				if g := tier.offset.wide(&off, &file[0], &file[1], start, limit); g != wide || off != wantWide {
					t.Fatalf("wide %#x, want %#x; %v, want %v", g, wide, off, wantWide)
				}
				for l := range off {
					off[l] &= 1<<63 - 1
					if off[l] > limit {
						far |= 1 << l
					}
				}
				if g := tier.offset.beyond(&off, limit); g != far {
					t.Fatalf("beyond %#x: %#x, want %#x", limit, g, far)
				}
			}
		})
	}
}

// accessPatterns are offsets of lanes: in a row, at one place, per quarter
// differently, in reverse, anywhere.
var accessPatterns = []func(r *rand.Rand, l uint64) uint64{
	func(_ *rand.Rand, l uint64) uint64 { return 64 + l*4 },
	func(_ *rand.Rand, l uint64) uint64 { return 1020 },
	func(_ *rand.Rand, l uint64) uint64 { return l / 16 * 100 },
	func(_ *rand.Rand, l uint64) uint64 { return l%16*4 + l/16*240 },
	func(_ *rand.Rand, l uint64) uint64 { return 252 - l*4 },
	func(r *rand.Rand, l uint64) uint64 { return r.Uint64N(1021) },
	func(r *rand.Rand, l uint64) uint64 { return r.Uint64N(256) * 4 },
	func(r *rand.Rand, l uint64) uint64 {
		if r.IntN(40) == 0 {
			return 8
		}
		return 64 + l*4
	},
}

func TestTierMemory(t *testing.T) {
	for name, tier := range tiers() {
		if tier.load == nil {
			continue
		}
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(11, 12))
			for i := range rounds() * 4 {
				var file [8]Vec
				operandSet(r, &file)
				var off [64]uint64
				for l := range off {
					off[l] = accessPatterns[i%len(accessPatterns)](r, uint64(l))
				}
				mask := r.Uint64() | r.Uint64()
				if r.IntN(2) == 0 {
					mask = execPatterns[r.IntN(len(execPatterns))]
				}
				for l := range off {
					if mask>>l&1 == 0 && i&1 == 0 {
						off[l] = r.Uint64() // nobody looks there
					}
				}
				mem := make([]byte, 1024)
				for j := range mem {
					mem[j] = byte(r.Uint32())
				}
				wantMem, want := slices.Clone(mem), file
				at := func(m []byte, l int) *uint32 { return mem32(unsafe.Pointer(unsafe.SliceData(m)), off[l]) }
				for l := range WaveSize {
					if mask>>l&1 != 0 {
						want[0][l] = *at(mem, l)
					}
				}
				tier.load(unsafe.Pointer(unsafe.SliceData(mem)), &off, &file[0], mask)
				if file != want {
					t.Fatalf("load of %#x at %v: %v, want %v", mask, off, file[0], want[0])
				}
				for l := range off {
					off[l] = min(off[l], 1008)
				}
				left := tier.loads(unsafe.Pointer(unsafe.SliceData(mem)), &off, file[4:8], mask)
				for l := range WaveSize {
					for j := range 4 {
						if (mask&^left)>>l&1 != 0 {
							want[4+j][l] = *mem32(unsafe.Pointer(unsafe.SliceData(mem)), off[l]+uint64(j)*4)
						}
					}
				}
				if file != want || left&^mask != 0 {
					t.Fatalf("loads of %#x at %v, left %#x: %v, want %v", mask, off, left, file[4:], want[4:])
				}
				for l := range WaveSize {
					if mask>>l&1 != 0 {
						*at(wantMem, l) = file[1][l]
					}
				}
				tier.store(unsafe.Pointer(unsafe.SliceData(mem)), &off, &file[1], mask)
				if !slices.Equal(mem, wantMem) {
					t.Fatalf("store of %#x at %v", mask, off)
				}
				tier.bits(&file[2], &file[3], 0x7fffffff, 1<<31)
				for l, x := range file[3] {
					if file[2][l] != x&0x7fffffff^1<<31 {
						t.Fatalf("bits: lane %d is %#x for %#x", l, file[2][l], x)
					}
				}
			}
		})
	}
}
