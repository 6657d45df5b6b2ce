//go:build linux && amd64

package exec

import (
	"context"
	"encoding/binary"
	"sync/atomic"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
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

// TestRingChainWithoutGo: a ring goes through a chain of workgroups while Go executes the first wave, as far as the chain and the tally go.
func TestRingChainWithoutGo(t *testing.T) {
	if !useNative {
		return
	}
	d := newDevice(t, gcn.GFX90A, 1<<20)
	d.prog = NewProgram(gcn.GFX90A, d.mem, Options{TranslateAfter: 1})
	buf, _ := d.alloc(page)
	x := d.assemble(buf, 100, 3*WaveSize, assemble(t, gcn.GFX90A, "s_movk_i32 s20, 0x1; s_barrier; s_endpgm"))
	x.DynamicLDS = 4
	if _, err := x.Run(context.Background(), 1); err != nil {
		t.Fatal(err)
	}
	s := &scheduler{d: x, groups: x.groups(), workers: 1}
	var err error
	if s.init, err = x.prepare(); err != nil {
		t.Fatal(err)
	}
	s.chained.Store(true)
	for _, c := range []struct {
		tally, more uint64
		id          uint32
	}{{0, 0, 0}, {0, 1, 1}, {0, 99, 99}, {maxTally - 9, 99, 2}} {
		g := newWorkgroup(s, 0, c.more)
		if cap(g.lds)%ldsLine != 0 {
			t.Errorf("there is room for %d bytes", cap(g.lds))
		}
		g.form()
		for _, w := range g.waves {
			w.stats, w.tally = Stats{}, tally{high: c.tally << 48}
		}
		var stop atomic.Bool
		g.waves[0].run(1, &stop)
		if g.meeting || g.id[0] != c.id {
			t.Errorf("%+v: a ring: %v, went on to workgroup %v", c, g.meeting, g.id)
		}
		if g.finished != 0 || g.counted != 0 {
			t.Errorf("%+v: %d and %d workgroups were told", c, g.finished, g.counted)
		}
		// It comes back at a barrier or an end of the workgroup that it names.
		if c.tally == 0 && (g.waves[0].status != ended || g.waves[1].status != ended || g.waves[2].left == 0 || g.live != 2 || g.waves[1].stats.Waves != uint64(c.id)+1) {
			t.Errorf("%+v: %d live, %+v", c, g.live, g.waves[1].stats)
		}
		if c.tally != 0 && g.waves[0].stats.Waves != uint64(c.id) {
			t.Errorf("%+v: %+v", c, g.waves[0].stats)
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
