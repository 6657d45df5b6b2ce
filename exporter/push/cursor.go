package push

import (
	"encoding/binary"
	"hash/crc32"
	"os"
)

// The file "next" says how far was sent: the number of the next record, and a CRC-32C
// of it. It is written in place after each record, in one call that is far smaller
// than a block, so that a killed process leaves the old number or the new one.
const (
	cursorName = "next"
	cursorSize = 12
)

func appendCursor(b []byte, next uint64) []byte {
	b = binary.LittleEndian.AppendUint64(b, next)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// parseCursor is appendCursor's inverse. 0: it is not known how far was sent.
func parseCursor(b []byte) uint64 {
	if len(b) != cursorSize || crc32.Checksum(b[:8], castagnoli) != binary.LittleEndian.Uint32(b[8:]) {
		return 0
	}
	return binary.LittleEndian.Uint64(b)
}

// openCursor opens the file and tells what it says.
func openCursor(dir *os.Root) (*os.File, uint64, error) {
	f, err := dir.OpenFile(cursorName, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, 0, err
	}
	b := make([]byte, cursorSize)
	n, _ := f.ReadAt(b, 0) // what cannot be read is not known
	return f, parseCursor(b[:n]), nil
}
