package codeobject

import (
	"compress/zlib"
	"encoding/binary"
	"errors"
	"io"
	"unsafe"
)

// MaxImage is the largest image whose length is believed, in bytes.
const MaxImage = 16 << 30

// Size returns the length in bytes of the image that begins at offset 0 of r.
// It is for callers that are given an address and no length, as
// hipModuleLoadData is: it reads headers only, each no further than the one
// before allows. Of several bundles in a row only the first is measured,
// because nothing says whether what follows belongs to the image.
func Size(r io.ReaderAt) (uint64, error) {
	c := &cursor{r: r}
	var magic [len(bundleMagic)]byte
	if err := c.full(magic[:4]); err != nil {
		return 0, err
	}
	var size uint64
	var err error
	switch string(magic[:4]) {
	case elfMagic:
		size, err = elfSize(r)
	case compressedMagic:
		size, err = compressedSize(r)
	case bundleMagic[:4]:
		if err := c.full(magic[4:]); err != nil {
			return 0, err
		}
		if string(magic[:]) != bundleMagic {
			return 0, invalid(0, "neither a code object nor a bundle of them (it begins with %q)", magic[:])
		}
		size, err = bundleSize(r)
	default:
		return 0, invalid(0, "neither a code object nor a bundle of them (it begins with % x)", magic[:4])
	}
	if err != nil {
		return 0, err
	}
	if size > MaxImage {
		return 0, invalid(0, "image of %d bytes, more than the limit %d", size, uint64(MaxImage))
	}
	return size, nil
}

// FromPointer returns the bytes of the image that begins at p, without copying
// them. The caller vouches that an image begins there.
func FromPointer(p unsafe.Pointer) ([]byte, error) {
	if p == nil {
		return nil, invalid(0, "null pointer for an image")
	}
	size, err := Size(pointer{p})
	if err != nil {
		return nil, err
	}
	return unsafe.Slice((*byte)(p), size), nil
}

// pointer reads memory of this process.
type pointer struct{ p unsafe.Pointer }

func (m pointer) ReadAt(b []byte, off int64) (int, error) {
	return copy(b, unsafe.Slice((*byte)(unsafe.Add(m.p, off)), len(b))), nil
}

// cursor reads an image front to back, and not a byte further than asked.
type cursor struct {
	r   io.ReaderAt
	off int64
}

func (c *cursor) Read(b []byte) (int, error) {
	n, err := c.r.ReadAt(b, c.off)
	c.off += int64(n)
	if n == len(b) {
		err = nil
	}
	return n, err
}

func (c *cursor) ReadByte() (byte, error) {
	var b [1]byte
	_, err := io.ReadFull(c, b[:])
	return b[0], err
}

// full fills b or says where the image is cut off.
func (c *cursor) full(b []byte) error {
	at := c.off
	if _, err := io.ReadFull(c, b); err != nil {
		return cutOff(uint64(at), err)
	}
	return nil
}

func (c *cursor) skip(n uint64) { c.off += int64(n) }

func cutOff(at uint64, err error) error {
	var bad *Invalid
	if errors.As(err, &bad) {
		return err
	}
	return invalid(at, "image is cut off: %v", err)
}

// elfSize is the end of whatever the ELF header, the program headers and the
// section headers reach to.
func elfSize(r io.ReaderAt) (uint64, error) {
	c := &cursor{r: r}
	var b [elfHeaderSize]byte
	if err := c.full(b[:]); err != nil {
		return 0, err
	}
	if b[4] != 2 || b[5] != 1 {
		return 0, invalid(4, "not a 64-bit little-endian ELF file")
	}
	end := uint64(elfHeaderSize)
	grow := func(at, off, n uint64) error {
		if off > MaxImage || n > MaxImage {
			return invalid(at, "part of the ELF file at %#x+%#x lies beyond any image", off, n)
		}
		end = max(end, off+n)
		return nil
	}
	tables := [2]struct {
		at, off, size, entry uint64
		offField, sizeField  int
		skip                 func(entry []byte) bool
	}{
		{32, le.Uint64(b[32:]), uint64(le.Uint16(b[56:])), uint64(le.Uint16(b[54:])), 8, 32, nil},
		{40, le.Uint64(b[40:]), uint64(le.Uint16(b[60:])), uint64(le.Uint16(b[58:])), 24, 32,
			func(s []byte) bool { return le.Uint32(s[4:]) == shtNoBits }},
	}
	for _, t := range tables {
		if t.size == 0 {
			continue
		}
		if t.entry < elfProgSize {
			return 0, invalid(t.at, "ELF table with entries of %d bytes", t.entry)
		}
		if err := grow(t.at, t.off, t.size*t.entry); err != nil {
			return 0, err
		}
		for i := uint64(0); i < t.size; i++ {
			at := t.off + i*t.entry
			entry := &cursor{r: r, off: int64(at)}
			var e [elfProgSize]byte
			if err := entry.full(e[:]); err != nil {
				return 0, err
			}
			if t.skip != nil && t.skip(e[:]) {
				continue
			}
			if err := grow(at, le.Uint64(e[t.offField:]), le.Uint64(e[t.sizeField:])); err != nil {
				return 0, err
			}
		}
	}
	return end, nil
}

// bundleSize is the end of the last entry.
func bundleSize(r io.ReaderAt) (uint64, error) {
	c := &cursor{r: r, off: int64(len(bundleMagic))}
	var b [bundleEntrySize]byte
	if err := c.full(b[:8]); err != nil {
		return 0, err
	}
	count := le.Uint64(b[:])
	if count > maxEntries {
		return 0, invalid(uint64(len(bundleMagic)), "bundle with %d entries", count)
	}
	end := uint64(c.off)
	for i := uint64(0); i < count; i++ {
		at := uint64(c.off)
		if err := c.full(b[:]); err != nil {
			return 0, err
		}
		off, size, id := le.Uint64(b[:]), le.Uint64(b[8:]), le.Uint64(b[16:])
		if off > MaxImage || size > MaxImage || id > maxID {
			return 0, invalid(at, "bundle entry %d at %#x+%#x with an identifier of %d bytes", i, off, size, id)
		}
		c.skip(id)
		end = max(end, off+size, uint64(c.off))
	}
	return end, nil
}

// compressedSize is the total of the header, or, for version 1, which has
// none, the length of the compressed stream.
func compressedSize(r io.ReaderAt) (uint64, error) {
	c := &cursor{r: r}
	var b [compressedHeaderMax]byte
	if err := c.full(b[:8]); err != nil {
		return 0, err
	}
	rest := b[8:20]
	switch le.Uint16(b[4:]) {
	case 2:
		rest = b[8:24]
	case 3:
		rest = b[8:32]
	}
	if err := c.full(rest); err != nil {
		return 0, err
	}
	h, err := parseCompressed(b[:c.off])
	if err != nil || h.total != 0 {
		return h.total, err
	}
	n, err := streamSize(h.method, h.plain, c)
	return h.size + n, err
}

// streamSize measures the compressed stream at a cursor.
func streamSize(method uint16, plain uint64, c *cursor) (uint64, error) {
	start := c.off
	var err error
	if method == methodZstd {
		err = skipZstd(c)
	} else {
		err = skipZlib(c, plain)
	}
	return uint64(c.off - start), err
}

// skipZstd moves a cursor past one zstd frame by its block headers.
func skipZstd(c *cursor) error {
	at := uint64(c.off)
	var b [8]byte
	if err := c.full(b[:5]); err != nil {
		return err
	}
	if le.Uint32(b[:]) != 0xfd2fb528 {
		return invalid(at, "not a zstd frame")
	}
	desc := b[4]
	single := desc>>5&1 == 1
	skip := [4]uint64{0, 1, 2, 4}[desc&3] + [4]uint64{0, 2, 4, 8}[desc>>6]
	if !single || desc>>6 == 0 {
		skip++ // the window, or a one-byte content size in its place
	}
	c.skip(skip)
	for {
		at = uint64(c.off)
		if at > MaxImage {
			return invalid(at, "zstd frame without end")
		}
		b[3] = 0
		if err := c.full(b[:3]); err != nil {
			return err
		}
		head := binary.LittleEndian.Uint32(b[:4])
		size := uint64(head >> 3)
		switch head >> 1 & 3 {
		case 1: // one byte, repeated
			size = 1
		case 3:
			return invalid(at, "reserved zstd block type")
		}
		c.skip(size)
		if head&1 == 1 {
			break
		}
	}
	if desc>>2&1 == 1 {
		c.skip(4)
	}
	return nil
}

// skipZlib moves a cursor past a zlib stream, whose end only decoding shows.
func skipZlib(c *cursor, plain uint64) error {
	at := uint64(c.off)
	z, err := zlib.NewReader(c)
	if err != nil {
		return cutOff(at, err)
	}
	n, err := io.Copy(io.Discard, io.LimitReader(z, int64(plain)+1))
	if err != nil {
		return cutOff(uint64(c.off), err)
	}
	if uint64(n) != plain {
		return invalid(at, "zlib stream is longer or shorter than the %d bytes it announces", plain)
	}
	return nil
}
