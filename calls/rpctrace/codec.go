package rpctrace

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/rocwire/rocwire/calls/internal/packed"
)

// Limits of encoded records.
const (
	MaxRecords = 2 * MaxRate // in one message
	MaxKernel  = 256         // bytes of a kernel's name
	maxNanos   = 1 << 62
	maxCount   = 1 << 53
	// MaxRecord is how many bytes one takes at most.
	MaxRecord = 3 + 2 + 4 + 4 + 3*10 + 5 + 10 + 2 + MaxKernel + 6*5
)

const (
	version = 1
	alone   = 0x10 // beside the kind
)

// ErrInvalid is the error of records that make no sense.
var ErrInvalid = errors.New("rpctrace: invalid records")

// AppendRecords appends records in their compact form to b, and how many more there
// were that had to be dropped.
//
//	u8 version, uvarint dropped, uvarint records
//	each: u8 kind, 0x10 added if alone, u16 op, i32 code, u32 request (little endian),
//	      uvarint start, duration, bytes
//	a kernel: uvarint device, stream, length of its name, the name, grid (3), block (3)
func AppendRecords(b []byte, list []Record, dropped uint64) []byte {
	if n := len(list); n > MaxRecords {
		list, dropped = list[:MaxRecords], dropped+uint64(n-MaxRecords)
	}
	b = append(b, version)
	b = binary.AppendUvarint(b, min(dropped, maxCount))
	b = binary.AppendUvarint(b, uint64(len(list)))
	for i := range list {
		r := &list[i]
		kind := byte(r.Kind)
		if r.Alone {
			kind |= alone
		}
		b = append(b, kind)
		b = binary.LittleEndian.AppendUint16(b, r.Op)
		b = binary.LittleEndian.AppendUint32(b, uint32(r.Code))
		b = binary.LittleEndian.AppendUint32(b, r.Request)
		b = binary.AppendUvarint(b, uint64(min(max(r.Start, 0), maxNanos)))
		b = binary.AppendUvarint(b, uint64(min(max(r.Duration, 0), maxNanos)))
		b = binary.AppendUvarint(b, min(r.Bytes, maxCount))
		if r.Kind != Kernel {
			continue
		}
		name := packed.Cut(r.Kernel, MaxKernel)
		b = binary.AppendUvarint(b, uint64(uint32(r.Device)))
		b = binary.AppendUvarint(b, r.Stream)
		b = binary.AppendUvarint(b, uint64(len(name)))
		b = append(b, name...)
		for _, v := range [...]uint32{r.Grid[0], r.Grid[1], r.Grid[2], r.Block[0], r.Block[1], r.Block[2]} {
			b = binary.AppendUvarint(b, uint64(v))
		}
	}
	return b
}

// DecodeRecords reads what AppendRecords made, whole. Its errors are ErrInvalid with a
// reason. A name may hold any bytes.
func DecodeRecords(b []byte) (list []Record, dropped uint64, err error) {
	r := packed.Reader{B: b}
	if v := r.Take(1); v != nil && v[0] != version {
		return nil, 0, fmt.Errorf("%w: version %d", ErrInvalid, v[0])
	}
	dropped = r.Uvarint(maxCount)
	n := r.Uvarint(MaxRecords)
	const least = 1 + 2 + 4 + 4 + 3
	if r.Bad || n > uint64(len(r.B)/least) {
		return nil, 0, fmt.Errorf("%w: %d records do not fit", ErrInvalid, n)
	}
	list = make([]Record, n)
	for i := range list {
		list[i].decode(&r)
		if r.Bad {
			return nil, 0, fmt.Errorf("%w: in record %d of %d", ErrInvalid, i, n)
		}
	}
	if len(r.B) != 0 {
		return nil, 0, fmt.Errorf("%w: %d bytes too many", ErrInvalid, len(r.B))
	}
	return list, dropped, nil
}

// decode reads one record; r tells whether it was one.
func (x *Record) decode(r *packed.Reader) {
	p := r.Take(1 + 2 + 4 + 4)
	if p == nil {
		return
	}
	x.Kind, x.Alone = Kind(p[0]&^alone), p[0]&alone != 0
	x.Op, x.Code, x.Request = binary.LittleEndian.Uint16(p[1:]), int32(binary.LittleEndian.Uint32(p[3:])), binary.LittleEndian.Uint32(p[7:])
	x.Start, x.Duration, x.Bytes = int64(r.Uvarint(maxNanos)), time.Duration(r.Uvarint(maxNanos)), r.Uvarint(maxCount)
	if x.Kind < Client || x.Kind > maxKind {
		r.Bad = true
	}
	if x.Kind != Kernel {
		return
	}
	const word = 1<<32 - 1
	x.Device, x.Stream = int32(uint32(r.Uvarint(word))), r.Uvarint(1<<64-1)
	x.Kernel = string(r.Take(r.Uvarint(MaxKernel)))
	for _, v := range [...]*uint32{&x.Grid[0], &x.Grid[1], &x.Grid[2], &x.Block[0], &x.Block[1], &x.Block[2]} {
		*v = uint32(r.Uvarint(word))
	}
}
