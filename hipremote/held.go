package hipremote

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/internal/mono"
	"github.com/rocwire/rocwire/wire"
)

// What the program wrote to host memory that kernels use has to be at the worker before a launch is, and to ask the kernel what that is takes ten microseconds
// for 256 MiB, fifty where there are no large pages: thirty launches' time. So a launch that follows closely on such a look is held back, and one look, after the
// last of those that are held, does for all of them. No program can tell: what it writes after a launch and before it has heard anything of that, kernels of this launch may
// see in HIP, too, or may not.
//
// Nothing overtakes what is held. Every message but those that bring host memory up to date lets it go first; otherwise it goes when its time or its room is up.
const (
	heldFor   = 50 * time.Microsecond // how long after a look launches are held, and how long at most
	heldBytes = 16 << 10
)

// held are the launches of a connection that are held back.
type held struct {
	n      atomic.Int32 // how many
	looked atomic.Int64 // when a launch last had host memory looked at

	mu    sync.Mutex // of what follows; held until they are sent, so that who finds some waits for that
	bytes []byte     // their messages, one behind the other
	ends  []int
	timer *time.Timer
	armed bool
}

// hold keeps a launch back if a look for it alone would be too much; false: it is to be sent. It counts as the device's work as if it were sent: who asks for that
// sends something, and it goes before.
func (c *Client) hold(l *link, t hip.Thread, launch *hip.Launch) bool {
	if c.host.open.Load() == 0 || l.trace != nil || launch.Start != 0 || launch.Stop != 0 {
		return false
	}
	h := &l.held
	if h.n.Load() == 0 && mono.Since(h.looked.Load()) >= heldFor {
		return false
	}
	h.mu.Lock()
	h.bytes = hiprpc.AppendLaunch(h.bytes, t.Device, launch)
	h.ends = append(h.ends, len(h.bytes))
	h.n.Add(1)
	c.tasksOf(t.Device).add() // after it is there: a synchronization that does not let it go must not speak for it
	full := len(h.bytes) >= heldBytes
	if !h.armed && !full {
		h.armed = true
		if h.timer == nil {
			h.timer = time.AfterFunc(heldFor, func() { c.heldEnough(l) })
		} else {
			h.timer.Reset(heldFor)
		}
	}
	h.mu.Unlock()
	if full {
		c.letGo(l)
	}
	return true
}

// heldEnough is called when the time of launches is up.
func (c *Client) heldEnough(l *link) {
	l.held.mu.Lock()
	l.held.armed = false
	l.held.mu.Unlock()
	if c.letGo(l) {
		_ = l.Client.Flush()
	}
}

// letGo sends what is held, if anything, behind what the program has written by now. A connection that fails tells the next call.
func (c *Client) letGo(l *link) bool {
	h := &l.held
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.ends) == 0 {
		return false
	}
	code := c.pushAll(l)
	h.looked.Store(mono.Now())
	from := 0
	for _, end := range h.ends {
		if code == hip.Success {
			if _, err := l.Client.PostID(hip.OpLaunchKernel, h.bytes[from:end], nil); err != nil {
				code = c.broken(l, err)
			}
		}
		from = end
	}
	h.bytes, h.ends = h.bytes[:0], h.ends[:0]
	h.n.Store(0)
	return true
}

// ordered lets what is held go before a message. Host memory's own messages are sent with its lock held, which who lets go takes, and are such that it does not matter.
func (l *link) ordered(op uint16) {
	if l.held.n.Load() == 0 {
		return
	}
	switch op {
	case hiprpc.OpHostExpose, hiprpc.OpHostPush, hiprpc.OpHostPull:
	default:
		l.letGo()
	}
}

// Call is wire.Client's, in its turn.
func (l *link) Call(op uint16, m *wire.Msg) error {
	l.ordered(op)
	return l.Client.Call(op, m)
}

// Post is wire.Client's, in its turn.
func (l *link) Post(op uint16, req, bulk []byte) error {
	l.ordered(op)
	return l.Client.Post(op, req, bulk)
}

// PostID is wire.Client's, in its turn.
func (l *link) PostID(op uint16, req, bulk []byte) (id uint32, err error) {
	l.ordered(op)
	return l.Client.PostID(op, req, bulk)
}

// GoID is wire.Client's, in its turn.
func (l *link) GoID(op uint16, m *wire.Msg, done func(*wire.Msg, error)) (id uint32, err error) {
	l.ordered(op)
	return l.Client.GoID(op, m, done)
}

// Flush is wire.Client's, of what is held, too.
func (l *link) Flush() error {
	if l.held.n.Load() != 0 {
		l.letGo()
	}
	return l.Client.Flush()
}
