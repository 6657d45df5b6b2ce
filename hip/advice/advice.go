// Package advice keeps what a program has said about managed memory: with
// hipMemAdvise where it should be and who reads it, with hipMemPrefetchAsync
// where it was to go last. It is what hipMemRangeGetAttribute answers from.
//
// It is kept by pages, as the driver keeps it: advice for part of a page is for
// all of it, and a question about several pages is answered with what is true of
// every one.
package advice

import (
	"encoding/binary"
	"slices"
	"sync"

	"github.com/rocwire/rocwire/hip"
)

// PageSize is the granularity of advice, in bytes.
const PageSize = 4096

// Memory is the advice for one allocation. The zero Memory has none. It is safe
// for concurrent use.
type Memory struct {
	mu   sync.Mutex
	runs []run // by address, what nobody has advised left out
}

// run is the state of pages [from, to).
type run struct {
	from, to uint64
	state
}

// state is what was said of a page.
type state struct {
	readMostly, coarse    bool
	preferred, prefetched int32
	accessedBy            string // the numbers of devices, ascending, four bytes each: strings can be compared
}

var none = state{preferred: hip.InvalidDeviceID, prefetched: hip.InvalidDeviceID}

// Check judges the arguments of hipMemAdvise that do not concern the memory. There
// are as many devices as said.
func Check(advice hip.MemoryAdvise, device, devices int32) hip.Error {
	switch advice {
	case hip.MemAdviseSetReadMostly, hip.MemAdviseUnsetReadMostly:
		return hip.Success // for any device, or none
	}
	if device != hip.CPUDeviceID && (device < 0 || device >= devices) {
		return hip.ErrorInvalidDevice
	}
	switch advice {
	case hip.MemAdviseSetPreferredLocation, hip.MemAdviseUnsetPreferredLocation, hip.MemAdviseSetAccessedBy,
		hip.MemAdviseUnsetAccessedBy, hip.MemAdviseSetCoarseGrain, hip.MemAdviseUnsetCoarseGrain:
		return hip.Success
	}
	return hip.ErrorInvalidValue
}

// Advise notes advice, which Check has passed, for the count bytes at offset.
func (m *Memory) Advise(offset, count uint64, advice hip.MemoryAdvise, device int32) {
	m.change(offset, count, func(s *state) {
		switch advice {
		case hip.MemAdviseSetReadMostly, hip.MemAdviseUnsetReadMostly:
			s.readMostly = advice == hip.MemAdviseSetReadMostly
		case hip.MemAdviseSetPreferredLocation:
			s.preferred = device
		case hip.MemAdviseUnsetPreferredLocation:
			s.preferred = hip.InvalidDeviceID
		case hip.MemAdviseSetAccessedBy, hip.MemAdviseUnsetAccessedBy:
			s.setAccess(device, advice == hip.MemAdviseSetAccessedBy)
		case hip.MemAdviseSetCoarseGrain, hip.MemAdviseUnsetCoarseGrain:
			s.coarse = advice == hip.MemAdviseSetCoarseGrain
		}
	})
}

// Prefetch notes where the count bytes at offset were told to go.
func (m *Memory) Prefetch(offset, count uint64, device int32) {
	m.change(offset, count, func(s *state) { s.prefetched = device })
}

// devices are those of accessedBy: GPUs by number, and the CPU after them.
func (s *state) devices() []int32 {
	var list []int32
	for i := 0; i+4 <= len(s.accessedBy); i += 4 {
		list = append(list, int32(binary.LittleEndian.Uint32([]byte(s.accessedBy[i:]))))
	}
	return list
}

func (s *state) setAccess(device int32, on bool) {
	list := slices.DeleteFunc(s.devices(), func(d int32) bool { return d == device })
	if on {
		list = append(list, device)
	}
	// As unsigned numbers the CPU, a negative one, is last.
	slices.SortFunc(list, func(a, b int32) int { return int(int64(uint32(a)) - int64(uint32(b))) })
	var b []byte
	for _, d := range list {
		b = binary.LittleEndian.AppendUint32(b, uint32(d))
	}
	s.accessedBy = string(b)
}

// change has f change the state of all pages that hold some of the bytes.
func (m *Memory) change(offset, count uint64, f func(*state)) {
	if count == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []run
	for _, r := range m.cover(pages(offset, count)) {
		if r.changes {
			f(&r.state)
		}
		if r.state == none {
			continue
		}
		if n := len(out); n > 0 && out[n-1].to == r.from && out[n-1].state == r.state {
			out[n-1].to = r.to
			continue
		}
		out = append(out, r.run)
	}
	m.runs = out
}

func pages(offset, count uint64) (from, to uint64) {
	return offset / PageSize, (offset + count + PageSize - 1) / PageSize
}

// piece is a run that lies wholly inside or outside of the pages in question.
type piece struct {
	run
	changes bool
}

// cover is all runs, cut where the pages [from, to) begin and end, with runs of
// no advice where inside those there was none. mu is held.
func (m *Memory) cover(from, to uint64) []piece {
	var list []piece
	at := from // how far [from, to) is covered
	gap := func(end uint64) {
		if at < end {
			list = append(list, piece{run{at, end, none}, true})
			at = end
		}
	}
	for _, r := range m.runs {
		if r.to <= from {
			list = append(list, piece{r, false})
			continue
		}
		if r.from >= to {
			gap(to)
			list = append(list, piece{r, false})
			continue
		}
		if r.from < from {
			list = append(list, piece{run{r.from, from, r.state}, false})
		}
		gap(max(r.from, from))
		end := min(r.to, to)
		list = append(list, piece{run{max(r.from, from), end, r.state}, true})
		at = end
		if r.to > to {
			list = append(list, piece{run{to, r.to, r.state}, false})
		}
	}
	gap(to)
	return list
}
