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
