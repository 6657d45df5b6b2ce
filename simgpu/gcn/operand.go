package gcn

import "math"

// srcLiteral is the source number of a literal.
const srcLiteral = 255

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
	case RoleScale0:
		return &in.Scale[0]
	case RoleScale1:
		return &in.Scale[1]
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
	o.Type, o.Width, o.Index = t, d.width(t), uint16(index&0xff)
	if int(o.Index)+int(o.Width) > 256 {
		d.err = "vector registers beyond the last"
	}
}

// sreg fills in a scalar register from its 7-bit number.
func (d *decoder) sreg(o *Operand, t Type, n uint32) {
	d.source(o, t, n&0x7f, false)
}

// source fills in an operand from a 9-bit source number: SGPR, constant,
// special register, literal or VGPR.
func (d *decoder) source(o *Operand, t Type, n uint32, literalOK bool) {
	o.Type, o.Width = t, d.width(t)
	if d.in.Arch.Has(RDNA) { // null and M0 have changed places
		switch n {
		case 124:
			n = SrcNull
		case 125:
			o.Kind, o.Index = SGPR, RegM0
			if o.Width > 1 {
				d.err = "no such scalar registers"
			}
			return
		}
	}
	switch {
	case n >= 256:
		d.vgpr(o, t, n-256, false)
	case n == SrcNull:
		o.Kind, o.Index = Special, uint16(n)
	case n <= 127:
		d.scalarReg(o, n)
	case n <= 208:
		v := int64(n) - 128
		if n > 192 {
			v = 192 - int64(n)
		}
		o.Kind, o.Value = Inline, inlineInt(t, v)
	case n >= 240 && n <= 248:
		o.Kind, o.Value = Inline, inlineFloat(t, n-240)
	case n == srcLiteral:
		if !literalOK {
			d.err = "literal not allowed"
			return
		}
		d.literal(o, t)
	case n >= SrcSharedBase && n <= SrcPopsExitingWave, n >= SrcVCCZ && n <= SrcSCC, n == SrcLDSDirect && o.Width == 1:
		if o.Width > 2 {
			d.err = "no such source operand of this size"
		}
		o.Kind, o.Index = Special, uint16(n)
	default:
		d.err = "unknown source operand"
	}
}

// width is an operand's size in dwords: a lane mask of 32 lanes is one register.
func (d *decoder) width(t Type) uint8 {
	if t == Mask && d.in.Arch.WaveSize() == 32 {
		return 1
	}
	return t.Width()
}

// scalarReg fills in a register or group of registers from the number of the
// first one, which is rounded down to the group's alignment: 2 for pairs, 4
// for more. The registers with names are single or pairs.
func (d *decoder) scalarReg(o *Operand, n uint32) {
	o.Kind = SGPR
	w := uint32(o.Width)
	base, end, named := uint32(0), uint32(RegXNACKMask), uint32(RegFlatScratch)
	if d.in.Arch.Has(RDNA) {
		end, named = RegVCC, RegVCC
	}
	switch {
	case n >= RegTTMP0 && n < RegM0:
		base, end = RegTTMP0, RegM0
	case n >= named:
		if w > 2 || w == 2 && (n&1 != 0 || n == RegM0) {
			d.err = "no such scalar registers"
		}
		o.Index = uint16(n)
		return
	}
	switch {
	case w == 32 && base == RegTTMP0: // there is no such group; LLVM says that it is one of half the size
		o.Kind = Bad
		w = 16
		n -= (n - base) & 3
	case w == 32:
		d.err = "no such scalar registers"
		return
	case w >= 3:
		n -= (n - base) & 3
	case w == 2:
		n -= (n - base) & 1
	}
	if n+w > end {
		d.err = "scalar registers beyond the last"
	}
	o.Index = uint16(n)
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

// inlineInt is the value of an integer inline constant for an operand type.
func inlineInt(t Type, v int64) uint64 {
	if t.Width() == 2 || t == F64X4 {
		return uint64(v)
	}
	return uint64(uint32(v))
}

var inlineFloats = [9]float64{0.5, -0.5, 1, -1, 2, -2, 4, -4, 0}

// inlineHalfs are the same as float16.
var inlineHalfs = [9]uint64{0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4400, 0xc400, 0x3118}

// inlineFloat is the value of inline constant 240+i: its bits in the precision
// of the operand type, 1/(2 pi) for the last one. Pairs of 16-bit integers get
// it in single precision.
func inlineFloat(t Type, i uint32) uint64 {
	switch t {
	case F16, I16, V2F16:
		return inlineHalfs[i]
	case BF16, V2BF16:
		return inlineFloat(F32, i) >> 16
	case F64, I64, Mask, F64X4:
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
