package exec

import (
	"math/bits"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Image instructions, of gfx90a and RDNA: gfx942 and gfx950 have none. gfx90a has no levels and
// of the sampling instructions only image_sample.

// raw is the format that image_load_pck and its kin use: the element as it lies
// in memory, in dwords.
func (m *image) raw(signed bool) {
	m.sel = selection{4, 5, 6, 7}
	m.format.num = numUint
	if signed {
		m.format.num = numSint
	}
	m.format.data = map[uint64]uint8{1: 1, 2: 2, 4: 4, 8: 11, 12: 13, 16: 14}[m.size]
}

// there reports whether a lane's coordinates name an element, and which.
func (a *imageAddress) there(w *wave, m *image, lane int, mip bool) (x, y, z uint64, ok bool) {
	x, y, z = a.texel(w, m, lane)
	ok = m.inside(x, y, z) && (!mip || a.coordinate(w, lane, a.coordinates(m)) == 0)
	return
}

// imageLoad reads elements by integer coordinates; 0 outside of the image.
// packed leaves them as they lie in memory.
func imageLoad(mip, packed, signed bool) handler {
	return func(b *binder, in *gcn.Inst) (func(*wave), error) {
		a, err := b.imageAddress(in)
		if err != nil {
			return nil, err
		}
		d, err := b.imageData(in.Dst, in, in.DMask, in.Image&gcn.D16 != 0)
		return func(w *wave) {
			m := w.image(a.t)
			if packed {
				m.raw(signed)
			}
			n := a.coordinates(&m)
			if mip {
				n++
			}
			a.registers(w, n)
			one, isInt, read := m.format.one(), m.format.isInt(), uint64(0)
			w.each(func(i int) {
				var c [4]uint32
				if x, y, z, ok := a.there(w, &m, i, mip); ok {
					c = m.sel.load(m.format.load(m.at(w, i, x, y, z)), one)
					read++
				}
				d.put(w, i, &c, isInt)
			})
			w.stats.ReadBytes += read * m.size
			w.commit(d.v, d.regs, w.exec)
		}, err
	}
}

// imageStore writes elements by integer coordinates; nothing outside of the
// image.
func imageStore(mip, packed bool) handler {
	return func(b *binder, in *gcn.Inst) (func(*wave), error) {
		a, err := b.imageAddress(in)
		if err != nil {
			return nil, err
		}
		d, err := b.imageData(in.Data, in, in.DMask, in.Image&gcn.D16 != 0)
		return func(w *wave) {
			m := w.image(a.t)
			if packed {
				m.raw(false)
			}
			n := a.coordinates(&m)
			if mip {
				n++
			}
			a.registers(w, n)
			isInt, signed, written := m.format.isInt(), m.format.num == numSint, uint64(0)
			w.each(func(i int) {
				x, y, z, ok := a.there(w, &m, i, mip)
				if !ok {
					return
				}
				c := m.sel.store(d.get(w, i, isInt, signed))
				m.format.store(m.at(w, i, x, y, z), &c)
				written++
			})
			w.stats.WriteBytes += written * m.size
		}, err
	}
}

// imageInfo answers the size of a level: width, height, depth or layers, levels.
func imageInfo(b *binder, in *gcn.Inst) (func(*wave), error) {
	a, err := b.imageAddress(in)
	if err != nil {
		return nil, err
	}
	d, err := b.imageData(in.Dst, in, in.DMask, false)
	return func(w *wave) {
		m := w.image(a.t)
		w.each(func(i int) {
			var c [4]uint32
			if a.coordinate(w, i, 0) == 0 {
				c = [4]uint32{uint32(m.width), uint32(m.height), uint32(m.depth)}
			}
			c[3] = 1
			d.put(w, i, &c, true)
		})
		w.commit(d.v, d.regs, w.exec)
	}, err
}

// image does the operation on elements of 4 or 8 bytes, whatever their format
// says. Outside of the image nothing happens and the old value is 0.
func (op *atomicOp) image(wide *atomicOp) handler {
	return func(b *binder, in *gcn.Inst) (func(*wave), error) {
		a, err := b.imageAddress(in)
		if err != nil {
			return nil, err
		}
		op := op
		n := bits.OnesCount8(in.DMask)
		if op.cmp {
			n /= 2
		}
		switch n {
		case 1:
		case 2:
			op = wide
		default:
			return nil, errNotExecutable
		}
		s, err := b.imageData(in.Data, in, in.DMask, false)
		returns := in.Cache&gcn.GLC != 0
		return func(w *wave) {
			m := w.image(a.t)
			if m.size != op.size {
				w.badImage("atomic operation of %d bytes on elements of %d", op.size, m.size)
			}
			a.registers(w, a.coordinates(&m))
			var lanes uint64
			w.out[0], w.out[1] = Vec{}, Vec{}
			w.each(func(i int) {
				if x, y, z, ok := a.there(w, &m, i, false); ok {
					m.at(w, i, x, y, z)
					lanes |= 1 << i
				}
			})
			op.onGlobal(w, s.v.get(w), lanes)
			if returns {
				w.commit(s.v, op.regs(), w.exec)
			}
		}, err
	}
}

var _ = define(func() {
	for _, mip := range []bool{false, true} {
		infix := ""
		if mip {
			infix = "_mip"
		}
		on("image_load"+infix, imageLoad(mip, false, false))
		on("image_load"+infix+"_pck", imageLoad(mip, true, false))
		on("image_load"+infix+"_pck_sgn", imageLoad(mip, true, true))
		on("image_store"+infix, imageStore(mip, false))
		on("image_store"+infix+"_pck", imageStore(mip, true))
	}
	on("image_get_resinfo", imageInfo)
	for _, arch := range gcn.Archs() {
		for _, info := range gcn.Ops(arch) {
			if s, ok := samplingOf(info.Op.String()); ok && handlers[info.Op.String()] == nil {
				on(info.Op.String(), s.execute)
			}
		}
	}
	narrow, wide := rmwOps(32), rmwOps(64)
	for _, name := range []string{"swap", "cmpswap", "add", "sub", "smin", "umin", "smax", "umax", "and", "or", "xor", "inc", "dec"} {
		cmp := name == "cmpswap"
		op := &atomicOp{narrow[name], 4, cmp, name}
		on("image_atomic_"+name, op.image(&atomicOp{wide[name], 8, cmp, name}))
	}
})
