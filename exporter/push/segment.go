package push

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"strconv"
	"strings"
)

// A file of records begins with
//
//	0  magic    8 bytes
//	8  first    uint64, number of the first record, which is the file's name as well
//	16 salt     12 random bytes
//	28 CRC-32C  of bytes 0 to 28
const segmentHeader = 32

var segmentMagic = []byte("rwqueue\x01")

const segmentSuffix = ".rec"

// segment is a file of records.
type segment struct {
	first uint64 // number that the first record has, or the next one written if there is none
	size  int64  // what was written
	salt  uint32
}

func segmentName(first uint64) string { return fmt.Sprintf("%016x%s", first, segmentSuffix) }

// parseName is segmentName's inverse; false: some other file.
func parseName(name string) (first uint64, ok bool) {
	digits, ok := strings.CutSuffix(name, segmentSuffix)
	if !ok || len(digits) != 16 {
		return 0, false
	}
	first, err := strconv.ParseUint(digits, 16, 64)
	return first, err == nil
}

// createSegment makes a new file whose first record is numbered first.
func createSegment(dir *os.Root, first uint64) (*os.File, *segment, error) {
	var b [segmentHeader]byte
	copy(b[:], segmentMagic)
	binary.LittleEndian.PutUint64(b[8:], first)
	_, _ = rand.Read(b[16:28]) // it never fails
	binary.LittleEndian.PutUint32(b[28:], crc32.Checksum(b[:28], castagnoli))
	s := &segment{first: first, size: segmentHeader, salt: crc32.Checksum(b[16:28], castagnoli)}
	f, err := dir.OpenFile(segmentName(first), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, nil, err
	}
	if _, err := f.Write(b[:]); err != nil {
		_ = f.Close()
		_ = dir.Remove(segmentName(s.first)) // if it stays, Open finds that it is no file of records
		return nil, nil, err
	}
	return f, s, nil
}

// openSegment opens a file that is there; errDamaged: it is no file of records.
func openSegment(dir *os.Root, first uint64, flag int) (*os.File, *segment, error) {
	s := &segment{first: first}
	f, err := dir.OpenFile(segmentName(first), flag, 0)
	if err != nil {
		return nil, nil, err
	}
	if err := s.readHeader(f); err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, s, nil
}

func (s *segment) readHeader(f *os.File) error {
	st, err := f.Stat()
	if err != nil {
		return err
	}
	var b [segmentHeader]byte
	if !st.Mode().IsRegular() || st.Size() < segmentHeader {
		return errDamaged
	}
	if err := readFull(f, b[:], 0); err != nil {
		return err
	}
	if !bytes.HasPrefix(b[:], segmentMagic) || binary.LittleEndian.Uint64(b[8:]) != s.first ||
		crc32.Checksum(b[:28], castagnoli) != binary.LittleEndian.Uint32(b[28:]) {
		return errDamaged
	}
	s.size, s.salt = st.Size(), crc32.Checksum(b[16:28], castagnoli)
	return nil
}

// frames reads the segment from f.
func (s *segment) frames(f io.ReaderAt) *frames {
	return &frames{r: f, salt: s.salt, off: segmentHeader, end: s.size}
}
