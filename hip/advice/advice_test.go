package advice

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/rocwire/rocwire/hip"
)

const page = PageSize

func ask(t *testing.T, m *Memory, offset, count uint64, a hip.MemRangeAttribute, size uint64) []int32 {
	t.Helper()
	b, err := m.Attribute(offset, count, a, size)
	if err != hip.Success {
		t.Fatalf("attribute %d of %d bytes: %v", a, size, err)
	}
	var v []int32
	for ; len(b) >= 4; b = b[4:] {
		v = append(v, int32(binary.LittleEndian.Uint32(b)))
	}
	return v
}

func TestPages(t *testing.T) {
	var m Memory
	is := func(offset, count uint64, a hip.MemRangeAttribute, want ...int32) {
		t.Helper()
		if got := ask(t, &m, offset, count, a, uint64(4*len(want))); !slices.Equal(got, want) {
			t.Errorf("attribute %d of [%d, %d): %d, want %d", a, offset, offset+count, got, want)
		}
	}
	is(0, 3*page, hip.MemRangeAttributeReadMostly, 0)
	is(0, 3*page, hip.MemRangeAttributePreferredLocation, -2)
	is(0, 3*page, hip.MemRangeAttributeLastPrefetchLocation, -2)
	is(0, 3*page, hip.MemRangeAttributeAccessedBy, -2, -2)
	m.Advise(page/2, page, hip.MemAdviseSetPreferredLocation, 1) // in part of two pages is in two pages
	is(0, 2*page, hip.MemRangeAttributePreferredLocation, 1)
	is(0, 3*page, hip.MemRangeAttributePreferredLocation, -2)
	is(2*page, page, hip.MemRangeAttributePreferredLocation, -2)
	m.Advise(0, 3*page, hip.MemAdviseSetReadMostly, 99)
	is(0, 3*page, hip.MemRangeAttributeReadMostly, 1)
	m.Advise(page, 1, hip.MemAdviseUnsetReadMostly, -12)
	is(0, 3*page, hip.MemRangeAttributeReadMostly, 0)
	is(2*page, page, hip.MemRangeAttributeReadMostly, 1)
	is(0, 2*page, hip.MemRangeAttributePreferredLocation, 1) // other advice stays
	for _, d := range []int32{hip.CPUDeviceID, 1, 0, 1} {
		m.Advise(0, 3*page, hip.MemAdviseSetAccessedBy, d)
	}
	is(0, 3*page, hip.MemRangeAttributeAccessedBy, 0, 1, -1, -2)
	is(0, 3*page, hip.MemRangeAttributeAccessedBy, 0)
	m.Advise(page, page, hip.MemAdviseUnsetAccessedBy, 0)
	is(0, 3*page, hip.MemRangeAttributeAccessedBy, 1, -1)
	is(0, page, hip.MemRangeAttributeAccessedBy, 0, 1)
	m.Prefetch(0, 3*page, 1)
	m.Prefetch(page, page, hip.CPUDeviceID)
	is(0, 3*page, hip.MemRangeAttributeLastPrefetchLocation, -2)
	is(page, page, hip.MemRangeAttributeLastPrefetchLocation, -1)
	is(0, page, hip.MemRangeAttributeCoherencyMode, 0)
	m.Advise(0, page, hip.MemAdviseSetCoarseGrain, 0)
	is(0, page, hip.MemRangeAttributeCoherencyMode, 1)
	is(0, 2*page, hip.MemRangeAttributeCoherencyMode, 2)
}

func TestRefused(t *testing.T) {
	var m Memory
	for _, c := range []struct {
		a    hip.MemRangeAttribute
		size uint64
	}{
		{hip.MemRangeAttributeReadMostly, 0}, {hip.MemRangeAttributeReadMostly, 8}, {hip.MemRangeAttributePreferredLocation, 5},
		{hip.MemRangeAttributeAccessedBy, 10}, {999, 4},
	} {
		if _, err := m.Attribute(0, page, c.a, c.size); err != hip.ErrorInvalidValue {
			t.Errorf("attribute %d of %d bytes: %v", c.a, c.size, err)
		}
	}
	if b, err := m.Attribute(0, page, hip.MemRangeAttributeAccessedBy, 1<<62); err != hip.Success || len(b) > maxList {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	for _, c := range []struct {
		advice hip.MemoryAdvise
		device int32
		want   hip.Error
	}{
		{hip.MemAdviseSetReadMostly, 99, hip.Success}, {hip.MemAdviseSetAccessedBy, 2, hip.ErrorInvalidDevice},
		{hip.MemAdviseSetAccessedBy, -1, hip.Success}, {hip.MemAdviseSetPreferredLocation, -2, hip.ErrorInvalidDevice},
		{-1, 0, hip.ErrorInvalidValue}, {hip.MemAdviseUnsetCoarseGrain, 1, hip.Success},
	} {
		if err := Check(c.advice, c.device, 2); err != c.want {
			t.Errorf("advice %d for device %d: %v, want %v", c.advice, c.device, err, c.want)
		}
	}
}

// Random advice against a table of pages.
func TestModel(t *testing.T) {
	const n = 40
	r := rand.New(rand.NewPCG(1, 2))
	var m Memory
	var want [n]int32
	for i := range want {
		want[i] = -2
	}
	for range 2000 {
		from := r.Uint64N(n)
		count := 1 + r.Uint64N(n-from)
		if d := int32(r.IntN(4)) - 1; d == 2 {
			m.Advise(from*page, count*page, hip.MemAdviseUnsetPreferredLocation, 0)
			for i := range count {
				want[from+i] = -2
			}
		} else {
			m.Advise(from*page, count*page, hip.MemAdviseSetPreferredLocation, d)
			for i := range count {
				want[from+i] = d
			}
		}
		for i := range want {
			if got := ask(t, &m, uint64(i)*page, page, hip.MemRangeAttributePreferredLocation, 4); got[0] != want[i] {
				t.Fatalf("page %d: %d, want %d", i, got[0], want[i])
			}
		}
		for i, x := range m.runs {
			if x.from >= x.to || x.state == none || i > 0 && (m.runs[i-1].to > x.from || m.runs[i-1].to == x.from && m.runs[i-1].state == x.state) {
				t.Fatalf("runs %+v", m.runs)
			}
		}
	}
}
