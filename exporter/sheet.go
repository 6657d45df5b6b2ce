package exporter

import (
	"sync"
	"sync/atomic"
)

// sheet is what one scrape writes its series on. It is used again for others.
type sheet struct {
	families []family // by metric.id
	seen     map[uint64]struct{}
}

var (
	sheets         sync.Pool    // not in use
	expectedSeries atomic.Int64 // as the last one had
)

func newSheet() *sheet {
	if s, ok := sheets.Get().(*sheet); ok {
		return s
	}
	s := &sheet{families: make([]family, len(metrics)), seen: make(map[uint64]struct{}, expectedSeries.Load())}
	for i, m := range metrics {
		s.families[i].m = m
	}
	return s
}

// release gives the sheet to other scrapes. Nothing of it may be used any more.
func (s *sheet) release() {
	for i := range s.families {
		f := &s.families[i]
		clear(f.series) // which refer to labels
		f.series = f.series[:0]
	}
	clear(s.seen)
	sheets.Put(s)
}

// first reports whether a series is the first of its metric with these labels.
func (s *sheet) first(m *metric, l *labels) bool {
	key := l.key + uint64(m.id)*0x9e3779b97f4a7c15 // odd, so that those of two metrics differ
	if _, twice := s.seen[key]; twice {
		return false
	}
	s.seen[key] = struct{}{}
	return true
}
