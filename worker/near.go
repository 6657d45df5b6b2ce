package worker

import (
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/wire"
)

// Device memory that a client on this machine has mapped: it makes its copies itself and says so afterwards. Whatever it does there it does to its own memory.

// nearer is a runtime whose device memory another process can map.
type nearer interface {
	Near(t hip.Thread, p hip.Ptr) (fd int, base hip.Ptr, size uint64, code hip.Error)
}

// near is what a session knows of that.
type near struct {
	rt      nearer
	pass    func(tag uint64, fd int) error // to the client
	begin   time.Time
	in, out atomic.Uint64 // bytes that the client says it has copied
}

// nearOn prepares it, if the runtime and the connection can.
func (s *session) nearOn(conn *wire.ServerConn) {
	if rt, ok := s.rt.(nearer); ok && conn.CanPass() {
		s.near = &near{rt: rt, pass: conn.Pass, begin: time.Now()}
	}
}

// doNear passes the memory of an allocation to the client.
func (s *session) doNear(r *wire.Request) {
	p, t, ok := s.place(r)
	if !ok {
		return
	}
	if s.near == nil {
		s.reply(r, hip.ErrorNotSupported, nil)
		return
	}
	fd, base, size, code := s.near.rt.Near(t, p.Addr)
	if code != hip.Success {
		s.reply(r, code, nil)
		return
	}
	err := s.near.pass(uint64(base), fd)
	_ = unix.Close(fd)
	if err != nil { // it does not take what was passed before
		s.log.Debug("device memory is not passed to the client", "error", err)
		s.reply(r, hip.ErrorOutOfMemory, nil)
		return
	}
	s.reply(r, hip.Success, hiprpc.Near{Base: base, Size: size}.Append(nil))
}

// copyNear accounts a copy that the client has made.
func (s *session) copyNear(r *wire.Request, c *hiprpc.Copy, n uint64) {
	if s.near == nil || !r.NoReply() || c.Height != 1 {
		s.malformed(r)
		return
	}
	t, p, in := hip.Thread{Device: c.Device}, c.Dst, c.Dir == hiprpc.NearTo
	if !in {
		p = c.Src
	}
	if _, ok := s.memory(p, n); !ok {
		s.reply(r, hip.ErrorInvalidValue, nil)
		return
	}
	if n = s.near.count(in, n); s.meter != nil {
		s.meter.Copied(p, n, in, min(time.Duration(c.Spitch), time.Since(s.near.begin)))
	}
	code := s.rt.StreamQuery(t, hip.StreamNull)
	if code == hip.ErrorNotReady { // by what came meanwhile
		code = hip.Success
	}
	s.reply(r, code, nil)
}

// mostNear is how many bytes a client can have copied in a second, at most: what it says is added to the card's figures.
const mostNear = mostBytes / 4

// count adds what a client says to the totals: as much of it as can be.
func (x *near) count(in bool, n uint64) uint64 {
	sum := &x.out
	if in {
		sum = &x.in
	}
	possible := uint64(time.Since(x.begin).Seconds() * mostNear)
	n = min(n, possible-min(possible, sum.Load()))
	sum.Add(n)
	return n
}

// copied is what a client has copied itself.
func (x *near) copied() (in, out uint64) {
	if x == nil {
		return 0, 0
	}
	return x.in.Load(), x.out.Load()
}
