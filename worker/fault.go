package worker

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/wire"
)

// maxFailures bounds the failures that wait to be heard of.
const maxFailures = 256

// failures are those of calls that got no reply, and of streams. The first of a stream is told at once in a notice, and again as the code of
// the next reply that tells the client the state of its streams: a notice may be read after the reply it came before. Each has a number,
// so that the client reports it once.
//
// A failure is of the device that it happened on, and nothing to others. A device that is reset begins anew, which has nothing to do with what went wrong
// before: a call that fails late must not end it. So a failure is always of a life, what was when its call began: the number of resets so far.
type failures struct {
	life atomic.Uint64 // changes under mu
	mu   sync.Mutex
	seq  uint64
	open []failure
	some atomic.Bool // open is not empty
	dev  map[int32]deviceState
}

// deviceState is what became of a device.
type deviceState struct {
	reset uint64    // the life that its last reset began
	dead  hip.Error // the sticky error, Success while there is none
}

type failure struct {
	seq    uint64
	device int32
	stream hip.Stream
	code   hip.Error
}

// streamDevice is the device of a stream that a call for a device names.
func (s *session) streamDevice(device int32, st hip.Stream) int32 {
	if st <= hip.StreamPerThread {
		return device
	}
	return s.handles.Device(hip.HandleStream, uint64(st), device)
}

// requestDevice is the device that a request is for: all that may fail late begin with the thread's.
func (s *session) requestDevice(r *wire.Request) int32 {
	d := wire.NewDec(r.Fixed)
	return s.streamDevice(d.I32(), s.streamOf(r))
}

// fault notes that a call the client gets no reply to has failed, or (op 0) that a device's context has ended, and tells the client. What
// belongs to a life that is over is of no interest to anybody.
func (s *session) fault(life uint64, op uint16, device int32, st hip.Stream, code hip.Error, text string) {
	s.printed()
	f := &s.fails
	dead := op == 0 || hiprpc.Sticky(code)
	f.mu.Lock()
	d := f.dev[device]
	if life < d.reset {
		f.mu.Unlock()
		return
	}
	first := dead && d.dead == hip.Success
	if first {
		d.dead = code
		f.set(device, d)
	}
	known := dead && !first || len(f.open) >= maxFailures
	for _, x := range f.open {
		known = known || x.stream == st && x.device == device
	}
	if known {
		f.mu.Unlock()
		return
	}
	f.seq++
	x := failure{f.seq, device, st, code}
	if !dead { // a dead context answers for itself
		f.open = append(f.open, x)
		f.some.Store(true)
	}
	f.mu.Unlock()

	s.log.Warn("asynchronous failure", "op", hiprpc.OpName(op), "device", device, "stream", uint64(st), "error", code.Error(), "detail", text)
	a := hiprpc.AsyncError{Seq: x.seq, Device: device, Op: op, Stream: st, Code: code, Sticky: dead, Text: text}
	_ = s.conn.Notify(hiprpc.NoticeAsyncError, a.Append(nil)) // a lost connection has nobody to tell
	if first {
		// Replies queued behind the fault come while the runtime still runs what is queued; the others are given here.
		time.AfterFunc(200*time.Millisecond, func() { s.pending.fail(s, device, life, code) })
	}
}

// set is called with mu.
func (f *failures) set(device int32, d deviceState) {
	if f.dev == nil {
		f.dev = map[int32]deviceState{}
	}
	f.dev[device] = d
}

// heard takes what failed on a stream (StreamNull: on any of the device) since the client last heard: the first of it.
func (s *session) heard(device int32, st hip.Stream) (failure, bool) {
	f := &s.fails
	if !f.some.Load() {
		return failure{}, false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var first failure
	keep := f.open[:0]
	for _, x := range f.open {
		switch {
		case x.device != device, st != hip.StreamNull && x.stream != st:
			keep = append(keep, x)
		case first.seq == 0:
			first = x
		}
	}
	f.open = keep
	f.some.Store(len(keep) > 0)
	return first, first.seq != 0
}

// reset begins a new life of a device and returns the number of the last failure.
func (f *failures) reset(device int32) uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.set(device, deviceState{reset: f.life.Add(1)})
	f.open = slices.DeleteFunc(f.open, func(x failure) bool { return x.device == device })
	f.some.Store(len(f.open) > 0)
	return f.seq
}

// replyFailure answers with a failure of an earlier call, if there is one.
func (s *session) replyFailure(r *wire.Request, device int32, st hip.Stream) bool {
	x, ok := s.heard(device, st)
	if ok {
		s.reply(r, x.code, hiprpc.Failure{Seq: x.seq, Device: x.device}.Append(make([]byte, 0, hiprpc.FailureLen)))
	}
	return ok
}

// streamOf finds the stream of a request that failed.
func (s *session) streamOf(r *wire.Request) hip.Stream {
	switch t := hip.TraitsOf(r.Op); {
	case t&hip.CopiesRows != 0:
		var c hiprpc.Copy
		if c.Decode(r.Fixed) {
			return c.Stream
		}
	case t&hip.CopiesBox != 0:
		var c hiprpc.Copy3D
		if c.Decode(r.Fixed) {
			return c.Stream
		}
	case r.Op == hip.OpLaunchKernel:
		var l hip.Launch
		if _, ok := hiprpc.DecodeLaunch(r.Fixed, &l); ok {
			return l.Stream
		}
	case r.Op == hip.OpGraphLaunch:
		var q hiprpc.GraphLaunch
		if q.Decode(r.Fixed) {
			return q.Stream
		}
	case r.Op == hip.OpFreeAsync:
		var o hiprpc.StreamOp
		if o.Decode(r.Fixed) {
			return o.Stream
		}
	}
	if st, ok := hiprpc.StreamOf(r.Op, r.Fixed); ok {
		return st
	}
	return hip.StreamNull
}
