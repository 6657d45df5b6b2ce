package rocm

import (
	"sync"

	"github.com/rocwire/rocwire/hip"
)

// Layers of one-dimensional arrays are rows: a copy of several is a box of so
// many rows. AMD's library takes the distance between slices for that between
// such layers (CalcRowSlicePitches in its rocblit.cpp), so it has to be told
// slices of one row where there is memory on the other side.

// layeredRows are the arrays of that kind.
type layeredRows struct {
	mu  sync.Mutex
	all map[hip.Array]struct{}
}

// Array3DCreate is hipArray3DCreate.
func (r *Runtime) Array3DCreate(t hip.Thread, d *hip.DrvArray3dDescriptor) (hip.Array, hip.Error) {
	a, err := r.array3DCreate(t, d)
	if err == hip.Success {
		r.layers.note(a, d.Flags&hip.ArrayLayered != 0 && d.Height == 0)
	}
	return a, err
}

// ArrayDestroy is hipArrayDestroy.
func (r *Runtime) ArrayDestroy(t hip.Thread, a hip.Array) hip.Error {
	rows := r.layers.has(a)
	r.layers.note(a, false) // at once: the library may give the handle to another
	err := r.arrayDestroy(t, a)
	if err != hip.Success {
		r.layers.note(a, rows)
	}
	return err
}

func (x *layeredRows) note(a hip.Array, rows bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !rows {
		delete(x.all, a)
		return
	}
	if x.all == nil {
		x.all = map[hip.Array]struct{}{}
	}
	x.all[a] = struct{}{}
}

func (x *layeredRows) has(a hip.Array) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	_, ok := x.all[a]
	return ok
}

// box is a copy as the library takes it.
func (r *Runtime) box(p *hip.DrvMEMCPY3D) *hip.DrvMEMCPY3D {
	if p == nil {
		return nil
	}
	src, dst := p.Src(), p.Dst()
	rows := func(s hip.BoxSide) bool { return s.MemoryType == hip.MemoryTypeArray && r.layers.has(s.Array) }
	if !rows(src) && !rows(dst) {
		return p
	}
	q := *p
	if src.MemoryType != hip.MemoryTypeArray {
		q.SetSrc(slicesOfARow(src, p.Height))
	}
	if dst.MemoryType != hip.MemoryTypeArray {
		q.SetDst(slicesOfARow(dst, p.Height))
	}
	return &q
}

// slicesOfARow is the same place in memory. A copy with layers of rows has one slice.
func slicesOfARow(s hip.BoxSide, rows uint64) hip.BoxSide {
	if s.Height == 0 {
		s.Height = rows
	}
	s.Y += s.Z * s.Height
	s.Z, s.Height = 0, 1
	return s
}
