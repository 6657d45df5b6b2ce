package hipremote

import (
	"sync"

	"github.com/rocwire/rocwire/hip"
)

// A copy to the device reads host memory when the stream comes to it, and a host function before it on the stream may be what fills that
// memory. Sending the bytes when the copy is issued would send what was there before.

// laterCopies has, for each device, the stream on which such copies run.
type laterCopies struct {
	mu      sync.Mutex
	streams map[int32]hip.Stream
}

// laterStream is a stream that waits for no other: copies on it run while the stream that asked for them stands still.
func (c *Client) laterStream(t hip.Thread) (hip.Stream, hip.Error) {
	c.later.mu.Lock()
	defer c.later.mu.Unlock()
	if s, ok := c.later.streams[t.Device]; ok {
		return s, hip.Success
	}
	s, code := c.StreamCreateWithPriority(t, hip.StreamNonBlocking, 0)
	if code != hip.Success {
		return 0, code
	}
	if c.later.streams == nil {
		c.later.streams = map[int32]hip.Stream{}
	}
	c.later.streams[t.Device] = s
	return s, hip.Success
}

// copyLater is asked about copies to the device while host functions are due. A copy that waits lets them run first. One that does not is
// done in its turn, if its source is memory that must stay as it is until then (hipHostMalloc, hipHostRegister); other memory may be used
// again at once, so its bytes must go now: done is false.
func (c *Client) copyLater(t hip.Thread, dst, src hip.Ptr, s shape) (done bool, code hip.Error) {
	if s.wait {
		return false, c.StreamSynchronize(t, s.stream)
	}
	b := c.mem.find(src)
	if b == nil || b.host == nil {
		return false, hip.Success
	}
	aside, code := c.laterStream(t)
	if code != hip.Success {
		return false, code
	}
	turn, life := s, c.async.life.Load()
	turn.stream, turn.wait = aside, true
	return true, c.LaunchHostFunc(t, s.stream, func() {
		code := c.doCopy(nil, hip.OpMemcpyAsync, t, dst, src, turn)
		if code == hip.Success {
			code = c.StreamSynchronize(t, aside)
		}
		if code != hip.Success {
			c.async.local(c.streamDevice(t, s.stream), life, code)
		}
	})
}

// forget drops the stream of a device that was reset.
func (l *laterCopies) forget(device int32) {
	l.mu.Lock()
	delete(l.streams, device)
	l.mu.Unlock()
}
