package collector

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"time"

	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/rocwire/rocwire/calls/rpcstats"
)

// exemplars are single calls that lead from a histogram to a trace, by the series
// they were counted in.
type exemplars map[rpcstats.Call][]exemplar

// exemplar is one call.
type exemplar struct {
	trace   string
	seconds float64
	end     time.Time
}

// exemplarsOf makes exemplars of the slowest calls that are part of a sampled trace.
func exemplarsOf(slow []rpcstats.SlowCall) exemplars {
	e := exemplars{}
	for i := range slow {
		c := &slow[i]
		if !traceID(c.TraceID) {
			continue
		}
		end := c.Start.Add(max(c.Total, 0))
		c.Counted(func(as rpcstats.Call, d time.Duration) {
			e[as] = append(e[as], exemplar{trace: c.TraceID, seconds: d.Seconds(), end: end})
		})
	}
	return e
}

// traceID reports whether s is a trace id as W3C Trace Context writes it. Clients send
// them, and may send anything.
func traceID(s string) bool {
	if len(s) != 32 {
		return false
	}
	zero := true
	for i := range len(s) {
		c := s[i]
		if !('0' <= c && c <= '9' || 'a' <= c && c <= 'f') {
			return false
		}
		zero = zero && c == '0'
	}
	return !zero
}

var traceLabel = "trace_id"

func (e *exemplar) dto() *dto.Exemplar {
	d := &dto.Exemplar{Label: []*dto.LabelPair{{Name: &traceLabel, Value: &e.trace}}, Value: &e.seconds}
	if !e.end.IsZero() {
		d.Timestamp = timestamppb.New(e.end)
	}
	return d
}

// attach gives a histogram its exemplars: in the buckets that hold them, the newest
// each, and in the native form beside them.
func attach(h *dto.Histogram, list []exemplar) {
	if len(list) == 0 {
		return
	}
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b exemplar) int {
		return cmp.Or(a.end.Compare(b.end), cmp.Compare(a.seconds, b.seconds))
	})
	if beyond(h, list) {
		inf, count := math.Inf(1), h.GetSampleCount()
		h.Bucket = append(h.Bucket, &dto.Bucket{UpperBound: &inf, CumulativeCount: &count})
	}
	for i := range list {
		at := sort.Search(len(h.Bucket), func(b int) bool { return list[i].seconds <= h.Bucket[b].GetUpperBound() })
		if at == len(h.Bucket) {
			continue
		}
		below := uint64(0)
		if at > 0 {
			below = h.Bucket[at-1].GetCumulativeCount()
		}
		if h.Bucket[at].GetCumulativeCount() > below { // the call itself may not have been counted yet
			h.Bucket[at].Exemplar = list[i].dto()
		}
	}
	if h.Schema != nil {
		for i := range list {
			if !list[i].end.IsZero() { // native ones are told apart by their time
				h.Exemplars = append(h.Exemplars, list[i].dto())
			}
		}
	}
}

// beyond reports whether an exemplar is longer than the last bound.
func beyond(h *dto.Histogram, list []exemplar) bool {
	n := len(h.Bucket)
	return n > 0 && slices.ContainsFunc(list, func(e exemplar) bool { return e.seconds > h.Bucket[n-1].GetUpperBound() })
}
