//go:build linux && amd64

package exec

import (
	"sync/atomic"
	"testing"
)

// TestMeetWithoutGo: all waves go on from a barrier while Go executes the first.
func TestMeetWithoutGo(t *testing.T) {
	if !useNative {
		return
	}
	const rounds = 3 // in which no wave does what is not translated
	x, _, _ := meet(t, 1, 1, [3]uint32{rounds, rounds, 9999})
	s := &scheduler{d: x, groups: x.groups(), workers: 1}
	var err error
	if s.init, err = x.prepare(); err != nil {
		t.Fatal(err)
	}
	g := newWorkgroup(s, 0, 0)
	defer g.release()
	var stop atomic.Bool
	for _, w := range g.waves { // to the first barrier
		w.blk = s.start()
		if w.status = w.run(1, &stop); w.status != atBarrier {
			t.Fatalf("wave %d: status %d", w.id, w.status)
		}
	}
	for _, w := range g.waves {
		w.status = running
	}
	g.form()
	if !g.meeting {
		t.Fatal("no ring")
	}
	g.waves[0].run(1, &stop)
	if g.meeting {
		t.Error("still a ring")
	}
	for _, w := range g.waves {
		if w.meet != (waveMeet{}) || w.S[9] == 0 {
			t.Errorf("wave %d is in round %d, %+v", w.id, w.S[9], w.meet)
		}
	}
}
