//go:build linux && amd64

package exec

import (
	"encoding/binary"
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
	g := ring(t, x)
	defer g.release()
	for _, w := range g.waves {
		if w.meet != (waveMeet{}) || w.S[9] == 0 {
			t.Errorf("wave %d is in round %d, %+v", w.id, w.S[9], w.meet)
		}
	}
}

// TestMixedWithoutGo: the same where some waves come to the barrier and others give way.
func TestMixedWithoutGo(t *testing.T) {
	if !useNative {
		return
	}
	for waves := 2; waves <= mixedMost; waves++ {
		table := [mixedForeach]uint32{}
		for i := range table {
			if r, wave := i/mixedMost, i%mixedMost; r > 0 {
				table[i] = []uint32{0, mixesLDS, mixesDevice, mixesLDS | mixesDevice}[(wave*7+r)*r%4]
			}
		}
		x, data := mixedDispatch(t, &table, 1, waves, 1)
		g := ring(t, x)
		for i, w := range g.waves {
			if w.S[9] < mixedRounds-1 {
				t.Errorf("%d waves: wave %d is in round %d", waves, i, w.S[9])
			}
		}
		if notes := binary.LittleEndian.Uint32(data[mixedNotes:]); notes == 0 {
			t.Error("nothing was noted")
		}
		g.release()
	}
}

// ring has the waves of a workgroup come to the first barrier and makes them a ring, which Go executes the first wave of.
func ring(t *testing.T, x *Dispatch) *workgroup {
	t.Helper()
	s := &scheduler{d: x, groups: x.groups(), workers: 1}
	var err error
	if s.init, err = x.prepare(); err != nil {
		t.Fatal(err)
	}
	g := newWorkgroup(s, 0, 0)
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
	return g
}
