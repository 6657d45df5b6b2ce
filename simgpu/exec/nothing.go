package exec

import "github.com/rocwire/rocwire/simgpu/gcn"

// nothing is what a dispatch executes whose kernel ends with its first
// instruction. No time is spent on its workgroups: a test of a device's largest
// grid has 2³² of them.
func (d *Dispatch) nothing() (Stats, bool) {
	in, _, err := d.Program.instAt(d.entry())
	if err != nil || in.Op != gcn.S_ENDPGM {
		return Stats{}, false
	}
	// Along each axis there are full workgroups and perhaps one that is not.
	type kind struct{ size, count uint64 }
	var axis [3][2]kind
	for i := range axis {
		grid, group := uint64(d.Grid[i]), uint64(d.Group[i])
		axis[i][0] = kind{group, grid / group}
		if grid%group != 0 {
			axis[i][1] = kind{grid % group, 1}
		}
	}
	var s Stats
	for _, x := range axis[0] {
		for _, y := range axis[1] {
			for _, z := range axis[2] {
				n := x.count * y.count * z.count
				s.Workgroups += n
				s.Waves += n * uint64(d.waves(int(x.size*y.size*z.size)))
			}
		}
	}
	s.Instructions[Branch] = s.Waves
	return s, true
}
