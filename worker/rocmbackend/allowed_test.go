package rocmbackend

import (
	"testing"

	"github.com/rocwire/rocwire/internal/visible"
)

// TestAllowed: the list for AMD's library names what a session may use among what the worker serves, and nothing where that is nothing.
func TestAllowed(t *testing.T) {
	for _, c := range []struct {
		served    string
		positions []int
		want      string
	}{
		{"", nil, ""}, {"2,0", nil, "2,0"}, {"", []int{0, 3}, "0,3"}, {"2,0,GPU-1", []int{1, 2}, "0,GPU-1"}, {"", []int{}, visible.None}, {"2,0", []int{7}, visible.None},
	} {
		if got := allowed(c.served, c.positions); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
	// A client's own choice is among these.
	if got := visible.Within(allowed("", []int{1, 3}), "1"); got != "3" {
		t.Error(got)
	}
}
