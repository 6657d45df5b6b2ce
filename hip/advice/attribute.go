package advice

import (
	"encoding/binary"
	"slices"

	"github.com/rocwire/rocwire/hip"
)

// Attribute is what hipMemRangeGetAttribute writes, size bytes, about the count
// bytes at offset. ErrorInvalidValue: no such attribute, or not its size.
func (m *Memory) Attribute(offset, count uint64, attribute hip.MemRangeAttribute, size uint64) ([]byte, hip.Error) {
	if size == 0 || size%4 != 0 || attribute != hip.MemRangeAttributeAccessedBy && size != 4 {
		return nil, hip.ErrorInvalidValue
	}
	s := m.common(offset, count)
	var v int32
	switch attribute {
	case hip.MemRangeAttributeReadMostly:
		if s.readMostly {
			v = 1
		}
	case hip.MemRangeAttributePreferredLocation:
		v = s.preferred
	case hip.MemRangeAttributeLastPrefetchLocation:
		v = s.prefetched
	case hip.MemRangeAttributeCoherencyMode:
		v = int32(s.coherency)
	case hip.MemRangeAttributeAccessedBy:
		return list(s.accessedBy, size), hip.Success
	default:
		return nil, hip.ErrorInvalidValue
	}
	return binary.LittleEndian.AppendUint32(nil, uint32(v)), hip.Success
}

// maxList bounds the answer to a question for the devices that access memory: a
// caller may ask for more than there can be.
const maxList = 4 * 1024

// list is as many of the devices as size bytes hold, followed by none.
func list(devices []int32, size uint64) []byte {
	var b []byte
	for i := range min(size, maxList) / 4 {
		d := int32(hip.InvalidDeviceID)
		if i < uint64(len(devices)) {
			d = devices[i]
		}
		b = binary.LittleEndian.AppendUint32(b, uint32(d))
	}
	return b
}

// summary is what several pages have in common.
type summary struct {
	readMostly            bool
	preferred, prefetched int32
	accessedBy            []int32
	coherency             hip.MemRangeCoherencyMode
}

// common is what is true of all pages that hold some of the bytes.
func (m *Memory) common(offset, count uint64) summary {
	m.mu.Lock()
	defer m.mu.Unlock()
	var s summary
	first := true
	for _, r := range m.cover(pages(offset, max(count, 1))) {
		if !r.changes {
			continue
		}
		coherency := hip.MemRangeCoherencyModeFineGrain
		if r.coarse {
			coherency = hip.MemRangeCoherencyModeCoarseGrain
		}
		if first {
			s = summary{r.readMostly, r.preferred, r.prefetched, r.devices(), coherency}
			first = false
			continue
		}
		s.readMostly = s.readMostly && r.readMostly
		if s.preferred != r.preferred {
			s.preferred = hip.InvalidDeviceID
		}
		if s.prefetched != r.prefetched {
			s.prefetched = hip.InvalidDeviceID
		}
		if s.coherency != coherency {
			s.coherency = hip.MemRangeCoherencyModeIndeterminate
		}
		has := r.devices()
		s.accessedBy = slices.DeleteFunc(s.accessedBy, func(d int32) bool { return !slices.Contains(has, d) })
	}
	return s
}
