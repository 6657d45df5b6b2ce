package rpcstats

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/rocwire/rocwire/calls/internal/packed"
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
	r := reader{packed.Reader{B: b}}
	if v := r.U8(); v != version && !r.Bad {
		return nil, fmt.Errorf("%w: version %d", ErrInvalid, v)
	}
	d := &Delta{Side: Side(r.U8())}
	if !from.Has(d.Side) {
		return nil, fmt.Errorf("%w: side %d", ErrInvalid, uint8(d.Side))
	}
	n := r.Uvarint(maxSeries)
	if r.Bad || n > uint64(len(r.B)/seriesMin) {
		return nil, fmt.Errorf("%w: %d series do not fit", ErrInvalid, n)
	}
	d.Series = make([]Series, n)
	for i := range d.Series {
		s := &d.Series[i]
		s.Op, s.Code = r.U16(), int32(r.U32())
		s.Hist = r.hist()
		if r.Bad {
			return nil, fmt.Errorf("%w: in series %d of %d", ErrInvalid, i, n)
		}
	}
	if len(r.B) != 0 {
		return nil, fmt.Errorf("%w: %d bytes too many", ErrInvalid, len(r.B))
	}
	return d, nil
}

// DecodeHist reads one whole encoded histogram.
func DecodeHist(b []byte) (Hist, error) {
	r := reader{packed.Reader{B: b}}
	h := r.hist()
	if r.Bad || len(r.B) != 0 {
		return Hist{}, fmt.Errorf("%w: bad histogram", ErrInvalid)
	}
	return h, nil
}

// seriesMin is the size of the smallest series.
const seriesMin = 2 + 4 + 1 + 1 + 1

// reader reads histograms, too.
type reader struct{ packed.Reader }

func (r *reader) hist() Hist {
	h := Hist{Nanos: r.Uvarint(maxNanos), Zero: r.Uvarint(maxCount)}
	n := r.Uvarint(NumBuckets)
	if r.Bad || n > uint64(len(r.B)/2) {
		r.Bad = true
		return Hist{}
	}
	if n == 0 {
		return h
	}
	h.Buckets = make([]Bucket, n)
	at := MinBucket
	for i := range h.Buckets {
		step := r.Uvarint(NumBuckets)
		at += int(step)
		count := r.Uvarint(maxCount)
		if at > MaxBucket || count == 0 || (i > 0 && step == 0) {
			r.Bad = true
			return Hist{}
		}
		h.Buckets[i] = Bucket{Index: at, Count: count}
	}
	return h
}
