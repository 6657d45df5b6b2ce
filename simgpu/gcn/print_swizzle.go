package gcn

import "strconv"

// appendSwizzle prints the lane pattern of ds_swizzle_b32.
func appendSwizzle(b []byte, v uint16) []byte {
	if v == 0 {
		return b
	}
	b = append(b, " offset:"...)
	if v>>15 != 0 && v&0x7f00 == 0 { // quad permute
		b = append(b, "swizzle(QUAD_PERM"...)
		for i := 0; i < 4; i++ {
			b = append(b, ',', '0'+byte(v>>(2*i)&3))
		}
		return append(b, ')')
	}
	if v >= 0xe000 {
		b = append(b, "swizzle(FFT,"...)
		return append(strconv.AppendUint(b, uint64(v&31), 10), ')')
	}
	if v >= 0xc000 {
		b = append(b, "swizzle(ROTATE,"...)
		b = append(b, '0'+byte(v>>10&1), ',')
		return append(strconv.AppendUint(b, uint64(v>>5&31), 10), ')')
	}
	if v>>15 != 0 {
		return strconv.AppendUint(b, uint64(v), 10)
	}
	and, or, xor := v&31, v>>5&31, v>>10&31
	switch {
	case and == 31 && or == 0 && xor != 0 && xor&(xor-1) == 0:
		b = append(b, "swizzle(SWAP,"...)
		return append(strconv.AppendUint(b, uint64(xor), 10), ')')
	case and == 31 && or == 0 && xor > 1 && xor&(xor+1) == 0:
		b = append(b, "swizzle(REVERSE,"...)
		return append(strconv.AppendUint(b, uint64(xor)+1, 10), ')')
	}
	group := 32 - and
	if xor == 0 && group > 1 && group <= 32 && group&(group-1) == 0 && or < group {
		b = append(b, "swizzle(BROADCAST,"...)
		b = strconv.AppendUint(b, uint64(group), 10)
		b = strconv.AppendUint(append(b, ','), uint64(or), 10)
		return append(b, ')')
	}
	b = append(b, `swizzle(BITMASK_PERM,"`...)
	for i := 4; i >= 0; i-- {
		// The bit of the lane that comes of lane bit 0 and of lane bit 1.
		p0 := or>>i&1 ^ xor>>i&1
		p1 := (and|or)>>i&1 ^ xor>>i&1
		switch {
		case p0 == p1 && p0 == 0:
			b = append(b, '0')
		case p0 == p1:
			b = append(b, '1')
		case p0 == 0:
			b = append(b, 'p')
		default:
			b = append(b, 'i')
		}
	}
	return append(b, `")`...)
}
