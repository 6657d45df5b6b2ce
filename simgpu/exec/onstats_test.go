package exec

import (
	"context"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// TestCollect: what the waves did is counted once, however often it is taken
// over, and told in full.
func TestCollect(t *testing.T) {
	var told Stats
	s := &scheduler{d: &Dispatch{Program: NewProgram(gcn.GFX942, nil, Options{}), OnStats: func(st *Stats) func() { told.Add(st); return nil }}}
	g := &workgroup{waves: []*wave{{}, {}}}
	for range 3 {
		g.waves[0].stats.Instructions[VALU] += 5
		g.waves[1].stats.ReadBytes += 7
		s.collect(g)
	}
	g.waves[1].stats.Waves = 2
	g.finished = 1
	s.collect(g)
	want := Stats{Workgroups: 1, Waves: 2, ReadBytes: 21}
	want.Instructions[VALU] = 15
	if s.stats != want || told != want {
		t.Errorf("collected %+v, told %+v, want %+v", s.stats, told, want)
	}
}

// TestCollectShort: of many short workgroups, the last ones smaller, nothing is lost
// that is collected together.
func TestCollectShort(t *testing.T) {
	l := newLauncher(t, gcn.GFX942, "vector_add")
	a, _ := l.alloc(1 << 20)
	d := l.dispatch(l.m, "vector_add", [3]uint32{5000, 3, 1}, [3]uint32{256, 2, 1}, 0, args(a, a, a, uint32(4000)))
	for _, workers := range []int{1, 3} {
		var told Stats
		calls := 0
		d.OnStats = func(s *Stats) func() {
			calls++
			told.Add(s)
			return nil
		}
		got, err := d.Run(context.Background(), workers)
		if err != nil {
			t.Fatal(err)
		}
		told.Dispatches = 1
		if told != got || got.Workgroups != 20*2 || got.Waves != (19*8+5)+(19*4+3) || got.Lanes[VALU] == 0 {
			t.Errorf("%d workers: %+v, told %+v", workers, got, told)
		}
		if calls < 2 || calls > 30 {
			t.Errorf("%d workers: told %d times of 40 workgroups", workers, calls)
		}
	}
}
