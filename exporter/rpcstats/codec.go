package rpcstats

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Limits of an encoded delta. Recorders stay far below them.
const (
	MaxEncoded = 4 << 20 // bytes
	maxSeries  = 8192
	// A peer cannot push a total to the end of its range at once: 2^53 calls, and
	// 36 years of calls.
	maxCount = 1 << 53
	maxNanos = 1 << 60
)

const version = 1

// ErrInvalid is the error of a delta that makes no sense.
var ErrInvalid = errors.New("rpcstats: invalid delta")

// AppendEncode appends d in its compact form to b.
//
//	u8 version, u8 side, uvarint series
//	each: u16 op, i32 code (little endian), uvarint nanos, zero, buckets
//	each: uvarint distance to the bucket before (the first: to MinBucket), count
func (d *Delta) AppendEncode(b []byte) []byte {
	b = append(b, version, byte(d.Side))
	b = binary.AppendUvarint(b, uint64(len(d.Series)))
	for i := range d.Series {
		s := &d.Series[i]
		b = binary.LittleEndian.AppendUint16(b, s.Op)
		b = binary.LittleEndian.AppendUint32(b, uint32(s.Code))
		b = s.Hist.AppendEncode(b)
	}
	return b
}

// AppendEncode appends h in its compact form to b: the part of a series after its
// code. Numbers above the limit of a delta are cut to it.
func (h *Hist) AppendEncode(b []byte) []byte {
	b = binary.AppendUvarint(b, min(h.Nanos, maxNanos))
	b = binary.AppendUvarint(b, min(h.Zero, maxCount))
	b = binary.AppendUvarint(b, uint64(len(h.Buckets)))
	at := MinBucket
	for _, k := range h.Buckets {
		b = binary.AppendUvarint(b, uint64(k.Index-at))
		b = binary.AppendUvarint(b, min(k.Count, maxCount))
		at = k.Index
	}
	return b
}

// Decode reads a whole encoded delta of a peer that may speak for some sides. Its
// errors are ErrInvalid with a reason.
func Decode(b []byte, from Sides) (*Delta, error) {
	if len(b) > MaxEncoded {
		return nil, fmt.Errorf("%w: %d bytes", ErrInvalid, len(b))
	}
	r := reader{b: b}
	if v := r.u8(); v != version && !r.bad {
		return nil, fmt.Errorf("%w: version %d", ErrInvalid, v)
	}
	d := &Delta{Side: Side(r.u8())}
	if !from.Has(d.Side) {
		return nil, fmt.Errorf("%w: side %d", ErrInvalid, uint8(d.Side))
	}
	n := r.uvarint(maxSeries)
	if r.bad || n > uint64(len(r.b)/seriesMin) {
		return nil, fmt.Errorf("%w: %d series do not fit", ErrInvalid, n)
	}
	d.Series = make([]Series, n)
	for i := range d.Series {
		s := &d.Series[i]
		s.Op, s.Code = r.u16(), int32(r.u32())
		s.Hist = r.hist()
		if r.bad {
			return nil, fmt.Errorf("%w: in series %d of %d", ErrInvalid, i, n)
		}
	}
	if len(r.b) != 0 {
		return nil, fmt.Errorf("%w: %d bytes too many", ErrInvalid, len(r.b))
	}
	return d, nil
}

// DecodeHist reads one whole encoded histogram.
func DecodeHist(b []byte) (Hist, error) {
	r := reader{b: b}
	h := r.hist()
	if r.bad || len(r.b) != 0 {
		return Hist{}, fmt.Errorf("%w: bad histogram", ErrInvalid)
	}
	return h, nil
}

// seriesMin is the size of the smallest series.
const seriesMin = 2 + 4 + 1 + 1 + 1

// reader takes checked pieces off b; after the first failure it answers zeros.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) take(n int) []byte {
	if r.bad || len(r.b) < n {
		r.bad = true
		return nil
	}
	p := r.b[:n]
	r.b = r.b[n:]
	return p
}

func (r *reader) u8() uint8 {
	if p := r.take(1); p != nil {
		return p[0]
	}
	return 0
}

func (r *reader) u16() uint16 {
	if p := r.take(2); p != nil {
		return binary.LittleEndian.Uint16(p)
	}
	return 0
}

func (r *reader) u32() uint32 {
	if p := r.take(4); p != nil {
		return binary.LittleEndian.Uint32(p)
	}
	return 0
}

func (r *reader) uvarint(limit uint64) uint64 {
	if r.bad {
		return 0
	}
	v, n := binary.Uvarint(r.b)
	if n <= 0 || v > limit {
		r.bad = true
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) hist() Hist {
	h := Hist{Nanos: r.uvarint(maxNanos), Zero: r.uvarint(maxCount)}
	n := r.uvarint(NumBuckets)
	if r.bad || n > uint64(len(r.b)/2) {
		r.bad = true
		return Hist{}
	}
	if n == 0 {
		return h
	}
	h.Buckets = make([]Bucket, n)
	at := MinBucket
	for i := range h.Buckets {
		step := r.uvarint(NumBuckets)
		at += int(step)
		count := r.uvarint(maxCount)
		if at > MaxBucket || count == 0 || (i > 0 && step == 0) {
			r.bad = true
			return Hist{}
		}
		h.Buckets[i] = Bucket{Index: at, Count: count}
	}
	return h
}
