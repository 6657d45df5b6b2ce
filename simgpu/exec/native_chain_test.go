//go:build linux && amd64

package exec

import (
	"sync/atomic"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// TestChainWithoutGo: translated code goes through a chain by itself, and comes back
// before its tally is too full.
func TestChainWithoutGo(t *testing.T) {
	if !useNative {
		return
	}
	d := newDevice(t, gcn.GFX90A, 1<<20)
	d.prog = NewProgram(gcn.GFX90A, d.mem, Options{TranslateAfter: 1})
	x := d.short(100)
	s := &scheduler{d: x, groups: x.groups(), workers: 1}
	var err error
	if s.init, err = x.prepare(); err != nil {
		t.Fatal(err)
	}
	s.chained.Store(true)
	var stop atomic.Bool
	for _, c := range []struct {
		tally, more uint64
		ended       uint32
	}{{0, 0, 0}, {0, 2, 0}, {0, 2, 2}, {0, 99, 99}, {maxTally - 20, 99, 9}} {
		g := newWorkgroup(s, 0, c.more)
		w := g.waves[0]
		w.tally = tally{high: c.tally << 48}
		w.blk = s.start()
		if w.prepareChain(g); c.ended == 0 {
			w.unchain()
		}
		if w.run(1, &stop) != ended { // which the first time translates it
			t.Fatal("not ended")
		}
		if w.id != 0 || g.id[0] != c.ended || w.stats.Waves != uint64(c.ended) {
			t.Errorf("%+v: went on to workgroup %v, %d waves", c, g.id, w.stats.Waves)
		}
		g.release()
	}
}
