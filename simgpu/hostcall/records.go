package hostcall

import (
	"bytes"
	"encoding/binary"
)

// The buffer of -mprintf-kind=buffered: u32 bytes used, u32 bytes there are,
// and records. A record is a u32 (bit 0: standard error, bit 1: the format is a
// number, above: the record's bytes with this word) and either the u64 number
// of a format that the code object lists, or the format itself, padded to 8
// bytes; then the arguments.
const (
	recordsHead  = 8
	recordStderr = 1
	recordListed = 2
)

// InitRecords prepares a printf buffer, in device memory.
func InitRecords(mem []byte) {
	binary.LittleEndian.PutUint32(mem, 0)
	binary.LittleEndian.PutUint32(mem[4:], uint32(len(mem)-recordsHead))
}

// Records writes what a kernel that has ended left in its printf buffer.
// formats are those of the code object, by number. It stops at a record that
// makes no sense.
func Records(mem []byte, formats map[uint64]string, output func(stderr bool, text []byte)) {
	used := int(min(uint64(binary.LittleEndian.Uint32(mem)), uint64(len(mem)-recordsHead)))
	if used == 0 {
		return
	}
	b := bytes.Clone(mem[recordsHead : recordsHead+used]) // another kernel may write to it
	for len(b) >= 4 {
		control := binary.LittleEndian.Uint32(b)
		n := int(control >> 2)
		if n < 4 || n > len(b) {
			return
		}
		rest := b[4:n]
		b = b[n:]
		if control&recordListed != 0 {
			if len(rest) < 8 {
				return
			}
			format, ok := formats[binary.LittleEndian.Uint64(rest)]
			if !ok {
				return
			}
			msg := append([]byte(format), 0)
			for len(msg)%8 != 0 {
				msg = append(msg, 0)
			}
			rest = append(msg, rest[8:]...)
		}
		output(control&recordStderr != 0, Format(rest))
	}
}
