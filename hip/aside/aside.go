// Package aside has streams of one's own beside those of the program: for copies that something in front of a hip.Runtime makes while the program's
// streams stand still, or that are nobody's.
package aside

import (
	"sync"

	"github.com/rocwire/rocwire/hip"
)

// Streams are at most one stream a device, made when it is first asked for. They wait for no other stream, the null stream neither, and live as long
// as their device is not reset. The zero Streams has none. Several goroutines may use it.
type Streams struct {
	mu   sync.Mutex
	open map[int32]hip.Stream
}

// The highest and the lowest priority. AMD's library has four queues for all streams of one priority, and a stream that waits for something holds up those that
// share its queue: the program's would hold up these, and what waits here the program's.
const (
	high = -1
	low  = 1
)

// New makes one such stream, which is the caller's to destroy.
func New(rt hip.Runtime, t hip.Thread) (hip.Stream, hip.Error) {
	return rt.StreamCreateWithPriority(t, hip.StreamNonBlocking, high)
}

// NewWaiting makes a stream for what may itself wait long, which is the caller's to destroy.
func NewWaiting(rt hip.Runtime, t hip.Thread) (hip.Stream, hip.Error) {
	return rt.StreamCreateWithPriority(t, hip.StreamNonBlocking, low)
}

// On is the stream of a thread's device.
func (x *Streams) On(rt hip.Runtime, t hip.Thread) (hip.Stream, hip.Error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if s, ok := x.open[t.Device]; ok {
		return s, hip.Success
	}
	s, code := New(rt, t)
	if code != hip.Success {
		return 0, code
	}
	if x.open == nil {
		x.open = map[int32]hip.Stream{}
	}
	x.open[t.Device] = s
	return s, hip.Success
}

// Is says whether s is one of them: nothing of the program's is on it.
func (x *Streams) Is(s hip.Stream) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, own := range x.open {
		if own == s {
			return true
		}
	}
	return false
}

// Forget is for a device that was reset, and its stream with it.
func (x *Streams) Forget(device int32) {
	x.mu.Lock()
	delete(x.open, device)
	x.mu.Unlock()
}

// Follow has what stream s of t's device is told from now on wait for what stream before of other's device has been told.
func Follow(rt hip.Runtime, t hip.Thread, s hip.Stream, other hip.Thread, before hip.Stream) hip.Error {
	v, code := rt.EventCreateWithFlags(other, hip.EventDisableTiming)
	if code != hip.Success {
		return code
	}
	if code = rt.EventRecord(other, v, before); code == hip.Success {
		code = rt.StreamWaitEvent(t, s, v, 0)
	}
	if e := rt.EventDestroy(other, v); code == hip.Success { // a destroyed event goes once nothing waits for it
		code = e
	}
	return code
}
