package hipremote

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/rocwire/rocwire/hip"
)

// mentionedSlowly looks at every position for every region.
func mentionedSlowly(data []byte, regions []*hostRegion) (found []*hostRegion) {
	for _, r := range regions {
		for i := 0; i+8 <= len(data); i += 4 {
			if binary.LittleEndian.Uint64(data[i:])-uint64(r.dev) < r.size {
				found = append(found, r)
				break
			}
		}
	}
	return found
}

// TestMentioned: one look at the data finds what one for each region finds, wherever an address stands and whatever is beside it.
func TestMentioned(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var h hostMemory
	if s := h.hiddenSpans(); s.mentioned(make([]byte, 64)) != nil {
		t.Error("found something where nothing is hidden")
	}
	bases := []uint64{0x400000001000, 0x400000003000, 0x4000fffff000, 0x400100000000, 0x40ff00000000, 0x7000, 0xffffffff8}
	for i, b := range bases {
		h.add(&hostRegion{dev: hip.Ptr(b), size: []uint64{1, 4096, 0x1000, 8, 1 << 33, 16, 3}[i]})
	}
	for round := range 6000 {
		if round == 3000 {
			for _, r := range slices.Clone(h.regions) {
				if r.dev>>40 == 0 {
					h.remove(r) // the others' addresses begin alike
				}
			}
		}
		data := make([]byte, rnd.IntN(400))
		if round%2 == 0 {
			for i := range data {
				data[i] = byte(rnd.Uint32())
			}
		}
		for range rnd.IntN(4) {
			r := h.regions[rnd.IntN(len(h.regions))]
			at := uint64(r.dev) + []uint64{0, r.size - 1, r.size, ^uint64(0), r.size / 2}[rnd.IntN(5)]
			if n := len(data) - 8; n >= 0 {
				binary.LittleEndian.PutUint64(data[rnd.IntN(n/4+1)*4:], at)
			}
		}
		got, want := h.hiddenSpans().mentioned(data), mentionedSlowly(data, h.regions)
		slices.SortFunc(got, func(a, b *hostRegion) int { return slices.Index(h.regions, a) - slices.Index(h.regions, b) })
		if !slices.Equal(got, want) {
			t.Fatalf("round %d: % x: found %d regions, want %d", round, data, len(got), len(want))
		}
	}
	r := h.regions[1]
	data := binary.LittleEndian.AppendUint64(make([]byte, 4), uint64(r.dev))
	if got := h.hiddenSpans().mentioned(data); len(got) != 1 || got[0] != r {
		t.Error("not found")
	}
	r.exposed.Store(true)
	h.hidden.Add(-1)
	h.open.Add(1)
	h.changed()
	if h.hiddenSpans().mentioned(data) != nil {
		t.Error("an exposed region counts as hidden")
	}
	h.remove(r)
	if h.hiddenSpans().mentioned(data) != nil {
		t.Error("a region that is gone counts as hidden")
	}
}

// TestPrefixed: the instructions of this processor find what plain Go finds, in every place.
func TestPrefixed(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for round := range 5000 {
		prefix, mask := rnd.Uint32(), ^uint32(0)<<rnd.IntN(33)
		prefix &= mask
		data := make([]byte, rnd.IntN(300))
		for i := range data {
			data[i] = byte(rnd.Uint32())
		}
		want := len(data) &^ (prefixPiece - 1)
		if n := len(data) / 4; n > 0 && round%2 == 0 {
			binary.LittleEndian.PutUint32(data[rnd.IntN(n)*4:], prefix|rnd.Uint32()&^mask)
		}
		for i := 0; i < want; i += 4 {
			if binary.LittleEndian.Uint32(data[i:])&mask == prefix {
				want = i &^ (prefixPiece - 1)
			}
		}
		if got := prefixed(data, prefix, mask); got != want {
			t.Fatalf("round %d: %d, want %d", round, got, want)
		}
		if got := prefixedPlain(data, prefix, mask); got != want {
			t.Fatalf("round %d: plain: %d, want %d", round, got, want)
		}
	}
}
