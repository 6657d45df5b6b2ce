package exec

import (
	"math/bits"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// imageData binds the registers of an image instruction's elements: one for
// each component of the mask, or half of one with 16-bit data.
type imageData struct {
	v    vdst
	mask uint8
	half bool
	regs int
}

func (b *binder) imageData(o gcn.Operand, in *gcn.Inst, mask uint8, half bool) (d imageData, err error) {
	mask = max(mask, 1) // none means the first, as the assembler takes it too
	n := bits.OnesCount8(mask)
	if half {
		n = (n + 1) / 2
	}
	if int(o.Index)+n > 256 {
		return d, &badOperand{o}
	}
	o.Width = uint8(n)
	d = imageData{mask: mask, half: half, regs: n}
	d.v, err = b.dest(&o)
	return d, err
}

// put lays an element's components in a lane of w.out.
func (d *imageData) put(w *wave, lane int, c *[4]uint32, isInt bool) {
	k := 0
	for i, v := range c {
		if d.mask>>i&1 == 0 {
			continue
		}
		if !d.half {
			w.out[k][lane] = v
			k++
			continue
		}
		if !isInt {
			v = uint32(f32to16(f32(v)))
		}
		if k&1 == 0 {
			w.out[k/2][lane] = v & 0xffff
		} else {
			w.out[k/2][lane] |= v << 16
		}
		k++
	}
}

// get takes them from the registers. What the mask leaves out is 0.
func (d *imageData) get(w *wave, lane int, isInt, signed bool) (c [4]uint32) {
	v, k := d.v.get(w), 0
	for i := range c {
		if d.mask>>i&1 == 0 {
			continue
		}
		r := v
		at := k
		if d.half {
			at = k / 2
		}
		for range at {
			r = upper(r)
		}
		x := r[lane]
		if d.half {
			x = x >> (16 * (k & 1)) & 0xffff
			switch {
			case !isInt:
				x = b32(f16to32(uint16(x)))
			case signed:
				x = uint32(int32(int16(x)))
			}
		}
		c[i] = x
		k++
	}
	return c
}
