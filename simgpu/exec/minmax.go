package exec

// Minima and maxima: numbers are ordered with -0 before +0; what becomes of NaN differs.

// key32 orders floats as integers.
func key32(x uint32) int32 { return int32(x) ^ int32(uint32(int32(x)>>31)>>1) }

// lesser and greater are for numbers of 32 bits, or of 16 in the upper half.
func lesser(a, b uint32) uint32 {
	if key32(a) <= key32(b) {
		return a
	}
	return b
}

func greater(a, b uint32) uint32 {
	if key32(a) >= key32(b) {
		return a
	}
	return b
}

func lesser16(a, b uint16) uint16  { return uint16(lesser(uint32(a)<<16, uint32(b)<<16) >> 16) }
func greater16(a, b uint16) uint16 { return uint16(greater(uint32(a)<<16, uint32(b)<<16) >> 16) }

// min32, max32, min16 and max16 are minNum and maxNum of IEEE 754-2008: of a NaN and a number, the
// number.
func min32(a, b uint32) uint32 {
	if isNaN32(a) || isNaN32(b) {
		return number32(a, b)
	}
	return lesser(a, b)
}

func max32(a, b uint32) uint32 {
	if isNaN32(a) || isNaN32(b) {
		return number32(a, b)
	}
	return greater(a, b)
}

func min16(a, b uint16) uint16 {
	if isNaN16(a) || isNaN16(b) {
		return number16(a, b)
	}
	return lesser16(a, b)
}

func max16(a, b uint16) uint16 {
	if isNaN16(a) || isNaN16(b) {
		return number16(a, b)
	}
	return greater16(a, b)
}

func number32(a, b uint32) uint32 {
	switch {
	case !isNaN32(a):
		return a
	case !isNaN32(b):
		return b
	}
	return a | 0x400000
}

func number16(a, b uint16) uint16 {
	switch {
	case !isNaN16(a):
		return a
	case !isNaN16(b):
		return b
	}
	return a | 0x200
}

// minimum32, maximum32, minimum16 and maximum16 are those of IEEE 754-2019: a NaN is the
// result, a signalling one before others.
func minimum32(a, b uint32) uint32 {
	if isNaN32(a) || isNaN32(b) {
		return nan32(a, b)
	}
	return lesser(a, b)
}

func maximum32(a, b uint32) uint32 {
	if isNaN32(a) || isNaN32(b) {
		return nan32(a, b)
	}
	return greater(a, b)
}

func minimum16(a, b uint16) uint16 {
	if isNaN16(a) || isNaN16(b) {
		return nan16(a, b)
	}
	return lesser16(a, b)
}

func maximum16(a, b uint16) uint16 {
	if isNaN16(a) || isNaN16(b) {
		return nan16(a, b)
	}
	return greater16(a, b)
}

func nan32(a, b uint32) uint32 {
	if isSNaN32(a) || isNaN32(a) && !isSNaN32(b) {
		return a | 0x400000
	}
	return b | 0x400000
}

func nan16(a, b uint16) uint16 {
	signals := func(x uint16) bool { return isNaN16(x) && x&0x200 == 0 }
	if signals(a) || isNaN16(a) && !signals(b) {
		return a | 0x200
	}
	return b | 0x200
}
