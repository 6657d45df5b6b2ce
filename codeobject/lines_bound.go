package codeobject

import "encoding/binary"

// boundedLines reports whether the tables of directories and files in line programs
// (DWARF 5) have no more entries than there are bytes: debug/dwarf makes room
// for as many as they say.
func boundedLines(b []byte) bool {
	for len(b) > 0 {
		if len(b) < 6 {
			return false
		}
		n := uint64(le.Uint32(b))
		if n < 2 || n > uint64(len(b))-4 {
			return false
		}
		unit := b[4 : 4+n]
		b = b[4+n:]
		if v := le.Uint16(unit); v < 5 {
			continue
		}
		if len(unit) < 14 || unit[13] == 0 || len(unit) < 14+int(unit[13])-1 {
			return false
		}
		if !boundedTables(unit[14+int(unit[13])-1:]) {
			return false
		}
	}
	return true
}

// boundedTables looks at the two tables of a header.
func boundedTables(b []byte) bool {
	uleb := func() uint64 {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			b = nil
			return 1 << 62
		}
		b = b[n:]
		return v
	}
	for range 2 {
		if len(b) == 0 {
			return false
		}
		forms := make([]uint64, b[0])
		b = b[1:]
		for i := range forms {
			uleb()
			forms[i] = uleb()
		}
		count := uleb()
		if count > uint64(len(b)) {
			return false
		}
		for range count {
			for _, f := range forms {
				n := map[uint64]int{0x1f: 4, 0x0e: 4, 0x1e: 16, 0x0b: 1, 0x05: 2}[f] // line_strp, strp, data16, data1, data2
				if f == 0x0f {                                                       // udata
					uleb()
				} else if n == 0 || n > len(b) {
					return false
				} else {
					b = b[n:]
				}
			}
		}
	}
	return true
}
