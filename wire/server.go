package wire

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"net"
	"sync"
	"time"

	"github.com/rocwire/rocwire/internal/mono"
)

// ServerOptions say how a server treats a connection.
type ServerOptions struct {
	// Protocol is the version the client's INIT came in (Hello.Protocol); 0 means Version.
	Protocol uint16
	// HelloSum is Hello.Sum, for FeatureIntegrity.
	HelloSum uint32
	// Heartbeat is how long the server may send nothing; 0 means the smaller one of DefaultHeartbeat and what the Hello asks for.
	Heartbeat time.Duration
	// Silence is how long the client may send nothing, or take nothing of a reply, before it counts as lost; 0 means DefaultSilence. It is
	// long because a client in a debugger is silent too; a client whose machine is gone is found by TCP keepalive before.
	Silence time.Duration
	// Stall is how long the client may take nothing of what waits to be sent to it; 0 means Silence. Until it does nothing more is read
	// than its handler takes.
	Stall time.Duration
	// MaxRequest is the longest payload of a request in bytes, which then has one frame; 0 means no bound but MaxPayload. A longer one is a
	// protocol violation: it is judged by its header, and not a byte of it is kept.
	MaxRequest int
	// Park is how long a session whose connection was cut waits for its client, where the Welcome grants FeatureResume.
	Park time.Duration
	// Alone says that the process is there for this connection only, so that its reader may keep one of the Go scheduler's processors while it waits for the
	// next request. The process should have one more than work takes.
	Alone bool
	// OnCut and OnResumed are told of that, one after the other, on goroutines of their own. May be nil. closed: see Closed.
	OnCut     func(err error, closed bool)
	OnResumed func(after time.Duration)
}

// DefaultSilence is ServerOptions.Silence if that is 0.
const DefaultSilence = 5 * time.Minute

// Handler does what requests ask for.
type Handler interface {
	// Handle is called for every request in the order of arrival, on one goroutine. It answers with r.Reply or r.ReplyBulk, unless
	// r.NoReply(), before it returns, or later and from any goroutine through r.Retain.
	Handle(r *Request)
}

// HandlerFunc is a function as Handler.
type HandlerFunc func(r *Request)

// Handle calls f.
func (f HandlerFunc) Handle(r *Request) { f(r) }

// ServerConn is the server's end of a connection whose Hello has been read.
type ServerConn struct {
	link
	peer     Peer
	opt      ServerOptions
	last     uint32  // id of the last message
	req      Request // of the Handle in progress
	unpack   unpacker
	unpacked []byte // of the request's current frame

	ctx  context.Context // done when the connection has ended
	lent lent            // bulk data that the last Handle has replied with
	kept int64           // since when replies wait for others, as mono.Now; 0: none does. Of Serve

	secret   []byte // of resumption, nil if there is none
	session  uint64
	checks   bool // each transport is checked
	resuming sync.Mutex
	attempt  uint64 // the last one, with resuming
}

// NewServerConn takes over a connection after ReadHello.
func NewServerConn(conn net.Conn, opt ServerOptions) (*ServerConn, error) {
	peer := PeerOf(conn)
	t, err := newTransport(conn)
	if err != nil {
		return nil, err
	}
	forServer(t, opt)
	return newServer(t, peer, opt), nil
}

func newServer(t transport, peer Peer, opt ServerOptions) *ServerConn {
	if opt.Silence <= 0 {
		opt.Silence = DefaultSilence
	}
	if opt.Stall <= 0 {
		opt.Stall = opt.Silence
	}
	if opt.Protocol == 0 {
		opt.Protocol = Version
	}
	s := &ServerConn{opt: opt, peer: peer}
	s.ctx, s.ended = context.WithCancel(context.Background())
	s.host, s.port = hostPort(peer.Addr)
	s.them, s.t, s.in = "client", t, newIn(t)
	s.in.stamp = true
	s.out.init(t)
	s.out.version = negotiated(opt.Protocol)
	s.out.blocked, s.out.fail = s.blocked, s.fail
	s.req.s = s
	k := newKeeper(&s.out, t, opt.Silence)
	k.flush = replyTick
	k.ping = func() {
		if !s.isCut() {
			s.out.header(OpPing, 0, 0, FlagNoReply)
		}
	}
	k.lost, k.waiting, k.within = s.fail, func() bool { return !s.isCut() }, s.in.within.Load
	s.k, s.out.k = k, k
	return s
}

// Peer is who the client is, to the operating system.
func (s *ServerConn) Peer() Peer { return s.peer }

// Context is done when the connection has ended, whatever a handler is doing: nobody is left to be answered.
func (s *ServerConn) Context() context.Context { return s.ctx }

// Heartbeat is the interval that suits a client: what it asks for within bounds, for Welcome.HeartbeatMS.
func (h *Hello) Heartbeat() time.Duration {
	d := time.Duration(h.HeartbeatMS) * time.Millisecond
	if d == 0 || d > DefaultHeartbeat {
		return DefaultHeartbeat
	}
	return max(d, 5*time.Millisecond)
}

// Welcome answers the Hello, before Serve. HeartbeatMS 0 means DefaultHeartbeat. With a Code other than 0 it is a refusal, after which only Close makes sense.
func (s *ServerConn) Welcome(w Welcome) error {
	if w.HeartbeatMS == 0 {
		w.HeartbeatMS = uint32(DefaultHeartbeat / time.Millisecond)
	}
	w.Protocol = s.out.version
	s.timed = w.HasFeature(FeatureTiming)
	if w.HasFeature(FeaturePacked) {
		s.out.pack = &packer{path: s.path}
	}
	checks := s.granted(&w)
	lasts := w.Code == 0 && w.HasFeature(FeatureResume)
	if lasts {
		s.resuming.Lock() // the client may be quick
		defer s.resuming.Unlock()
		s.endure(&w)
	}
	s.out.mu.Lock()
	b, err := appendWelcome(s.out.buf, &w)
	sum := crc32.Checksum(b[len(s.out.buf):], castagnoli)
	s.out.buf = b
	if err == nil {
		s.out.frames.Add(1)
		s.out.flush()
	}
	s.out.mu.Unlock()
	if err == nil && checks {
		err = s.checkSums(sum)
	}
	if err != nil {
		return err
	}
	s.k.beat = time.Duration(w.HeartbeatMS) * time.Millisecond
	if lasts {
		s.outlive(s.park, s.starved)
	}
	return s.Err()
}

// Serve reads requests and hands them to h until the connection ends: nil after the client's SHUTDOWN or this side's Close, otherwise an *Error. Replies that are still
// under way then fail. The connection is closed when it returns.
func (s *ServerConn) Serve(h Handler) error {
	go s.k.run()
	err := s.serve(h)
	s.because(err)
	if errors.Is(err, ErrProtocol) {
		s.sayWhy(err.Error(), 0)
	}
	s.fail(err)
	s.k.stop()
	<-s.k.done
	s.release()
	if errors.Is(err, ErrClosed) {
		s.leave(err)
	}
	if err = s.Err(); errors.Is(err, ErrClosed) {
		return nil
	}
	return err
}

// leave is the end by the client's SHUTDOWN, which counts also where something could not be sent before it was read: the client did not wait for that.
func (s *ServerConn) leave(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if errors.Is(s.cause, ErrLost) {
		s.cause = err
	}
}

// leavePatience is how long Close waits for a client to read what is on its way to it: what the session has told of its end stands there.
const leavePatience = 200 * time.Millisecond

// Close makes Serve return. reason, if not empty, is told to the client, behind what it was told before.
func (s *ServerConn) Close(reason string) {
	err := s.error(ErrClosed, reason, nil)
	s.because(err)
	s.sayWhy(reason, leavePatience)
	s.fail(err)
}

// sayWhy tries to tell the client why the connection ends.
func (s *ServerConn) sayWhy(reason string, patience time.Duration) {
	s.out.mu.Lock()
	s.part(0, reason[:min(len(reason), MaxReason)], patience)
	s.out.mu.Unlock()
}

// blocked waits for room in the transport. The client reads even while it writes, so there will be.
func (s *ServerConn) blocked() error {
	for d := time.Duration(0); d < s.opt.Stall; d += tickFor(s.opt.Stall) {
		if s.t.wait(writable, tickFor(s.opt.Stall)) != 0 || s.isCut() {
			return nil
		}
	}
	err := s.error(ErrLost, fmt.Sprintf("the client has not read its replies for %v", s.opt.Stall), nil)
	if s.lasting != nil {
		s.lasting.cutNow(err)
		return nil
	}
	return err
}

// starved waits, for a while, for acknowledgements. The goroutine that reads may be the very one that waits, or wait for it.
func (s *ServerConn) starved() error { return s.lasting.pump(maxNap) }

func (s *ServerConn) serve(h Handler) error {
	for {
		if !s.in.ready() { // about to wait
			s.out.mu.Lock()
			if s.lasting != nil && s.lasting.drained() {
				s.out.acknowledge(ackIdle)
			}
			s.out.flush()
			s.out.mu.Unlock()
			s.kept = 0
		}
		head, err := s.in.header()
		if err != nil {
			return err
		}
		s.in.frames.Add(1)
		if head.Op == OpAck && s.lasting != nil {
			if err := s.ack(head); err != nil {
				return err
			}
			continue
		}
		if err := s.check(head); err != nil {
			return err
		}
		s.last++
		r := &s.req
		r.begin(head)
		if err := s.body(head, r); err != nil {
			return err
		}
		switch {
		case head.Op >= OpUser:
			s.out.release(s.lent)
			s.lent = lent{}
			r.arrived, r.started = s.in.at, mono.Now()
			s.send(r.started)
			h.Handle(r)
			if err := r.end(); err != nil {
				return err
			}
		case head.Op == OpPing && head.Length == 0:
			if !r.NoReply() {
				_ = r.Reply(0, nil) // a failed write ends the reading too
			}
		case head.Op == OpShutdown && head.Length <= MaxReason && r.NoReply():
			return s.error(ErrClosed, string(r.Fixed), nil)
		default:
			return violation(head, "operation that does not exist")
		}
	}
}

// send sends the replies that have waited for others for long enough. A keeper that did so would be awake all the time with a client of several threads, whose
// requests come several at a time; it is left with those before a request that takes long.
func (s *ServerConn) send(at int64) {
	if s.kept == 0 || at-s.kept < int64(flushTick) {
		return
	}
	s.kept = 0
	s.out.mu.Lock()
	s.out.flush()
	s.out.mu.Unlock()
}

// check judges the header of a message's first frame.
func (s *ServerConn) check(h Header) error {
	switch {
	case h.Version != s.out.version:
		return violation(h, "wrong version")
	case h.ID != s.last+1:
		return violation(h, "id out of sequence, %d was due", s.last+1)
	case h.Flags&FlagPacked != 0 && s.out.pack == nil, h.Flags&(FlagResponse|FlagError|FlagTimed) != 0, h.Flags&FlagMore != 0 && h.Flags&FlagInlineData == 0:
		return violation(h, "flags that do not belong to a request")
	case s.opt.MaxRequest > 0 && (int64(h.Length) > int64(s.opt.MaxRequest) || h.Flags&FlagMore != 0):
		return violation(h, "a request longer than the %d bytes that are taken here", s.opt.MaxRequest)
	}
	return nil
}

// body reads a request up to its bulk.
func (s *ServerConn) body(h Header, r *Request) error {
	in := &s.in
	_, fixed, part, raw, total, err := in.start(h, 0)
	if err != nil {
		return err
	}
	if total > maxMessage {
		return violation(h, "bulk of %d bytes in several frames", total)
	}
	if err := in.fill(fixed); err != nil {
		return eofWithin(err)
	}
	r.Fixed = in.b[in.r : in.r+fixed : in.r+fixed]
	in.r += fixed
	r.BulkLen, r.left, r.part, r.raw = int(total), int(total), part, raw
	return nil
}

// Notify sends a notice of a user operation, from any goroutine. Its payload is at most MaxNotice bytes.
func (s *ServerConn) Notify(op uint16, payload []byte) error {
	if op < OpUser || len(payload) > MaxNotice {
		return fmt.Errorf("wire: notice of operation %#x with %d bytes", op, len(payload))
	}
	o := &s.out
	o.lock()
	o.header(op, 0, len(payload), FlagNoReply)
	o.buf = append(o.buf, payload...)
	o.settle(true)
	o.mu.Unlock()
	return s.Err()
}
