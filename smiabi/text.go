package smiabi

import "unsafe"

// putText writes s into an array of a struct: as much as fits, a NUL behind it, and
// zeros to the array's end. A character is never cut in half.
func putText(dst []byte, s string) {
	if len(dst) == 0 {
		return
	}
	n := min(len(s), len(dst)-1)
	if n < len(s) {
		for n > 0 && s[n]&0xc0 == 0x80 { // the middle of a character
			n--
		}
	}
	copy(dst, s[:n])
	clear(dst[n:])
}

// putString is putText for a buffer of the caller's that holds size bytes.
func putString(dst *byte, size uint64, s string) {
	const all = 1 << 20 // nobody asks for more; a length that was not set may be huge
	putText(unsafe.Slice(dst, min(size, all)), s)
}

// fits is putString where a text may not be cut: AMDSMI_STATUS_INSUFFICIENT_SIZE if
// it and its NUL do not fit.
func fits(dst *byte, size uint64, s string) status {
	if uint64(len(s)) >= size {
		return AMDSMI_STATUS_INSUFFICIENT_SIZE
	}
	copy(unsafe.Slice(dst, size), s+"\x00")
	return AMDSMI_STATUS_SUCCESS
}
