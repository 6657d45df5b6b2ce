package codeobject

import "encoding/binary"

var le = binary.LittleEndian

// span returns b[off:off+n], and false if that is not inside b.
func span(b []byte, off, n uint64) ([]byte, bool) {
	if off > uint64(len(b)) || n > uint64(len(b))-off {
		return nil, false
	}
	return b[off : off+n : off+n], true
}

// cstring returns the zero-terminated string at off of a string table.
func cstring(table []byte, off uint64) (string, bool) {
	if off >= uint64(len(table)) {
		return "", false
	}
	for i, c := range table[off:] {
		if c == 0 {
			return string(table[off : off+uint64(i)]), true
		}
	}
	return "", false
}
