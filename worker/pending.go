package worker

import (
	"sync"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/wire"
)

// pendingReplies are replies that a stream gives when it comes to them.
type pendingReplies struct {
	mu   sync.Mutex
	open map[*pendingReply]struct{}
}

// pendingReply is answered exactly once.
type pendingReply struct {
	p *pendingReplies
	r *wire.Request
}

// hold keeps a request until a stream answers it.
func (s *session) hold(r *wire.Request) *pendingReply {
	p := &s.pending
	x := &pendingReply{p, r.Retain()}
	p.mu.Lock()
	if p.open == nil {
		p.open = map[*pendingReply]struct{}{}
	}
	p.open[x] = struct{}{}
	p.mu.Unlock()
	return x
}

// take claims the right to answer.
func (x *pendingReply) take() bool {
	x.p.mu.Lock()
	_, ok := x.p.open[x]
	delete(x.p.open, x)
	x.p.mu.Unlock()
	return ok
}

// fail answers everything of a device that is open since a life that has ended.
func (p *pendingReplies) fail(s *session, device int32, life uint64, code hip.Error) {
	var late []*pendingReply
	p.mu.Lock()
	for x := range p.open {
		if x.r.Tag <= life && s.requestDevice(x.r) == device {
			late = append(late, x)
			delete(p.open, x)
		}
	}
	p.mu.Unlock()
	for _, x := range late {
		s.reply(x.r, code, nil)
	}
}
