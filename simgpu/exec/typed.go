package exec

import (
	"math/bits"
	"strings"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Typed buffer instructions: buffers whose elements have a format. MUBUF takes
// it from the descriptor, MTBUF from the instruction. This is how textures of
// linear memory are read.

// typedBuffer is what all of them have in common.
type typedBuffer struct {
	addr  bufferAddress
	data  imageData
	high  bool // the upper half of the register, for one 16-bit component
	keeps bool // the half that is not loaded stays, and is not cleared
	fixed bool
	f     texelFormat
	lds   bool // data goes to the LDS
	at    uint64
}

// typed binds one for the components xyzw, or fewer.
func (b *binder) typed(in *gcn.Inst, o gcn.Operand, components string) (t typedBuffer, err error) {
	name := in.Op.String()
	t.high = strings.Contains(name, "_hi_")
	if t.fixed, t.f = in.Enc == gcn.MTBUF, (texelFormat{in.Format & 15, in.Format >> 4}); b.p.arch.Has(gcn.RDNA) {
		t.f = unifiedFormat(in.Format & 127)
	}
	t.keeps = b.p.arch.Has(gcn.KeepsHalf) && strings.Contains(name, "_d16_") && len(components)%2 == 1
	if t.addr, err = b.bufferAddress(in); err != nil {
		return t, err
	}
	if in.LDS {
		t.lds, t.at, t.data = true, uint64(in.Offset), imageData{mask: 1}
		return t, nil
	}
	t.data, err = b.imageData(o, in, 1<<len(components)-1, strings.Contains(name, "_d16_"))
	return t, err
}

// identity is the selection of an instruction that has the format: components
// that the format has not are 0, the last one too.
func identity(f texelFormat) selection {
	s := selection{4, 5, 6, 7}
	for i := len(texelBits[f.data&63]); i < 4; i++ {
		s[i] = 0
	}
	return s
}

// element is the format and the selection of components, ok whether there is a
// buffer at all: a descriptor of zeros is none, from which zeros are read.
func (t *typedBuffer) element(w *wave) (f texelFormat, sel selection, ok bool) {
	v := w.S[t.addr.v : t.addr.v+4]
	if v[0]|v[1]|v[2]|v[3] == 0 {
		return f, sel, false
	}
	s := v[3]
	if f = (texelFormat{uint8(s >> 15 & 15), uint8(s >> 12 & 7)}); w.d.Program.arch.Has(gcn.RDNA) {
		f = unifiedFormat(uint8(s >> 12 & 63))
	}
	sel = selectionOf(s)
	if t.fixed {
		f = t.f
		sel = identity(f)
	}
	if !f.valid() {
		w.badImage("data format %d with number format %d", f.data, f.num)
	}
	return f, sel, true
}

// lanes computes the lanes' addresses and returns those inside, wholly or not
// at all.
func (t *typedBuffer) lanes(w *wave, f texelFormat) uint64 {
	l := t.addr.resolve(w, f.size())
	if l.scratch {
		w.badImage("typed access to scratch")
	}
	return l.whole
}

// keep takes the half of the last register that is not loaded from what is there.
func (t *typedBuffer) keep(w *wave, lane int) {
	v, last, mask := t.data.v.get(w), t.data.regs-1, uint32(0xffff0000)
	for range last {
		v = upper(v)
	}
	if t.high {
		mask = 0xffff
	}
	w.out[last][lane] |= v[lane] & mask
}

func typedLoad(components string) handler {
	return func(b *binder, in *gcn.Inst) (func(*wave), error) {
		t, err := b.typed(in, in.Dst, components)
		return func(w *wave) {
			f, sel, ok := t.element(w)
			inside := uint64(0)
			if ok {
				inside = t.lanes(w, f)
			}
			one, isInt := f.one(), f.isInt()
			w.each(func(i int) {
				var c [4]uint32
				if inside>>i&1 != 0 {
					c = f.load(w.mem.at(w.mem.Base + w.offs[i]))
				}
				if ok { // beyond the bounds a selected 1 is one
					c = sel.load(c, one)
				}
				t.data.put(w, i, &c, isInt)
				if t.high {
					w.out[0][i] <<= 16
				}
				if t.keeps {
					t.keep(w, i)
				}
			})
			w.stats.ReadBytes += f.size() * uint64(bits.OnesCount64(inside))
			if t.lds {
				w.toLDS(loads["dword"], &w.out[0], t.at)
				return
			}
			w.commit(t.data.v, t.data.regs, w.exec)
		}, err
	}
}

func typedStore(components string) handler {
	return func(b *binder, in *gcn.Inst) (func(*wave), error) {
		t, err := b.typed(in, in.Data, components)
		return func(w *wave) {
			f, sel, ok := t.element(w)
			if !ok {
				return
			}
			inside := t.lanes(w, f)
			w.writable(inside, f.size())
			isInt, signed := f.isInt(), f.num == numSint
			for m := inside; m != 0; m &= m - 1 {
				i := bits.TrailingZeros64(m) & 63
				c := t.data.get(w, i, isInt, signed)
				if t.high {
					x := t.data.v.get(w)[i] >> 16
					switch {
					case !isInt:
						x = b32(f16to32(uint16(x)))
					case signed:
						x = uint32(int32(int16(x)))
					}
					c = [4]uint32{x}
				}
				c = sel.store(c)
				f.store(w.mem.at(w.mem.Base+w.offs[i]), &c)
			}
			w.stats.WriteBytes += f.size() * uint64(bits.OnesCount64(inside))
		}, err
	}
}

var _ = define(func() {
	for _, c := range []string{"x", "xy", "xyz", "xyzw"} {
		for _, half := range []string{"", "d16_"} {
			for _, unit := range []string{"buffer_", "tbuffer_"} {
				on(unit+"load_format_"+half+c, typedLoad(c))
				on(unit+"store_format_"+half+c, typedStore(c))
			}
		}
	}
	on("buffer_load_format_d16_hi_x", typedLoad("x"))
	on("buffer_store_format_d16_hi_x", typedStore("x"))
})
