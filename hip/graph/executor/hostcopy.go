package executor

import (
	"sync"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/aside"
)

// ofHost says whether a copy reads or writes host memory.
func (e *exec) ofHost(t hip.Thread, c *hip.GraphCopy) bool {
	if c.General != nil {
		host := func(m hip.MemoryType) bool { return m != hip.MemoryTypeDevice && m != hip.MemoryTypeArray }
		return host(c.General.SrcMemoryType) || host(c.General.DstMemoryType)
	}
	if c.Peer || c.Kind == hip.MemcpyDeviceToDevice || c.Kind == hip.MemcpyDeviceToDeviceNoCU || c.Width == 0 || c.Height == 0 || c.Depth == 0 {
		return false
	}
	for _, p := range [...]hip.Ptr{c.Dst, c.Src} {
		if a, err := e.rt.PointerGetAttributes(t, p); err != hip.Success || a.Type != hip.MemoryTypeDevice {
			return true
		}
	}
	return false
}

// lands says whether a copy brings something into ordinary memory of the host:
// as in AMD's library, a launch returns when it is there.
func (e *exec) lands(t hip.Thread, c *hip.GraphCopy) bool {
	dst := c.Dst
	if x := c.General; x != nil {
		switch x.DstMemoryType {
		case hip.MemoryTypeHost:
			dst = x.DstHost
		case hip.MemoryTypeUnified, hip.MemoryTypeManaged:
			dst = x.DstDevice
		default:
			return false
		}
	} else if c.Kind == hip.MemcpyHostToDevice || c.Peer || c.Width == 0 || c.Height == 0 || c.Depth == 0 {
		return false
	}
	a, err := e.rt.PointerGetAttributes(t, dst)
	return err != hip.Success || a.Type == hip.MemoryTypeUnregistered
}

// takesOff says whether a copy takes something from ordinary memory of the host.
// AMD's library makes such a copy while it issues it, before anything that comes
// later in the graph, and programs that forget the dependency count on that.
func (e *exec) takesOff(t hip.Thread, c *hip.GraphCopy) bool {
	if len(e.streams) == 1 || c.General != nil || c.Peer || c.Width == 0 || c.Height == 0 || c.Depth == 0 ||
		c.Kind != hip.MemcpyHostToDevice && c.Kind != hip.MemcpyDefault {
		return false
	}
	a, err := e.rt.PointerGetAttributes(t, c.Src)
	return err != hip.Success || a.Type == hip.MemoryTypeUnregistered
}

// copyInTurn copies host memory when the stream comes to it. A copy that is
// issued may read ordinary memory at once, or wait: in a graph it does neither.
func (e *exec) copyInTurn(t hip.Thread, s hip.Stream, c hip.GraphCopy) hip.Error {
	at := t // the copy is the device's whose memory it touches: on another it would wait for that one's streams, among them perhaps the launch's
	ends := [...]hip.Ptr{c.Dst, c.Src}
	if x := c.General; x != nil {
		ends = [...]hip.Ptr{volume(x.Dst()), volume(x.Src())}
	}
	for _, p := range ends {
		if a, err := e.rt.PointerGetAttributes(t, p); err == hip.Success && a.Type == hip.MemoryTypeDevice {
			at.Device = a.Device
			break
		}
	}
	side, err := e.sides.enter(at, func() (hip.Stream, hip.Error) { return aside.New(e.rt, at) })
	if err != hip.Success {
		return err
	}
	err = e.rt.LaunchHostFunc(t, s, func() {
		err := runCopy(e.rt, at, side, &c)
		if err == hip.Success {
			err = e.rt.StreamSynchronize(at, side)
		}
		e.sides.done(e.rt, err)
	})
	if err != hip.Success {
		e.sides.done(e.rt, hip.Success)
	}
	return err
}

// volume is the address of a side of a box, 0 if it is an array.
func volume(s hip.BoxSide) hip.Ptr {
	if s.MemoryType == hip.MemoryTypeArray {
		return 0
	}
	return s.Ptr()
}

// sides are streams beside those of a launch, one a device. They are there as
// long as the graph or what is done on them is.
type sides struct {
	mu      sync.Mutex
	users   int // the graph, and what is under way
	streams map[hip.Thread]hip.Stream
	failed  hip.Error // the first failure, returned by the next launch
}

// enter counts a user and is its stream.
func (x *sides) enter(t hip.Thread, create func() (hip.Stream, hip.Error)) (s hip.Stream, err hip.Error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	k := hip.Thread{Device: t.Device}
	if s = x.streams[k]; s == 0 {
		if s, err = create(); err != hip.Success {
			return 0, err
		}
		if x.streams == nil {
			x.streams = map[hip.Thread]hip.Stream{}
		}
		x.streams[k] = s
	}
	x.users++
	return s, hip.Success
}

// done is the end of a user's work.
func (x *sides) done(r hip.Runtime, err hip.Error) {
	x.mu.Lock()
	if x.failed == hip.Success {
		x.failed = err
	}
	x.mu.Unlock()
	x.leave(r)
}

// leave gives the streams back once nobody uses them.
func (x *sides) leave(r hip.Runtime) {
	x.mu.Lock()
	x.users--
	gone := x.streams
	if x.users > 0 {
		gone = nil
	} else {
		x.streams = nil
	}
	x.mu.Unlock()
	for t, s := range gone {
		r.StreamDestroy(t, s)
	}
}

// failure is what failed since it was asked last.
func (x *sides) failure() (err hip.Error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	err, x.failed = x.failed, hip.Success
	return err
}
