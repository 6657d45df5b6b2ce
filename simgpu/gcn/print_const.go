package gcn

import "strconv"

// appendConst prints a constant operand: small integers in decimal, the
// values of the floating-point inline constants by name, all else in
// hexadecimal. A literal that equals an inline constant prints like it.
func appendConst(b []byte, o *Operand) []byte {
	v := o.Value
	switch o.Type {
	case F16:
		if i := int64(int16(v)); i >= -16 && i <= 64 {
			return strconv.AppendInt(b, i, 10)
		}
		if s := halfName(v & 0xffff); s != "" {
			return append(b, s...)
		}
		return appendHex(b, v&0xffff)
	case BF16:
		if i := int64(int16(v)); i >= -16 && i <= 64 {
			return strconv.AppendInt(b, i, 10)
		}
		if s := brainName(v & 0xffff); s != "" {
			return append(b, s...)
		}
		return appendHex(b, v) // of a literal LLVM writes the half that is ignored, too
	case F64, I64, Mask, F64X4:
		if i := int64(v); i >= -16 && i <= 64 {
			return strconv.AppendInt(b, i, 10)
		}
		if s := doubleName(v); s != "" {
			return append(b, s...)
		}
		if o.Type == F64 {
			v >>= 32
		}
		return appendHex(b, v)
	}
	if i := int64(int32(v)); i >= -16 && i <= 64 {
		return strconv.AppendInt(b, i, 10)
	}
	if o.Type == V2F16 || o.Type == V2BF16 {
		name := halfName
		if o.Type == V2BF16 {
			name = brainName
		}
		if s := name(v); s != "" {
			return append(b, s...)
		}
		return appendHex(b, v)
	}
	if s := floatName(v); s != "" {
		if o.Type == X8 && o.Kind == Inline && v == inlineFloat(F32, 8) { // LLVM takes the group for doubles
			s = doubleName(inlineFloat(F64, 8))
		}
		return append(b, s...)
	}
	if o.Type == I16 {
		v &= 0xffff
	}
	return appendHex(b, v)
}

var floatNames = [9]string{"0.5", "-0.5", "1.0", "-1.0", "2.0", "-2.0", "4.0", "-4.0", "0.15915494"}

func halfName(v uint64) string {
	for i, h := range inlineHalfs {
		if v == h {
			return floatNames[i]
		}
	}
	return ""
}

// brainName is halfName for bfloat16.
func brainName(v uint64) string {
	for i, name := range floatNames {
		if v == inlineFloat(BF16, uint32(i)) {
			return name
		}
	}
	return ""
}

func floatName(v uint64) string {
	for i, name := range floatNames {
		if v == inlineFloat(F32, uint32(i)) {
			return name
		}
	}
	return ""
}

func doubleName(v uint64) string {
	for i, name := range floatNames {
		if v == inlineFloat(F64, uint32(i)) {
			if i == 8 {
				return "0.15915494309189532"
			}
			return name
		}
	}
	return ""
}
