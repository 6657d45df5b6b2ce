package hipremote

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/aside"
)

// A copy to the device reads host memory when the stream comes to it, and a host function before it on the stream may be what fills that
// memory. Sending the bytes when the copy is issued would send what was there before.

// behindFuncs says whether what a stream is told now may have host functions before it. What this side does in their place, on streams of its own,
// has had them: waiting for a function there would be waiting for itself.
func (c *Client) behindFuncs(st hip.Stream) bool { return c.funcs.due.Load() > 0 && !c.aside.Is(st) }

// apart has a copy on a stream aside take what lies in regions as memory of this process alone. It is made in place of a host function, before which regions
// are pulled and after which they are pushed. To AMD's library pinned memory is a device's, and a copy of another device may go by its null stream: behind
// streams that wait for this very function.
func (c *Client) apart(l *link, st hip.Stream, sides ...*side) {
	for _, s := range sides {
		if s.region != nil && s.device && !l.direct && !c.onlyDevice() && c.aside.Is(st) {
			s.device = false
		}
	}
}

// copyLater is asked about copies to the device that host functions may be before. A copy that waits lets them run first. One that does not is
// done in its turn, if its source is memory that must stay as it is until then (hipHostMalloc, hipHostRegister); other memory may be used
// again at once, so its bytes must go now: done is false.
func (c *Client) copyLater(t hip.Thread, d *side, dst, src hip.Ptr, s shape) (done bool, code hip.Error) {
	if s.wait {
		return false, c.StreamSynchronize(t, s.stream)
	}
	b := c.mem.find(src)
	if b == nil || b.host == nil {
		return false, hip.Success
	}
	return c.copyInTurn(t, s.stream, d, s.extent(s.dpitch), func(t hip.Thread, own hip.Stream) hip.Error {
		turn := s
		turn.stream, turn.wait = own, true
		return c.doCopy(nil, hip.OpMemcpyAsync, t, dst, src, turn)
	})
}

// copyInTurn makes a copy to n bytes of device memory when a stream comes to it, on a stream aside. As any copy it belongs to the null stream of the
// device whose memory it is, too. That must not wait for itself, so the stream aside is that device's. Not done is what such a stream cannot do;
// the stream has come to it.
func (c *Client) copyInTurn(t hip.Thread, st hip.Stream, d *side, n uint64, f func(t hip.Thread, own hip.Stream) hip.Error) (done bool, code hip.Error) {
	on := hip.Thread{Device: c.streamDevice(t, st), ID: t.ID}
	home := on
	if o := c.owner(t, d, d.addr, n); o >= 0 {
		home.Device = o
	}
	if home != on && !c.usesOwn(home, d.addr) {
		return false, c.StreamSynchronize(t, st)
	}
	own, code := c.aside.On(c, home)
	if code == hip.Success && home != on {
		code = aside.Follow(c, on, st, home, hip.StreamNull)
	}
	if code != hip.Success {
		return false, code
	}
	code = c.InTurn(t, st, func() hip.Error {
		code := f(home, own)
		if code == hip.Success {
			code = c.StreamSynchronize(home, own)
		}
		return code
	})
	if code == hip.Success && home != on {
		code = aside.Follow(c, home, hip.StreamNull, on, st)
	}
	return true, code
}

// usesOwn says whether a device may use its memory at p: to what the program has mapped only if it has said so.
func (c *Client) usesOwn(t hip.Thread, p hip.Ptr) bool {
	if !c.mem.isReserved(p) {
		return true
	}
	f, code := c.MemGetAccess(t, &hip.MemLocation{Type: hip.MemLocationTypeDevice, Id: t.Device}, p)
	return code == hip.Success && f == uint64(hip.MemAccessFlagsProtReadWrite)
}
