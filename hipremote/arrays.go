package hipremote

import (
	"sync"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
)

// arraySet is what this side knows of the session's arrays, so that a posted copy that is wrong fails itself.
type arraySet struct {
	mu sync.RWMutex
	m  map[hip.Array]arrayShape
}

// arrayShape is an array as copies see it: the layers of one without height are rows.
type arrayShape struct {
	device  int32
	element uint64    // bytes
	size    [3]uint64 // bytes of a row, rows, slices
}

// learnArray3DCreate notes the array that a successful call made.
func (c *Client) learnArray3DCreate(q *hiprpc.Array3DCreateRequest, p *hiprpc.Array3DCreateReply) {
	d := &q.PAllocateArray
	a := arrayShape{device: q.Thread.Device, element: d.ElementSize()}
	a.size = [3]uint64{d.Width * a.element, max(d.Height, 1), max(d.Depth, 1)}
	if d.Height == 0 {
		a.size[1], a.size[2] = a.size[2], 1
	}
	c.handles.arrays.put(p.Array, a)
}

func (s *arraySet) put(h hip.Array, a arrayShape) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.m == nil {
		s.m = map[hip.Array]arrayShape{}
	}
	s.m[h] = a
}

// take forgets an array; false if a handle of this kind is none.
func (s *arraySet) take(k hip.HandleKind, h uint64) (arrayShape, bool) {
	if k != hip.HandleArray {
		return arrayShape{}, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	a, ok := s.m[hip.Array(h)]
	delete(s.m, hip.Array(h))
	return a, ok
}

func (s *arraySet) clear(device int32) {
	s.mu.Lock()
	for h, a := range s.m {
		if a.device == device {
			delete(s.m, h)
		}
	}
	s.mu.Unlock()
}

func (s *arraySet) get(h hip.Array) (arrayShape, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	a, ok := s.m[h]
	return a, ok
}

// check judges a box at a place in an array, and says on which device that is.
func (s *arraySet) check(h hip.Array, box *hip.DrvMEMCPY3D, at [3]uint64) (device int32, code hip.Error) {
	a, ok := s.get(h)
	if !ok {
		return -1, hip.ErrorInvalidValue
	}
	for i, n := range [3]uint64{box.WidthInBytes, box.Height, box.Depth} {
		if at[i] >= a.size[i] || n > a.size[i]-at[i] {
			return -1, hip.ErrorInvalidValue
		}
	}
	return a.device, hip.Success
}

// whole cuts a box down to whole elements of its arrays, as AMD's runtime does.
func (s *arraySet) whole(box *hip.DrvMEMCPY3D) {
	if a, ok := s.get(box.SrcArray); ok && box.SrcMemoryType == hip.MemoryTypeArray {
		box.SrcXInBytes -= box.SrcXInBytes % a.element
		box.WidthInBytes -= box.WidthInBytes % a.element
	}
	if a, ok := s.get(box.DstArray); ok && box.DstMemoryType == hip.MemoryTypeArray {
		box.DstXInBytes -= box.DstXInBytes % a.element
		box.WidthInBytes -= box.WidthInBytes % a.element
	}
}
