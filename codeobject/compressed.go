package codeobject

import (
	"bytes"
	"compress/zlib"
	"errors"
	"io"

	"github.com/klauspost/compress/zstd"
)

// MaxUncompressed is how much the compressed bundles of one image may unfold
// to, in bytes. The largest library known (rocBLAS) holds 725 MB for all its targets.
const MaxUncompressed = 4 << 30

// maxRatio bounds the expansion that is believed before anything is unpacked.
// Code for many targets repeats itself: real bundles reach about 100.
const maxRatio = 20000

// Compression methods.
const (
	methodZlib = 0
	methodZstd = 1
)

// compressedHeader is the decoded header of a CCOB container.
//
//	version 1: magic, u16 version, u16 method,            u32 plain, u64 hash
//	version 2: magic, u16 version, u16 method, u32 total, u32 plain, u64 hash
//	version 3: magic, u16 version, u16 method, u64 total, u64 plain, u64 hash
//
// The hash is the compiler's business (its function differs by version).
type compressedHeader struct {
	method uint16
	size   uint64 // of the header
	total  uint64 // header and data; 0 if the version does not say
	plain  uint64 // after decompression
}

// compressedHeaderMax is the size of the longest header.
const compressedHeaderMax = 32

// parseCompressed reads the header of a CCOB container.
func parseCompressed(b []byte) (h compressedHeader, err error) {
	if len(b) < 8 {
		return h, invalid(0, "compressed bundle is cut off after %d bytes", len(b))
	}
	version := le.Uint16(b[4:])
	h.method = le.Uint16(b[6:])
	switch version {
	case 1:
		h.size = 20
	case 2:
		h.size = 24
	case 3:
		h.size = 32
	default:
		return h, invalid(4, "compressed bundle of version %d (1, 2 and 3 are known)", version)
	}
	if uint64(len(b)) < h.size {
		return h, invalid(8, "header of the compressed bundle is cut off after %d bytes", len(b))
	}
	switch version {
	case 1:
		h.plain = uint64(le.Uint32(b[8:]))
	case 2:
		h.total, h.plain = uint64(le.Uint32(b[8:])), uint64(le.Uint32(b[12:]))
	case 3:
		h.total, h.plain = le.Uint64(b[8:]), le.Uint64(b[16:])
	}
	if h.method != methodZlib && h.method != methodZstd {
		return h, invalid(6, "compression method %d (zlib 0 and zstd 1 are known)", h.method)
	}
	if version > 1 && h.total < h.size {
		return h, invalid(8, "compressed bundle says it is %d bytes long, its header alone is %d", h.total, h.size)
	}
	if h.plain > MaxUncompressed {
		return h, invalid(8, "compressed bundle says it unfolds to %d bytes, more than the limit %d", h.plain, uint64(MaxUncompressed))
	}
	return h, nil
}

// decompress unfolds the CCOB container at the beginning of b and returns what
// it holds and how long the container is. It unfolds to budget bytes at most.
func decompress(b []byte, budget uint64) (plain []byte, size uint64, err error) {
	h, err := parseCompressed(b)
	if err != nil {
		return nil, 0, err
	}
	size = h.total
	if size == 0 {
		n, err := streamSize(h.method, h.plain, &cursor{r: bytes.NewReader(b), off: int64(h.size)})
		if err != nil {
			return nil, 0, err
		}
		size = h.size + n
	}
	if size > uint64(len(b)) {
		return nil, 0, invalid(8, "compressed bundle says it is %d bytes long, the image has %d", size, len(b))
	}
	if h.plain > budget {
		return nil, 0, invalid(8, "compressed bundles unfold to more than the limit %d", uint64(MaxUncompressed))
	}
	data := b[h.size:size]
	if h.plain/maxRatio > uint64(len(data)) {
		return nil, 0, invalid(8, "compressed bundle says that %d bytes unfold to %d", len(data), h.plain)
	}
	switch h.method {
	case methodZstd:
		plain, err = unzstd(data, h.plain)
	case methodZlib:
		plain, err = unzlib(data, h.plain)
	}
	if err != nil {
		return nil, 0, invalid(h.size, "compressed bundle does not unfold: %v", err)
	}
	if uint64(len(plain)) != h.plain {
		return nil, 0, invalid(8, "compressed bundle unfolds to %d bytes and says %d", len(plain), h.plain)
	}
	return plain, size, nil
}

// unzstd decompresses in one piece: the result itself is the window, so that no
// frame can ask for memory beyond the size that was checked.
func unzstd(data []byte, size uint64) ([]byte, error) {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1),
		zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderMaxMemory(MaxUncompressed), zstd.WithDecoderMaxWindow(MaxUncompressed))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	plain, err := d.DecodeAll(data, make([]byte, 0, size))
	if errors.Is(err, zstd.ErrDecoderSizeExceeded) {
		err = errTooLong
	}
	return plain, err
}

// unzlib decompresses and believes the size as far as data comes.
func unzlib(data []byte, size uint64) ([]byte, error) {
	d, err := zlib.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	n, err := io.Copy(&buf, io.LimitReader(d, int64(size)+1))
	if err == nil && uint64(n) > size {
		err = errTooLong
	}
	return buf.Bytes(), err
}

var errTooLong = errors.New("there is more than it announces")
