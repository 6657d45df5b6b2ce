package exec

import (
	"context"
	"math"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// TestNothing: a kernel that ends at once is not executed, and counted as if it
// had been.
func TestNothing(t *testing.T) {
	d := newDevice(t, gcn.GFX942, 1<<20)
	buf, _ := d.alloc(page)
	empty := d.assemble(buf, 1, 1, []uint32{endpgm})
	almost := d.assemble(buf, 1, 1, words("s_nop 0", 0xbf800000), []uint32{endpgm})
	for _, c := range []struct{ grid, group [3]uint32 }{
		{[3]uint32{1, 1, 1}, [3]uint32{1, 1, 1}}, {[3]uint32{1000, 1, 1}, [3]uint32{256, 1, 1}}, {[3]uint32{70, 9, 5}, [3]uint32{32, 4, 2}},
		{[3]uint32{3, 3, 3}, [3]uint32{64, 4, 4}},
	} {
		empty.Grid, empty.Group, almost.Grid, almost.Group = c.grid, c.group, c.grid, c.group
		got, err := empty.Run(context.Background(), 2)
		if err != nil {
			t.Fatal(err)
		}
		want, err := almost.Run(context.Background(), 2)
		if err != nil {
			t.Fatal(err)
		}
		if got.Instructions[Branch] != got.Waves {
			t.Errorf("%v: %d instructions of %d waves", c, got.Instructions[Branch], got.Waves)
		}
		want.Instructions = got.Instructions // it has one more
		if got != want {
			t.Errorf("%v: %+v, want %+v", c, got, want)
		}
	}
	var told Stats
	empty.OnStats = func(s *Stats) func() { told.Add(s); return nil }
	empty.Grid, empty.Group = [3]uint32{1, math.MaxUint32, 1}, [3]uint32{1, 1, 1}
	got, err := empty.Run(context.Background(), 2)
	if err != nil || got.Workgroups != math.MaxUint32 || got.Waves != math.MaxUint32 || told.Workgroups != math.MaxUint32 {
		t.Errorf("the largest grid: %+v, %+v, %v", got, told, err)
	}
}
