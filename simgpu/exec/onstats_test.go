package exec

import "testing"

// TestCollect: what the waves did is counted once, however often it is taken
// over, and told in full.
func TestCollect(t *testing.T) {
	var told Stats
	s := &scheduler{d: &Dispatch{OnStats: func(st *Stats) func() { told.Add(st); return nil }}}
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
