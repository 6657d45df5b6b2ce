package exec

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// The memory accesses of an instruction, before it makes them.

// memAccess is what an instruction accesses.
type memAccess struct {
	in     *gcn.Inst
	size   uint64 // bytes of a lane, at each address
	atomic bool
	write  bool // stores, and atomics
	global addresser
	buffer *bufferAddress
	ds     func(w *wave, imm uint64)
	priv   func(w *wave)
	scalar func(w *wave) uint64
	dsOffs []uint64
}

// accessOf takes apart an instruction that accesses memory; nil for others.
func accessOf(b *binder, in *gcn.Inst) *memAccess {
	flags := in.Info.Flags
	if flags&(gcn.IsLoad|gcn.IsStore|gcn.IsAtomic) == 0 || flags&gcn.IsGWS != 0 {
		return nil
	}
	a := &memAccess{in: in, atomic: flags&gcn.IsAtomic != 0, write: flags&(gcn.IsStore|gcn.IsAtomic) != 0, size: accessSize(in)}
	if a.size == 0 {
		return nil
	}
	var err error
	name := in.Op.String()
	switch in.Enc {
	case gcn.FLAT, gcn.GLOBAL:
		a.global, err = b.globalAddress(in)
	case gcn.SCRATCH:
		a.priv, err = b.scratchAddress(in)
	case gcn.MUBUF:
		var addr bufferAddress
		addr, err = b.bufferAddress(in)
		a.buffer = &addr
	case gcn.DS:
		if in.GDS || strings.Contains(name, "permute") || strings.Contains(name, "swizzle") || strings.Contains(name, "append") || strings.Contains(name, "consume") {
			return nil
		}
		a.dsOffs = []uint64{uint64(uint16(in.Offset))}
		if strings.Contains(name, "addtid") {
			a.ds = func(w *wave, imm uint64) { w.addTid(imm) }
			break
		}
		if flags&gcn.TwoAddr != 0 {
			scale := a.size
			if strings.Contains(name, "st64") {
				scale *= 64
			}
			a.dsOffs = []uint64{uint64(in.Offset0) * scale, uint64(in.Offset1) * scale}
		}
		a.ds, err = b.dsAddress(in)
	case gcn.SMEM:
		if in.Base.Width != 2 || strings.Contains(name, "scratch") { // s_buffer_load keeps to its buffer
			return nil
		}
		var base, off func(w *wave) uint64
		if base, err = sbase(&in.Base); err != nil {
			return nil
		}
		off, err = smemOffset(in)
		a.scalar = func(w *wave) uint64 { return base(w) + off(w)&^3 }
	default:
		return nil
	}
	if err != nil {
		return nil
	}
	return a
}

// accessSize is how many bytes a lane accesses at an address, 0 if that is not known.
func accessSize(in *gcn.Inst) uint64 {
	name := in.Op.String()
	for _, k := range []struct {
		part string
		n    uint64
	}{{"byte", 1}, {"short", 2}, {"_u8", 1}, {"_i8", 1}, {"_b8", 1}, {"_u16", 2}, {"_i16", 2}, {"_b16", 2}} {
		if strings.Contains(name, k.part) && in.Info.Flags&gcn.IsAtomic == 0 && !strings.Contains(name, "_tr_") {
			return k.n
		}
	}
	if strings.Contains(name, "format") {
		return 0
	}
	o := &in.Dst
	if in.Info.Flags&(gcn.IsStore|gcn.IsAtomic) != 0 && in.Data.Kind != gcn.None {
		o = &in.Data
	}
	n := uint64(o.Width) * 4
	switch {
	case o.Kind == gcn.None && (in.LDS || in.Info.Flags&gcn.LDSDest != 0):
		return toLDSSize(in)
	case o.Kind == gcn.None:
		return 0
	case in.Info.Flags&gcn.IsAtomic != 0 && in.Info.Flags&gcn.IsCmpSwap != 0 && in.Enc != gcn.DS:
		return n / 2
	case in.Info.Flags&gcn.TwoAddr != 0 && o == &in.Dst:
		return n / 2
	}
	return n
}

// element is the alignment of an access: that of its dwords, for the hardware
// and compilers know nothing stricter.
func (a *memAccess) element() uint64 { return min(a.size, 4) }

// each calls global and local for the lanes that access device memory and the
// LDS; their offsets are in w.offs then.
func (a *memAccess) each(w *wave, global, local func(lanes uint64)) {
	switch {
	case a.ds != nil:
		for _, o := range a.dsOffs {
			a.ds(w, o)
			local(w.exec)
		}
	case a.buffer != nil:
		if l := a.buffer.resolve(w, a.size); !l.scratch && l.whole != 0 {
			global(l.whole)
		}
	case a.global != nil:
		out := w.foreign(a.global(w, a.size), a.size)
		if lanes := w.exec &^ out; lanes != 0 {
			global(lanes)
		}
		if a.in.Enc != gcn.FLAT || out == 0 {
			return
		}
		var lds uint64
		for m := out; m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m) & 63
			if addr := w.mem.Base + w.offs[i]; addr>>32 == sharedBase>>32 {
				lds |= 1 << i
				w.offs[i] = addr & 0xffffffff
			}
		}
		if lds != 0 {
			local(lds)
		}
	}
}

// accesses binds the checks of addresses: bounds, alignment, races.
func (p *watch) accesses(b *binder, in *gcn.Inst) before {
	a := accessOf(b, in)
	if a == nil || a.priv != nil { // scratch is checked anyway
		return nil
	}
	if a.scalar != nil {
		if p.checks&CheckBounds == 0 {
			return nil
		}
		return func(w *wave) {
			addr := a.scalar(w)
			if w.d.Allocated == nil || w.d.Allocated(addr, a.size) {
				return
			}
			// Compilers load a few dwords more where those cannot fault.
			if w.d.Allocated(addr, min(a.size, 4)) && (addr&15)+a.size <= 64 && a.size > 4 {
				return
			}
			w.find(CheckBounds, -1, Finding{Detail: fmt.Sprintf("%d bytes are read where nothing is allocated", a.size), Addr: addr, Size: a.size})
		}
	}
	verb := "read"
	switch {
	case a.atomic:
		verb = "changed atomically"
	case a.write:
		verb = "written"
	}
	return func(w *wave) {
		a.each(w, func(lanes uint64) {
			var ok struct{ base, end uint64 } // lanes' addresses lie close together
			for m := lanes; m != 0; m &= m - 1 {
				i := bits.TrailingZeros64(m) & 63
				addr := w.mem.Base + w.offs[i]
				if p.checks&CheckAlign != 0 && !a.atomic && addr&(a.element()-1) != 0 {
					w.find(CheckAlign, i, Finding{Detail: fmt.Sprintf("an element of %d bytes is %s at address %#x", a.element(), verb, addr), Addr: addr, Size: a.size})
				}
				if p.checks&CheckBounds == 0 || w.d.Allocated == nil || addr >= ok.base && addr+a.size <= ok.end {
					continue
				}
				if !w.d.Allocated(addr, a.size) {
					w.find(CheckBounds, i, Finding{Detail: fmt.Sprintf("%d bytes are %s where nothing is allocated", a.size, verb), Addr: addr, Size: a.size})
					continue
				}
				if ok.base = addr; ok.end < addr+a.size {
					ok.end = addr + a.size
				}
			}
		}, func(lanes uint64) {
			limit := uint64(len(w.wg.lds))
			for m := lanes; m != 0; m &= m - 1 {
				i := bits.TrailingZeros64(m) & 63
				off := w.offs[i]
				if p.checks&CheckBounds != 0 && (off > limit || a.size > limit-off) {
					w.find(CheckBounds, i, Finding{Detail: fmt.Sprintf("%d bytes are %s at %#x of the LDS; the workgroup has %#x", a.size, verb, off, limit)})
				}
				if p.checks&CheckAlign != 0 && !a.atomic && off&(a.element()-1) != 0 {
					w.find(CheckAlign, i, Finding{Detail: fmt.Sprintf("an element of %d bytes is %s at %#x of the LDS", a.element(), verb, off)})
				}
			}
			if p.checks&CheckRace != 0 && w.watched.group.races != nil {
				w.race(a, lanes)
			}
		})
	}
}

// upper reports whether what is stored is the high half of a register.
func (a *memAccess) upper() bool { return strings.Contains(a.in.Op.String(), "d16_hi") }
