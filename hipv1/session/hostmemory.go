package session

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipv1"
)

// maxAttribute bounds what is told of a range of memory, in bytes, and maxAttributes how many at once.
const (
	maxAttribute  = 64 << 10
	maxAttributes = 8
)

// hostMemory is memory of this machine that devices reach, which the client can only copy from and to, pitched memory, and advice.
func (s *Session) hostMemory(c *call) (any, hip.Error) {
	t := s.thread()
	switch q := c.body.(type) {
	case *hipv1.HostAllocRequest:
		p, code := s.malloc(q.Size, func() (hip.Ptr, hip.Error) { return s.Runtime.HostMalloc(t, q.Size, q.Flags) })
		return &hipv1.HostAllocReply{Ptr: p}, code
	case *hipv1.HostFreeRequest:
		return nil, s.freed(q.Ptr, func(p hip.Ptr) hip.Error { return s.Runtime.HostFree(t, p) })
	case *hipv1.HostGetDevicePointerRequest:
		if !s.mem.has(q.HostPtr, 1) {
			return nil, hip.ErrorInvalidValue
		}
		p, code := s.Runtime.HostGetDevicePointer(t, hip.Ptr(q.HostPtr), q.Flags)
		return &hipv1.HostGetDevicePointerReply{DevicePtr: uint64(p)}, code
	case *hipv1.HostGetFlagsRequest:
		if !s.mem.has(q.HostPtr, 1) {
			return nil, hip.ErrorInvalidValue
		}
		f, code := s.Runtime.HostGetFlags(t, hip.Ptr(q.HostPtr))
		return &hipv1.HostGetFlagsReply{Flags: f}, code
	case *hipv1.MemAllocPitchRequest:
		return s.mallocPitch(q)
	case *hipv1.MemAdviseRequest:
		if !s.mem.has(q.DevPtr, q.Count) {
			return nil, hip.ErrorInvalidValue
		}
		return nil, s.Runtime.MemAdvise(t, hip.Ptr(q.DevPtr), q.Count, hip.MemoryAdvise(q.Advice), q.Device)
	case *hipv1.MemPrefetchAsyncRequest:
		st, code := s.stream(q.Stream)
		if code != hip.Success {
			return nil, code
		}
		if !s.mem.has(q.DevPtr, q.Count) {
			return nil, hip.ErrorInvalidValue
		}
		return nil, s.Runtime.MemPrefetchAsync(t, hip.Ptr(q.DevPtr), q.Count, q.Device, st)
	case *hipv1.MemRangeGetAttributeRequest:
		return s.rangeAttribute(q.DataSize, q.Attribute, q.DevPtr, q.Count)
	case *hipv1.MemRangeGetAttributesRequest:
		return s.rangeAttributes(c, q)
	}
	return nil, hip.ErrorNotSupported
}

// pitchUnit is what rows of pitched memory begin at, as on AMD's cards.
const pitchUnit = 256

// mallocPitch is hipMemAllocPitch.
func (s *Session) mallocPitch(q *hipv1.MemAllocPitchRequest) (any, hip.Error) {
	if q.WidthInBytes == 0 || q.Height == 0 || q.ElementSize != 4 && q.ElementSize != 8 && q.ElementSize != 16 {
		return nil, hip.ErrorInvalidValue
	}
	pitch := (q.WidthInBytes + pitchUnit - 1) &^ (pitchUnit - 1)
	n, ok := rows(pitch, pitch, q.Height)
	if !ok || pitch < q.WidthInBytes {
		return nil, hip.ErrorOutOfMemory
	}
	if code := s.captures.RefuseUnsafe(s.thread()); code != hip.Success {
		return nil, code
	}
	p, code := s.malloc(n, func() (hip.Ptr, hip.Error) { return s.Runtime.Malloc(s.thread(), n) })
	return &hipv1.MemAllocPitchReply{Dptr: p, Pitch: pitch}, code
}

func (s *Session) rangeAttribute(size uint64, attribute int32, ptr, count uint64) (any, hip.Error) {
	if size > maxAttribute || !s.mem.has(ptr, count) {
		return nil, hip.ErrorInvalidValue
	}
	b, code := s.Runtime.MemRangeGetAttribute(s.thread(), size, hip.MemRangeAttribute(attribute), hip.Ptr(ptr), count)
	return b, code
}

// rangeAttributes tells several, one behind the other.
func (s *Session) rangeAttributes(c *call, q *hipv1.MemRangeGetAttributesRequest) (any, hip.Error) {
	if q.NumAttributes > maxAttributes {
		return nil, hip.ErrorInvalidValue
	}
	which, err := hipv1.Int32s(c.tail, q.NumAttributes)
	if err != nil {
		return nil, s.violates(c, "%v", err)
	}
	sizes, err := hipv1.Uint64s(c.tail[4*len(which):], q.NumAttributes)
	if err != nil {
		return nil, s.violates(c, "%v", err)
	}
	var all []byte
	for i := range which {
		b, code := s.rangeAttribute(sizes[i], which[i], q.DevPtr, q.Count)
		if code != hip.Success {
			return nil, code
		}
		all = append(all, b.([]byte)...)
	}
	return all, hip.Success
}
