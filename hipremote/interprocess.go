package hipremote

import (
	"sync"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
)

// interprocess are the events that other processes may have, too. A process may tell another by its own means
// that it has recorded one, so a record of them has arrived when the call returns.
type interprocess struct {
	mu sync.Mutex
	m  map[hip.Event]bool
}

func (s *interprocess) add(e hip.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.m == nil {
		s.m = map[hip.Event]bool{}
	}
	s.m[e] = true
}

func (s *interprocess) remove(e hip.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.m, e)
}

func (s *interprocess) has(e hip.Event) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.m[e]
}

// any is one of them, 0 if there is none.
func (s *interprocess) any() hip.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	for e := range s.m {
		return e
	}
	return 0
}

func (c *Client) learnIpcGetEventHandle(q *hiprpc.IpcGetEventHandleRequest, _ *hiprpc.IpcGetEventHandleReply) {
	c.handles.shared.add(q.Event)
	c.recordings.drop(q.Event)
}

func (c *Client) learnIpcOpenEventHandle(_ *hiprpc.IpcOpenEventHandleRequest, p *hiprpc.IpcOpenEventHandleReply) {
	c.handles.shared.add(p.Event)
}

// arrived returns when what was posted so far has been issued to the device.
func (c *Client) arrived(t hip.Thread, e hip.Event) hip.Error {
	code := c.EventQuery(t, e)
	if code == hip.ErrorNotReady {
		return hip.Success
	}
	return code
}

// EventRecord is hipEventRecord.
func (c *Client) EventRecord(t hip.Thread, event hip.Event, stream hip.Stream) hip.Error {
	ct := c.begin()
	code := c.postEventRecord(&ct, t, event, stream)
	c.end(&ct, hip.OpEventRecord, code)
	if code == hip.Success && c.handles.shared.has(event) {
		code = c.arrived(t, event)
	}
	return code
}

func (c *Client) postEventRecord(ct *callTime, t hip.Thread, event hip.Event, stream hip.Stream) hip.Error {
	l, code := c.posting(t, stream)
	if code == hip.Success {
		code = c.handles.event(event)
	}
	if code == hip.Success {
		code = c.handles.stream(stream)
	}
	if code == hip.Success && c.handles.Device(hip.HandleEvent, uint64(event), t.Device) != c.handles.Device(hip.HandleStream, uint64(stream), t.Device) {
		code = hip.ErrorInvalidHandle
	}
	if code != hip.Success {
		return code
	}
	q := hiprpc.EventRecordRequest{Thread: t, Event: event, Stream: stream}
	var req [hiprpc.EventRecordRequestLen]byte
	q.Put(&req)
	return c.record(t, event, stream, func() hip.Error { return c.send(ct, l, hip.OpEventRecord, req[:], nil) })
}
