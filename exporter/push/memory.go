package push

import "time"

// record is one that waits.
type record struct {
	seq  uint64 // on disk, from 1; 0 while it is in memory only
	time time.Time
	data []byte
}

// size is what a record takes, in memory or on disk.
func (r *record) size() int64 { return int64(frameHeader + len(r.data)) }

// memory is a queue of records in memory.
type memory struct {
	recs  []*record
	bytes int64
}

func (m *memory) push(r *record) {
	m.recs = append(m.recs, r)
	m.bytes += r.size()
}

// pop drops the oldest, which must be there.
func (m *memory) pop() {
	m.bytes -= m.recs[0].size()
	m.recs[0] = nil // what was sent must not be kept by the slice
	m.recs = m.recs[1:]
	if len(m.recs) == 0 {
		m.recs = nil
	}
}
