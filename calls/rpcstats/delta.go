package rpcstats

import (
	"math"
	"math/bits"
)

// Delta is what one recorder counted in some span of time.
type Delta struct {
	Side   Side
	Series []Series
}

// Series is one function with one result.
type Series struct {
	Op   uint16
	Code int32
	Hist
}

// Hist is a histogram of durations.
type Hist struct {
	Nanos   uint64   // the durations' sum
	Zero    uint64   // how many were 0
	Buckets []Bucket // ascending, none empty
}

// Bucket is one bucket of a histogram.
type Bucket struct {
	Index int // MinBucket … MaxBucket
	Count uint64
}

// Count is the number of durations.
func (h *Hist) Count() uint64 {
	n := h.Zero
	for _, b := range h.Buckets {
		n = addSat(n, b.Count)
	}
	return n
}

// Seconds is the durations' sum in seconds.
func (h *Hist) Seconds() float64 { return float64(h.Nanos) / 1e9 }

// Quantile is the duration in seconds that a share q of the durations do not
// exceed, to within a bucket's width; NaN if there is none.
func (h *Hist) Quantile(q float64) float64 {
	n := h.Count()
	if n == 0 || !(q >= 0 && q <= 1) {
		return math.NaN()
	}
	rank := q * float64(n)
	seen := float64(h.Zero)
	if seen >= rank && h.Zero > 0 {
		return 0
	}
	for _, b := range h.Buckets {
		seen += float64(b.Count)
		if seen >= rank {
			// The bucket's middle on its own, logarithmic scale.
			return Bound(b.Index) / math.Exp2(0.5/perOctave)
		}
	}
	return Bound(h.Buckets[len(h.Buckets)-1].Index)
}

// Max is a bound in seconds that no duration exceeds, to within a bucket's width; NaN
// if there is none.
func (h *Hist) Max() float64 {
	switch {
	case len(h.Buckets) > 0:
		return Bound(h.Buckets[len(h.Buckets)-1].Index)
	case h.Zero > 0:
		return 0
	}
	return math.NaN()
}

// Merge adds o to h. Counts stop at the largest number instead of wrapping, so a
// running total never falls.
func (h *Hist) Merge(o *Hist) {
	h.Nanos = addSat(h.Nanos, o.Nanos)
	h.Zero = addSat(h.Zero, o.Zero)
	if len(o.Buckets) == 0 {
		return
	}
	merged := make([]Bucket, 0, len(h.Buckets)+len(o.Buckets))
	a, b := h.Buckets, o.Buckets
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].Index < b[0].Index:
			merged, a = append(merged, a[0]), a[1:]
		case a[0].Index > b[0].Index:
			merged, b = append(merged, b[0]), b[1:]
		default:
			merged = append(merged, Bucket{a[0].Index, addSat(a[0].Count, b[0].Count)})
			a, b = a[1:], b[1:]
		}
	}
	h.Buckets = append(append(merged, a...), b...)
}

// Since is what a running total counted after it was o, which may be nil; all of it if
// o is no earlier state of it, because who counts has started again.
func (h *Hist) Since(o *Hist) Hist {
	if o == nil {
		return h.clone()
	}
	d := Hist{}
	at := make(map[int]uint64, len(o.Buckets))
	for _, b := range o.Buckets {
		at[b.Index] = b.Count
	}
	found := 0
	for _, b := range h.Buckets {
		n, ok := at[b.Index]
		if ok {
			found++
		}
		if n > b.Count {
			return h.clone()
		}
		if b.Count > n {
			d.Buckets = append(d.Buckets, Bucket{Index: b.Index, Count: b.Count - n})
		}
	}
	if found < len(at) || o.Zero > h.Zero || o.Nanos > h.Nanos {
		return h.clone()
	}
	d.Zero, d.Nanos = h.Zero-o.Zero, h.Nanos-o.Nanos
	return d
}

func (h *Hist) clone() Hist {
	return Hist{Nanos: h.Nanos, Zero: h.Zero, Buckets: append([]Bucket(nil), h.Buckets...)}
}

func addSat(a, b uint64) uint64 {
	s, carry := bits.Add64(a, b, 0)
	if carry != 0 {
		return math.MaxUint64
	}
	return s
}
