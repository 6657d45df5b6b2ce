package smi

import "testing"

// A card is worn out from its limit on; one without a limit never is.
func TestWornOut(t *testing.T) {
	for _, c := range []struct {
		limit Opt[uint32]
		pages int
		want  bool
	}{
		{Some(uint32(128)), 127, false}, {Some(uint32(128)), 128, true}, {Some(uint32(128)), 500, true}, {Some(uint32(0)), 5, false}, {Opt[uint32]{}, 5, false},
	} {
		if got := (&ECC{BadPageLimit: c.limit}).WornOut(c.pages); got != c.want {
			t.Errorf("limit %v, %d pages: %v", c.limit, c.pages, got)
		}
	}
}

// The errors of a card are its total, or those of its parts where they are more or it has no total.
func TestUncorrectableErrors(t *testing.T) {
	some := Some[uint64]
	part := func(name string, n Opt[uint64]) ECCBlock { return ECCBlock{Block: name, Uncorrectable: n} }
	umc := func(block string) bool { return block == "umc" }
	for _, c := range []struct {
		ecc           ECC
		all, sansPart uint64
	}{
		{ECC{}, 0, 0},
		{ECC{Uncorrectable: some(3)}, 3, 3},
		{ECC{Blocks: []ECCBlock{part("umc", some(2)), part("gfx", Opt[uint64]{}), part("sdma", some(1))}}, 3, 1},
		{ECC{Uncorrectable: some(3), Blocks: []ECCBlock{part("umc", some(2))}}, 3, 1},
		{ECC{Uncorrectable: some(1), Blocks: []ECCBlock{part("umc", some(2)), part("gfx", some(4))}}, 6, 4},
		{ECC{Blocks: []ECCBlock{part("gfx", some(1<<63)), part("sdma", some(1<<63)), part("df", some(1))}}, 1<<64 - 1, 1<<64 - 1},
	} {
		if all, sansPart := c.ecc.UncorrectableErrors(nil), c.ecc.UncorrectableErrors(umc); all != c.all || sansPart != c.sansPart {
			t.Errorf("%+v: %d, without umc %d; want %d and %d", c.ecc, all, sansPart, c.all, c.sansPart)
		}
	}
}
