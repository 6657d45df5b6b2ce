package gcn

import "math"

// place returns the field of the instruction for a role.
func (in *Inst) place(r Role) *Operand {
	switch r {
	case RoleDst:
		return &in.Dst
	case RoleSDst:
		return &in.SDst
	case RoleSrc0:
		return &in.Src[0]
	case RoleSrc1:
		return &in.Src[1]
	case RoleSrc2:
		return &in.Src[2]
	case RoleAddr:
		return &in.Addr
	case RoleData:
		return &in.Data
	case RoleData1:
		return &in.Data1
	case RoleBase:
		return &in.Base
	case RoleSOffset:
		return &in.SOffset
	}
	return nil
}

// vgpr fills in a vector register, in the accumulation file when acc.
func (d *decoder) vgpr(o *Operand, t Type, index uint32, acc bool) {
	o.Kind = VGPR
	if acc {
		o.Kind = AccVGPR
	}
	o.Type, o.Width, o.Index = t, t.Width(), uint16(index&0xff)
}

// sreg fills in a scalar register from its 7-bit number.
func (d *decoder) sreg(o *Operand, t Type, n uint32) {
	d.source(o, t, n&0x7f, false)
}

// source fills in an operand from a 9-bit source number: SGPR, constant,
// special register, literal or VGPR.
func (d *decoder) source(o *Operand, t Type, n uint32, literalOK bool) {
	o.Type, o.Width = t, t.Width()
	switch {
	case n >= 256:
		d.vgpr(o, t, n-256, false)
	case n <= 127:
		if n == 125 {
			d.err = "scalar register 125"
			return
		}
		o.Kind, o.Index = SGPR, alignScalar(n, o.Width)
	case n <= 208:
		v := int64(n) - 128
		if n > 192 {
			v = 192 - int64(n)
		}
		o.Kind, o.Value = Inline, inlineInt(t, v)
	case n >= 240 && n <= 248:
		o.Kind, o.Value = Inline, inlineFloat(t, n-240)
	case n == 255:
		if !literalOK {
			d.err = "literal not allowed"
			return
		}
		d.literal(o, t)
	case n >= SrcSharedBase && n <= SrcPopsExitingWave, n >= SrcVCCZ && n <= SrcLDSDirect:
		o.Kind, o.Index = Special, uint16(n)
	default:
		d.err = "unknown source operand"
	}
}

// literal fills in the operand from the word after the instruction. Several
// operands may share one literal.
func (d *decoder) literal(o *Operand, t Type) {
	if !d.hasLit {
		if d.litPos >= d.avail {
			d.err = "truncated"
			return
		}
		d.hasLit = true
		d.in.Len += 4
	}
	o.Kind, o.Type, o.Width = Literal, t, t.Width()
	o.Value = uint64(d.w[d.litPos])
	if t == F64 {
		o.Value <<= 32
	}
}

// alignScalar rounds the number of the first register of a scalar group down
// to the group's alignment: 2 for pairs, 4 for more.
func alignScalar(n uint32, width uint8) uint16 {
	switch {
	case width >= 3:
		n &^= 3
	case width == 2:
		n &^= 1
	}
	return uint16(n)
}

// inlineInt is the value of an integer inline constant for an operand type.
func inlineInt(t Type, v int64) uint64 {
	if t.Width() == 2 {
		return uint64(v)
	}
	return uint64(uint32(v))
}

var inlineFloats = [9]float64{0.5, -0.5, 1, -1, 2, -2, 4, -4, 0}

// inlineHalfs are the same as float16.
var inlineHalfs = [9]uint64{0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4400, 0xc400, 0x3118}

// inlineFloat is the value of inline constant 240+i: its bits in the precision
// of the operand type, 1/(2 pi) for the last one.
func inlineFloat(t Type, i uint32) uint64 {
	switch t {
	case F16, I16, V2F16, V2I16:
		return inlineHalfs[i]
	case F64, I64, Mask:
		if i == 8 {
			return 0x3fc45f306dc9c882
		}
		return math.Float64bits(inlineFloats[i])
	}
	if i == 8 {
		return 0x3e22f983
	}
	return uint64(math.Float32bits(float32(inlineFloats[i])))
}
