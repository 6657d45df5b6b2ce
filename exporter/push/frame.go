package push

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"time"
)

// A record in a file is a head of 32 bytes, all numbers little-endian,
//
//	0  magic         4 bytes
//	4  length        uint32, of the data
//	8  number        uint64
//	16 time of Put   int64, ns since 1970
//	24 CRC-32C       of the data
//	28 CRC-32C       of the file's salt and of bytes 0 to 28
//
// and its data.
const frameHeader = 32

var (
	frameMagic = []byte("rwR\x01")
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

// appendFrame appends a record as it is written to a file with that salt.
func appendFrame(b []byte, r *record, salt uint32) []byte {
	start := len(b)
	b = append(b, frameMagic...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(r.data)))
	b = binary.LittleEndian.AppendUint64(b, r.seq)
	b = binary.LittleEndian.AppendUint64(b, uint64(r.time.UnixNano()))
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(r.data, castagnoli))
	b = binary.LittleEndian.AppendUint32(b, crc32.Update(salt, castagnoli, b[start:]))
	return append(b, r.data...)
}

// head is a record's head that was checked.
type head struct {
	length int64
	seq    uint64
	time   time.Time
	crc    uint32
}

// parseHead reads 32 bytes.
func parseHead(b []byte, salt uint32) (h head, ok bool) {
	if !bytes.Equal(b[:4], frameMagic) || crc32.Update(salt, castagnoli, b[:28]) != binary.LittleEndian.Uint32(b[28:]) {
		return h, false
	}
	return head{
		length: int64(binary.LittleEndian.Uint32(b[4:])),
		seq:    binary.LittleEndian.Uint64(b[8:]),
		time:   time.Unix(0, int64(binary.LittleEndian.Uint64(b[16:]))),
		crc:    binary.LittleEndian.Uint32(b[24:]),
	}, true
}

// frames reads a file's records and passes over what is none.
type frames struct {
	r        io.ReaderAt
	salt     uint32
	off, end int64 // what is left to be read; end may grow between calls

	window []byte // of the file, from at
	at     int64
}

// windowBytes is how much of a file is looked at at once.
const windowBytes = 32 << 10

// next returns the next record; io.EOF: none is left before end. Another error is the
// disk's. Each call moves off forward, or fails.
func (f *frames) next() (*record, error) {
	for f.end-f.off >= frameHeader {
		b, err := f.look(frameHeader)
		if err != nil {
			return nil, err
		}
		if h, ok := parseHead(b, f.salt); ok && h.length <= f.end-f.off-frameHeader {
			r := &record{seq: h.seq, time: h.time, data: make([]byte, h.length)}
			if err := readFull(f.r, r.data, f.off+frameHeader); err != nil {
				return nil, err
			}
			if crc32.Checksum(r.data, castagnoli) == h.crc {
				f.off += r.size()
				return r, nil
			}
		}
		if err := f.search(); err != nil {
			return nil, err
		}
	}
	f.off = f.end
	return nil, io.EOF
}

// search moves off to the next place, at least one further, that looks like a record,
// or to where there is no room for one.
func (f *frames) search() error {
	f.off++
	for f.end-f.off >= frameHeader {
		b, err := f.look(frameHeader)
		if err != nil {
			return err
		}
		if i := bytes.Index(b, frameMagic); i >= 0 {
			f.off += int64(i)
			return nil
		}
		f.off += int64(len(b) - len(frameMagic) + 1) // its beginning may be the end of what was looked at
	}
	return nil
}

// look returns n bytes at off or more, from the window. What is behind end is not
// kept: the file grows there.
func (f *frames) look(n int64) ([]byte, error) {
	if f.off < f.at || f.off+n > f.at+int64(len(f.window)) {
		size := min(f.end-f.off, windowBytes)
		if int64(cap(f.window)) < size {
			f.window = make([]byte, size)
		}
		f.window, f.at = f.window[:size], f.off
		if err := readFull(f.r, f.window, f.off); err != nil {
			f.window = f.window[:0]
			return nil, err
		}
	}
	return f.window[f.off-f.at:], nil
}

// readFull is ReadAt for a range that is known to be in the file: its end may come
// with the data, but not before.
func readFull(r io.ReaderAt, b []byte, off int64) error {
	n, err := r.ReadAt(b, off)
	if n == len(b) {
		return nil
	}
	if err == io.EOF {
		return io.ErrUnexpectedEOF // somebody cut the file off
	}
	return err
}
