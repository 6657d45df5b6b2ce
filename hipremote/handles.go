package hipremote

import (
	"sync"

	"github.com/rocwire/rocwire/hip"
)

// handles are the streams and events of this session, so that a posted call with a wrong one fails itself.
type handles struct {
	streams handleSet[hip.Stream]
	events  handleSet[hip.Event]
	arrays  arraySet
}

// handleSet is a set that is looked at far more often than it changes.
type handleSet[H ~uint64] struct {
	mu sync.RWMutex
	m  map[H]int32 // with the device that each belongs to
}

func (s *handleSet[H]) has(h H) bool {
	s.mu.RLock()
	_, ok := s.m[h]
	s.mu.RUnlock()
	return ok
}

func (s *handleSet[H]) empty() bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.m) == 0
}

func (s *handleSet[H]) add(h H, device int32) {
	s.mu.Lock()
	if s.m == nil {
		s.m = map[H]int32{}
	}
	s.m[h] = device
	s.mu.Unlock()
}

func (s *handleSet[H]) remove(h H) {
	s.mu.Lock()
	delete(s.m, h)
	s.mu.Unlock()
}

func (s *handleSet[H]) clear(device int32) {
	s.mu.Lock()
	for h, d := range s.m {
		if d == device {
			delete(s.m, h)
		}
	}
	s.mu.Unlock()
}

func (h *handles) stream(s hip.Stream) hip.Error {
	if s <= hip.StreamLegacy {
		return hip.Success
	}
	if !h.streams.has(s) {
		return hip.ErrorContextIsDestroyed
	}
	return hip.Success
}

// StreamGetDevice is hipStreamGetDevice. It is asked before every launch on a stream, so it is answered here.
func (c *Client) StreamGetDevice(t hip.Thread, stream hip.Stream) (int32, hip.Error) {
	if _, code := c.ready(); code != hip.Success {
		return 0, code
	}
	if stream <= hip.StreamLegacy {
		return t.Device, hip.Success
	}
	s := &c.handles.streams
	s.mu.RLock()
	d, ok := s.m[stream]
	s.mu.RUnlock()
	if !ok {
		return 0, hip.ErrorContextIsDestroyed
	}
	return d, hip.Success
}

func (h *handles) event(e hip.Event) hip.Error {
	if !h.events.has(e) {
		return hip.ErrorInvalidHandle
	}
	return hip.Success
}

// learn notes what a successful call made or ended. All these requests begin with the thread, and that with its device.
func (h *handles) learn(op uint16, req, rep []byte) {
	switch op {
	case hip.OpStreamCreateWithPriority:
		h.streams.add(hip.Stream(u64(rep, 0)), int32(uint32(u64(req, 0))))
	case hip.OpStreamDestroy:
		h.streams.remove(hip.Stream(u64(req, 8)))
	case hip.OpEventCreateWithFlags:
		h.events.add(hip.Event(u64(rep, 0)), int32(uint32(u64(req, 0))))
	case hip.OpEventDestroy:
		h.events.remove(hip.Event(u64(req, 8)))
	case hip.OpArray3DCreate:
		h.arrays.add(req, rep)
	case hip.OpArrayDestroy:
		h.arrays.remove(hip.Array(u64(req, 8)))
	}
}

// clear forgets what was on a device that was reset.
func (h *handles) clear(device int32) {
	h.streams.clear(device)
	h.events.clear(device)
	h.arrays.clear(device)
}

// checkPosted judges a posted call as far as this side can, by the layout of its request: thread (8 bytes), then the parameters.
func (c *Client) checkPosted(op uint16, req []byte) hip.Error {
	switch op {
	case hip.OpEventRecord:
		if code := c.handles.event(hip.Event(u64(req, 8))); code != hip.Success {
			return code
		}
		return c.handles.stream(hip.Stream(u64(req, 16)))
	case hip.OpStreamWaitEvent:
		if len(req) >= 28 && (req[24]|req[25]|req[26]|req[27]) != 0 {
			return hip.ErrorInvalidValue // flags
		}
		if code := c.handles.event(hip.Event(u64(req, 16))); code != hip.Success {
			return code
		}
		return c.handles.stream(hip.Stream(u64(req, 8)))
	case hip.OpMemsetAsync, hip.OpMemset2DAsync, hip.OpMemsetD8Async, hip.OpMemsetD16Async, hip.OpMemsetD32Async:
		if code := c.handles.stream(hip.Stream(u64(req, len(req)-8))); code != hip.Success {
			return code
		}
		return c.checkSet(op, req)
	}
	return hip.Success
}

// checkSet judges the memory that a memset is going to write.
func (c *Client) checkSet(op uint16, req []byte) hip.Error {
	p := hip.Ptr(u64(req, 8))
	var n uint64
	switch op {
	case hip.OpMemsetAsync:
		n = u64(req, 20)
	case hip.OpMemsetD8Async:
		n = u64(req, 17)
	case hip.OpMemsetD16Async:
		if n = u64(req, 18); n > 1<<46 {
			return hip.ErrorInvalidValue
		}
		n *= 2
	case hip.OpMemsetD32Async:
		if n = u64(req, 20); n > 1<<46 {
			return hip.ErrorInvalidValue
		}
		n *= 4
	case hip.OpMemset2DAsync:
		pitch, width, height := u64(req, 16), u64(req, 28), u64(req, 36)
		if width == 0 || height == 0 {
			return hip.Success
		}
		s := shape{dpitch: pitch, spitch: pitch, width: width, height: height}
		if code := s.check(p, p); code != hip.Success {
			return code
		}
		n = s.extent(pitch)
	}
	if n == 0 {
		return hip.Success
	}
	if p == 0 {
		return hip.ErrorInvalidValue
	}
	at, code := c.locate(p, n, true)
	if code == hip.Success && !at.device {
		if b := c.mem.find(p); b == nil || b.host == nil {
			return hip.ErrorInvalidValue
		}
	}
	return code
}
