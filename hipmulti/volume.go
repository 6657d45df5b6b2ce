package hipmulti

import (
	"runtime"

	"github.com/rocwire/rocwire/hip"
)

// DrvMemcpy3D is hipDrvMemcpy3D.
func (r *Runtime) DrvMemcpy3D(t hip.Thread, p *hip.DrvMEMCPY3D) hip.Error {
	return r.volume(t, hip.StreamNull, p, member.DrvMemcpy3D, true)
}

// DrvMemcpy3DAsync is hipDrvMemcpy3DAsync.
func (r *Runtime) DrvMemcpy3DAsync(t hip.Thread, p *hip.DrvMEMCPY3D, s hip.Stream) hip.Error {
	return r.volume(t, s, p, nil, false)
}

// side says which worker a side of a volume is at and makes its handle that worker's own.
func (c *call) side(s hip.BoxSide) hip.BoxSide {
	if s.MemoryType == hip.MemoryTypeArray {
		s.Array = hip.Array(c.handle(hip.HandleArray, uint64(s.Array)))
	} else {
		c.address(s.Ptr())
	}
	return s
}

// volume copies on the worker that the memory is of, or between two, in the turn of a stream.
func (r *Runtime) volume(t hip.Thread, s hip.Stream, asked *hip.DrvMEMCPY3D, now func(member, hip.Thread, *hip.DrvMEMCPY3D) hip.Error, wait bool) hip.Error {
	if asked == nil {
		return hip.ErrorInvalidValue
	}
	p := *asked
	c, from, to := r.call(), r.call(), r.call()
	turn := t
	s = hip.Stream(c.handle(hip.HandleStream, uint64(s)))
	w, code := c.of(&turn)
	if code != hip.Success {
		return code
	}
	p.SetSrc(from.side(p.Src()))
	p.SetDst(to.side(p.Dst()))
	for _, side := range []*call{&from, &to} {
		if side.err != hip.Success {
			return side.err
		}
	}
	if from.worker >= 0 && to.worker >= 0 && from.worker != to.worker {
		return r.volumeBetween(w, turn, s, &from, &to, t, p, wait)
	}
	side := &from
	if side.worker < 0 {
		side = &to
	}
	if side.worker >= 0 && side.worker != c.worker {
		if code := w.Turn(turn, s); code != hip.Success { // its turn
			return code
		}
		if w, code = side.of(&t); code != hip.Success {
			return code
		}
		return w.DrvMemcpy3D(t, &p)
	}
	if wait {
		return now(w, turn, &p)
	}
	return w.DrvMemcpy3DAsync(turn, &p, s)
}

func (r *Runtime) volumeBetween(w member, turn hip.Thread, s hip.Stream, from, to *call, t hip.Thread, p hip.DrvMEMCPY3D, wait bool) hip.Error {
	const most = 1 << 40
	switch {
	case p.WidthInBytes == 0 || p.Height == 0 || p.Depth == 0:
		return hip.Success
	case p.WidthInBytes > most || p.Height > most/p.WidthInBytes || p.Depth > most/(p.WidthInBytes*p.Height):
		return hip.ErrorInvalidValue
	}
	there, here := t, t
	if _, code := from.of(&there); code != hip.Success {
		return code
	}
	if _, code := to.of(&here); code != hip.Success {
		return code
	}
	dst, src := place{to.worker, here.Device}, place{from.worker, there.Device}
	work := func(dst, src *aside) hip.Error { return stagedVolume(p, dst.volume, src.volume) }
	if wait {
		return r.onBoth(dst, src, false, work)
	}
	return w.InTurn(turn, s, func() hip.Error { return r.aside2(dst, src, work) })
}

// volume copies beside all other streams, and waits for it.
func (a *aside) volume(p *hip.DrvMEMCPY3D) hip.Error {
	if code := a.w.DrvMemcpy3DAsync(a.t, p, a.stream); code != hip.Success {
		return code
	}
	return a.w.StreamSynchronize(a.t, a.stream)
}

// stagedVolume reads as many slices as a piece holds, or rows of one, or a part of a row, and writes them.
func stagedVolume(p hip.DrvMEMCPY3D, write, read func(*hip.DrvMEMCPY3D) hip.Error) hip.Error {
	width, rows, slices := min(p.WidthInBytes, stage), uint64(1), uint64(1)
	if width == p.WidthInBytes {
		rows = min(stage/width, p.Height)
	}
	if rows == p.Height {
		slices = min(max(1, stage/(width*rows)), p.Depth)
	}
	buf := make([]byte, width*rows*slices)
	defer runtime.KeepAlive(buf)
	for z := uint64(0); z < p.Depth; z += slices {
		for y := uint64(0); y < p.Height; y += rows {
			for x := uint64(0); x < p.WidthInBytes; x += width {
				in := p
				in.WidthInBytes, in.Height, in.Depth = min(width, p.WidthInBytes-x), min(rows, p.Height-y), min(slices, p.Depth-z)
				out := in
				between := hip.BoxSide{MemoryType: hip.MemoryTypeHost, Host: address(buf), Pitch: in.WidthInBytes, Height: in.Height}
				in.SrcXInBytes, in.SrcY, in.SrcZ = p.SrcXInBytes+x, p.SrcY+y, p.SrcZ+z
				in.SetDst(between)
				out.DstXInBytes, out.DstY, out.DstZ = p.DstXInBytes+x, p.DstY+y, p.DstZ+z
				out.SetSrc(between)
				if code := read(&in); code != hip.Success {
					return code
				}
				if code := write(&out); code != hip.Success {
					return code
				}
			}
		}
	}
	return hip.Success
}

// Memset3D is hipMemset3D.
func (r *Runtime) Memset3D(t hip.Thread, p *hip.PitchedPtr, value int32, extent *hip.Extent) hip.Error {
	c := r.call()
	c.address(p.Ptr)
	w, err := c.of(&t)
	if err != hip.Success {
		return err
	}
	return w.Memset3D(t, p, value, extent)
}
