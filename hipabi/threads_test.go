package hipabi

import (
	gort "runtime"
	"testing"
)

// TestRoomFor: there is room for a program's threads, and never less than there was.
func TestRoomFor(t *testing.T) {
	had := gort.GOMAXPROCS(0)
	defer gort.GOMAXPROCS(had)
	roomFor(had)
	if n := gort.GOMAXPROCS(0); n != 2*had {
		t.Errorf("%d processors for %d threads", n, had)
	}
	roomFor(1)
	if n := gort.GOMAXPROCS(0); n != 2*had {
		t.Errorf("%d processors are left of %d", n, 2*had)
	}
}
