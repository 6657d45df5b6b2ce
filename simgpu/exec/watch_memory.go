package exec

import (
	"math"
	"math/bits"
	"strings"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// What memory instructions make undefined, and what must not be for them.

// undefinedUse binds the report of an undefined address, or of undefined data
// that is stored to device memory.
func undefinedUse(b *binder, in *gcn.Inst) before {
	switch in.Enc {
	case gcn.FLAT, gcn.GLOBAL, gcn.SCRATCH, gcn.MUBUF, gcn.MTBUF, gcn.MIMG, gcn.DS, gcn.SMEM:
	default:
		return nil
	}
	if in.Info.Flags&(gcn.IsLoad|gcn.IsStore|gcn.IsAtomic) == 0 || in.Info.Flags&gcn.IsGWS != 0 {
		return nil
	}
	address := in.Addr.Kind == gcn.VGPR && !strings.Contains(in.Op.String(), "swizzle")
	var d vdst
	if address {
		var err error
		if d, err = b.dest(&in.Addr); err != nil {
			return nil
		}
	}
	addrs := int(in.Addr.Width)
	access := accessOf(b, in)
	return func(w *wave) {
		x := w.watched
		for _, o := range []*gcn.Operand{&in.Base, &in.SOffset} {
			if o.Kind != gcn.SGPR {
				continue
			}
			for k := range uint16(o.Width) {
				if x.s[(o.Index+k)&127] != 0 {
					w.find(CheckUninit, -1, Finding{Detail: "an address is undefined"})
					x.s[(o.Index+k)&127] = 0
				}
			}
		}
		if address && w.exec != 0 {
			w.exchange()
			v := d.get(w)
			w.exchange()
			if lanes := lanesUndefined(v, addrs, w.exec); lanes != 0 {
				w.find(CheckUninit, bits.TrailingZeros64(lanes), Finding{Detail: "an address is undefined"})
				for k := range addrs {
					if k > 0 {
						v = upper(v)
					}
					for m := w.exec; m != 0; m &= m - 1 {
						v[bits.TrailingZeros64(m)&63] = 0
					}
				}
			}
		}
		if access != nil && access.write && (access.global != nil || access.buffer != nil) {
			access.each(w, func(lanes uint64) { access.undefinedData(w, lanes) }, func(uint64) {})
		}
	}
}

// undefinedData tells of lanes that store what is undefined to device memory.
func (a *memAccess) undefinedData(w *wave, lanes uint64) {
	x := w.watched
	o := &a.in.Data
	file := x.v
	if o.Kind == gcn.AccVGPR {
		file = x.a
	}
	for k := range int(o.Width) {
		v := &file[int(o.Index)+k]
		for m := lanes; m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m) & 63
			if u := v[i]; u != 0 && a.whole(u) {
				w.find(CheckUninit, i, Finding{Detail: "an undefined value is stored to device memory", Addr: w.mem.Base + w.offs[i], Size: a.size})
				v[i] = 0
			}
		}
	}
}

// whole reports whether each byte of what is stored has undefined bits.
func (a *memAccess) whole(u uint32) bool {
	if a.upper() {
		u >>= 16
	}
	for k := range min(a.size, 4) {
		if u>>(8*k)&0xff == 0 {
			return false
		}
	}
	return true
}

// undefinedResult binds what an instruction makes undefined, or defined.
func undefinedResult(b *binder, in *gcn.Inst, h handler, run func(*wave)) before {
	switch in.Enc {
	case gcn.SOP1, gcn.SOP2, gcn.SOPC, gcn.SOPK:
		return undefinedScalar(in)
	case gcn.VOP1, gcn.VOP2, gcn.VOPC, gcn.VOP3, gcn.VOP3P, gcn.VOPD:
		if f := undefinedLanes(b, in); f != nil {
			return f
		}
		switch name := in.Op.String(); {
		case movesAlone[name]:
			return func(w *wave) { w.onUndefined(&gcn.Operand{}, w.exec, run) }
		case strings.HasPrefix(name, "v_wmma_"):
			return undefinedWMMA(b, in, h)
		}
		return undefinedVector(b, in)
	case gcn.MFMA:
		return undefinedMatrix(b, in, h)
	case gcn.SMEM:
		if in.Dst.Kind == gcn.SGPR {
			return func(w *wave) {
				for k := range uint16(in.Dst.Width) {
					w.watched.s[(in.Dst.Index+k)&127] = 0
				}
			}
		}
		return nil
	case gcn.DS:
		return undefinedLDS(b, in, run)
	case gcn.SCRATCH:
		if in.LDS || in.Info.Flags&gcn.LDSDest != 0 {
			return toLDSDefined(in)
		}
		return func(w *wave) { w.onUndefined(&in.Addr, w.exec, run) }
	case gcn.FLAT, gcn.GLOBAL, gcn.MUBUF, gcn.MTBUF, gcn.MIMG:
		return undefinedLoad(b, in, run)
	}
	return nil
}

// onUndefined executes run, which moves data, on what is undefined of registers,
// LDS and scratch, for some lanes. The address is as it is.
func (w *wave) onUndefined(addr *gcn.Operand, lanes uint64, run func(*wave)) {
	x := w.watched
	exec, full, stats, lds, scratch := w.exec, w.full, w.stats, w.wg.lds, w.scratch
	var saved, real [2]Vec // what is undefined of the address registers, and they
	n := 0
	if addr.Kind == gcn.VGPR {
		n = min(int(addr.Width), 2)
	}
	for k := range n {
		v := &x.v[int(addr.Index)+k]
		saved[k], real[k] = *v, w.V[int(addr.Index)+k]
		*v = real[k]
	}
	w.exchange()
	w.exec, w.full, w.wg.lds, w.scratch = lanes, lanes == all, w.watched.group.lds, x.scratch
	defer func() {
		w.exec, w.full, w.stats, w.wg.lds, w.scratch = exec, full, stats, lds, scratch
		w.exchange()
		for k := range n { // but where the instruction has written to it
			for i := range saved[k] {
				if v := &x.v[int(addr.Index)+k][i]; *v == real[k][i] {
					*v = saved[k][i]
				}
			}
		}
	}()
	run(w)
}

// toLDSSize is how many bytes of a lane a load into the LDS writes.
func toLDSSize(in *gcn.Inst) uint64 {
	switch _, n, _ := strings.Cut(in.Op.String(), "dwordx"); n {
	case "3":
		return 12
	case "4":
		return 16
	}
	return 4
}

// toLDSDefined is after a load into the LDS: where its lanes write, it is defined.
func toLDSDefined(in *gcn.Inst) before {
	at, size := uint64(int64(in.Offset)), toLDSSize(in)
	return func(w *wave) {
		lds := w.watched.group.lds
		w.ldsPlaces(at, size)
		for m := w.exec; m != 0; m &= m - 1 {
			off := w.offs[bits.TrailingZeros64(m)&63]
			for k := off; k < off+size && k < uint64(len(lds)); k++ {
				lds[k] = 0
			}
		}
	}
}

func undefinedLDS(b *binder, in *gcn.Inst, run func(*wave)) before {
	name := in.Op.String()
	switch {
	case in.Info.Flags&gcn.IsGWS != 0:
		return nil
	case strings.Contains(name, "append"), strings.Contains(name, "consume"):
		return func(w *wave) { w.setDefined(&in.Dst, w.exec) }
	case strings.Contains(name, "swizzle"):
		return func(w *wave) { w.onUndefined(&gcn.Operand{}, w.exec, run) }
	case in.Info.Flags&gcn.IsAtomic == 0:
		return func(w *wave) { w.onUndefined(&in.Addr, w.exec, run) }
	}
	a := accessOf(b, in)
	if a == nil {
		return nil
	}
	return func(w *wave) {
		w.setDefined(&in.Dst, w.exec)
		a.each(w, nil, func(lanes uint64) { a.undefinedAtomic(w, lanes) })
	}
}

// undefinedAtomic is an operation on the LDS: what was undefined, or is combined
// with what is, is undefined, and so is what was there.
func (a *memAccess) undefinedAtomic(w *wave, lanes uint64) {
	x, lds := w.watched, w.watched.group.lds
	for m := lanes; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		off := w.offs[i]
		if off > uint64(len(lds)) || a.size > uint64(len(lds))-off {
			continue
		}
		mem := lds[off : off+a.size]
		var data, old byte
		for _, o := range []*gcn.Operand{&a.in.Data, &a.in.Data1} {
			for k := range int(o.Width) {
				if o.Kind == gcn.VGPR && x.v[int(o.Index)+k][i] != 0 || o.Kind == gcn.AccVGPR && x.a[int(o.Index)+k][i] != 0 {
					data = 0xff
				}
			}
		}
		for k := range mem {
			old |= mem[k]
		}
		if name := a.in.Op.String(); strings.Contains(name, "wrxchg") || strings.Contains(name, "storexchg") {
			old = 0
		}
		if old != 0 && (a.in.Dst.Kind == gcn.VGPR || a.in.Dst.Kind == gcn.AccVGPR) {
			file := x.v
			if a.in.Dst.Kind == gcn.AccVGPR {
				file = x.a
			}
			for k := range int(a.in.Dst.Width) {
				file[int(a.in.Dst.Index)+k][i] = ^uint32(0)
			}
		}
		for k := range mem {
			mem[k] = data
			if old != 0 {
				mem[k] = 0xff
			}
		}
	}
}

// setDefined makes a vector destination defined in some lanes.
func (w *wave) setDefined(o *gcn.Operand, lanes uint64) {
	x := w.watched
	file := x.v
	switch o.Kind {
	case gcn.AccVGPR:
		file = x.a
	case gcn.VGPR:
	default:
		return
	}
	for k := range int(o.Width) {
		v := &file[int(o.Index)+k]
		for m := lanes; m != 0; m &= m - 1 {
			v[bits.TrailingZeros64(m)&63] = 0
		}
	}
}

// undefinedLoad is an access that may be to device memory, which is defined, to
// the LDS or to scratch, which may not be.
func undefinedLoad(b *binder, in *gcn.Inst, run func(*wave)) before {
	if in.LDS || in.Info.Flags&gcn.LDSDest != 0 {
		return toLDSDefined(in)
	}
	a := accessOf(b, in)
	if a == nil || a.atomic || in.Enc != gcn.FLAT && in.Enc != gcn.MUBUF {
		return func(w *wave) { w.setDefined(&in.Dst, w.exec) }
	}
	return func(w *wave) {
		private := uint64(0)
		if a.buffer != nil {
			if r := w.resource(a.buffer.v, false); r.base&scratchWindow != 0 {
				private = w.exec
			}
		} else {
			for m := w.foreign(a.global(w, a.size), a.size); m != 0; m &= m - 1 {
				i := bits.TrailingZeros64(m)
				if s := (w.mem.Base + w.offs[i&63]) >> 32; s == sharedBase>>32 || s == privateBase>>32 {
					private |= 1 << i
				}
			}
		}
		w.setDefined(&in.Dst, w.exec&^private)
		if private != 0 {
			w.onUndefined(&in.Addr, private, run)
		}
	}
}

// movesAlone are instructions of RDNA that move what is in registers, between lanes or others.
var movesAlone = map[string]bool{
	"v_permlane16_b32": true, "v_permlanex16_b32": true, "v_permlane64_b32": true, "v_swap_b16": true,
	"v_movrels_b32": true, "v_movreld_b32": true, "v_movrelsd_b32": true, "v_movrelsd_2_b32": true, "v_swaprel_b32": true,
}

// undefinedWMMA is for matrix instructions of RDNA: of those whose results are halves, or whose elements have four bits, all that is written is undefined, if
// anything of a source is.
func undefinedWMMA(b *binder, in *gcn.Inst, h handler) before {
	name := in.Op.String()
	if strings.HasPrefix(name, "v_wmma_f32") || strings.HasSuffix(name, "_iu8") {
		return undefinedMatrix(b, in, h)
	}
	mask, high := ^uint32(0), in.OpSel>>2&1 != 0
	if !strings.HasPrefix(name, "v_wmma_i32") {
		mask = 0xffff
		if high {
			mask <<= 16
		}
	}
	return func(w *wave) {
		x, some := w.watched, uint32(0)
		for i := range in.Src {
			if x.someUndefined(&in.Src[i]) {
				some = mask
			}
		}
		to := x.registersOf(&in.Dst)
		for k := range to {
			for l := range w.d.waveSize() {
				to[k][l] = to[k][l]&^mask | some
			}
		}
	}
}

// undefinedMatrix executes a matrix instruction on NaN where something is
// undefined and zero elsewhere: what becomes NaN depends on it. For integers it is
// executed twice, with ones for what is undefined, and for the other matrix.
func undefinedMatrix(b *binder, in *gcn.Inst, h handler) before {
	name := in.Op.String()
	plain := *in
	sparse := strings.HasPrefix(name, "v_smfmac")
	if plain.Src[2].IsConst() {
		plain.Src[2].Value = 0
	}
	run, err := h(b, &plain)
	if err != nil {
		return nil
	}
	if in.Info.Flags&gcn.Formats != 0 {
		return undefinedFormats(in)
	}
	c := &in.Src[2]
	if sparse {
		c = &in.Dst
	}
	integer := strings.HasPrefix(name, "v_mfma_i32") || strings.HasPrefix(name, "v_smfmac_i32") || strings.HasPrefix(name, "v_wmma_i32")
	result, width := uint32(0x7fc00000), 4
	if strings.HasPrefix(name, "v_mfma_f64") {
		result, width = 0x7ff80000, 8
	}
	elem, bytesOf := uint32(0x7fc00000), 4
	switch in := strings.TrimLeft(name[strings.LastIndex(name, "x"):], "x0123456789"); {
	case strings.Contains(name, "xf32"):
	case strings.Contains(in, "fp8"), strings.Contains(in, "bf8"):
		elem, bytesOf = 0x7f, 1
		if b.p.arch.Has(gcn.FloatsNUZ) {
			elem = nan8
		}
	case strings.Contains(in, "bf16"):
		elem, bytesOf = 0x7fc0, 2
	case strings.Contains(in, "f16"):
		elem, bytesOf = 0x7e00, 2
	case strings.Contains(in, "f64"):
		elem, bytesOf = 0x7ff80000, 8
	case strings.Contains(in, "i8"), strings.Contains(in, "iu8"):
		elem, bytesOf = 1, 1
	}
	return func(w *wave) {
		x := w.watched
		dirty := x.someUndefined(&in.Src[0]) || x.someUndefined(&in.Src[1]) || x.someUndefined(c)
		if !dirty {
			w.setDefined(&in.Dst, all)
			return
		}
		x.file[0] = grown(x.file[0], len(x.v))
		x.file[1] = grown(x.file[1], len(x.a))
		pass := func(a, b func(*gcn.Operand), sum bool) {
			if sum {
				x.standIn(c, result, width, true)
			} else {
				x.standIn(c, 0, 4, false)
			}
			if sparse {
				copy(x.file[0][in.Src[2].Index:], w.V[in.Src[2].Index:int(in.Src[2].Index)+1])
			}
			a(&in.Src[0])
			b(&in.Src[1])
			stats := w.stats
			w.V, x.file[0] = x.file[0], w.V
			w.A, x.file[1] = x.file[1], w.A
			run(w)
			w.V, x.file[0] = x.file[0], w.V
			w.A, x.file[1] = x.file[1], w.A
			w.stats = stats
		}
		mark := func(o *gcn.Operand) { x.standIn(o, elem, bytesOf, true) }
		ones := func(o *gcn.Operand) { x.standIn(o, 0x01010101, 4, false) }
		if !integer {
			pass(mark, mark, true)
			x.collect(&in.Dst, width, func(lo, hi uint32) bool {
				if width == 8 {
					return math.IsNaN(math.Float64frombits(uint64(lo) | uint64(hi)<<32))
				}
				return f32(lo) != f32(lo)
			}, false)
			return
		}
		sum := x.copyOf(c)
		nonzero := func(lo, _ uint32) bool { return lo != 0 }
		// The first collection must not spoil the sources of the second pass.
		pass(mark, ones, false)
		first := x.results(&in.Dst)
		pass(ones, mark, false)
		x.collect(&in.Dst, 4, nonzero, false)
		x.or(&in.Dst, first, sum)
	}
}
