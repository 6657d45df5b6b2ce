package smiremote

import (
	"context"
	"encoding/binary"
	"runtime"
	"time"

	"github.com/rocwire/rocwire/calls/rpcstats"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/wire"
)

// Calls tells how long calls took, at once; a *rpcstats.Totals does.
type Calls interface {
	Calls() []rpcstats.CallTotal
}

// HandlerOptions say what a worker tells and what it lets others do. Only Source is
// necessary; what is nil is answered with ErrNotSupported.
type HandlerOptions struct {
	Source   smi.Source    // its cards may be told to fail if it is, or wraps, an smi.Injector
	Sessions smi.Sessions  // may be an smi.SessionTotaler too
	Calls    Calls         // as long as calls are measured
	Timeout  time.Duration // how long a question may take; default 5 s
	Fresh    time.Duration // how long an answer is given again; default 250 ms, negative: never

	Version, Backend string // of the worker, for people

	// AllowSet lets visitors that may change the cards; otherwise Set is
	// ErrNoPermission for all.
	AllowSet bool
	// Kill ends a session, ErrNotFound if there is none of that id; by is the visitor
	// that wants it, for the log.
	Kill func(id, by string) error
	// Tokens issues tokens for the cards.
	Tokens TokenIssuer
	// Done is told of every change, and of every attempt: err is why it failed. May
	// be nil.
	Done func(v *Visitor, c Change, err error)
}

// Handler answers connections of purpose "smi". One is enough for all of them.
type Handler struct {
	opt     HandlerOptions
	shared  *smi.SharedSource // stands in front of opt.Source
	start   time.Time
	packed  packed
	calls   answer // to opCalls
	slow    answer // to opSlowCalls
	workers chan struct{}
}

// NewHandler returns a handler. What several clients ask at once it reads once, and
// what was read a moment ago it tells again.
func NewHandler(opt HandlerOptions) *Handler {
	if opt.Timeout <= 0 {
		opt.Timeout = 5 * time.Second
	}
	if opt.Fresh == 0 {
		opt.Fresh = 250 * time.Millisecond
	}
	s := smi.NewShared(opt.Source, smi.SharedOptions{Wait: min(time.Second, opt.Timeout/4), Fresh: opt.Fresh})
	return &Handler{opt: opt, shared: s, start: time.Now(), workers: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2))}
}

// MaxRequest bounds a request on the wire, for wire.ServerOptions: some more than a Handler takes, so that it can say what is wrong.
const MaxRequest = 4 * maxRequest

// Serve answers one connection that has been welcomed, until it ends.
func (h *Handler) Serve(s *wire.ServerConn, v Visitor) error {
	c := &conn{h: h, ctx: s.Context(), who: v, slots: make(chan struct{}, maxWaiting), turn: make(chan struct{}, 1), large: make(chan struct{}, 1)}
	defer c.subs.close()
	return s.Serve(c)
}

// maxWaiting is how many questions of one connection are worked on at a time. More
// of them wait in the connection; each ends within the time limit.
const maxWaiting = 32

// conn answers one connection.
type conn struct {
	h     *Handler
	ctx   context.Context // done when the connection has ended
	who   Visitor
	slots chan struct{}
	turn  chan struct{} // held by the one answer of the connection that is being encoded, or waits for that
	large chan struct{} // held by the large reply that is being sent
	subs  subscriptions
}

// Handle implements wire.Handler.
func (c *conn) Handle(r *wire.Request) {
	switch {
	case r.BulkLen != 0:
		fail(r, smi.Errorf(smi.ErrInvalid, "operation %#04x with bulk data", r.Op))
		return
	case len(r.Fixed) > maxRequest:
		fail(r, smi.Errorf(smi.ErrInvalid, "operation %#04x with %d bytes of arguments", r.Op, len(r.Fixed)))
		return
	case r.NoReply() && !changes(r.Op) && r.Op != opUnsubscribe: // nobody wants to know
		return
	case r.Op == opNext: // may wait for ever; there are few of them
		c.next(r)
		return
	}
	select {
	case c.slots <- struct{}{}:
	case <-c.ctx.Done():
	}
	if c.ctx.Err() != nil { // nobody is left to be answered, whatever has still been asked
		return
	}
	kept := r.Retain()
	go func() {
		defer func() { <-c.slots }()
		c.answer(kept)
	}()
}

// answer does one request. Failures to reply are the connection's, which ends.
func (c *conn) answer(r *wire.Request) {
	ctx, cancel := context.WithTimeout(c.ctx, c.h.opt.Timeout)
	defer cancel()
	b, err := c.results(ctx, r.Op, r.Fixed)
	if err == nil && len(b) > wire.MaxPayload-64 {
		err = smi.Errorf(smi.ErrInternal, "the answer is %d bytes long", len(b))
	}
	if err != nil {
		fail(r, err)
		return
	}
	if len(b) > largeReply { // or each of many that wait for a slow reader would be copied
		select {
		case c.large <- struct{}{}:
			defer func() { <-c.large }()
		case <-c.ctx.Done():
			return
		}
	}
	_ = r.Reply(0, b)
}

// largeReply is the size in bytes from which on replies are sent one after the other.
const largeReply = 16 << 10

func fail(r *wire.Request, err error) {
	reason := err.Error()
	_ = r.Reply(int32(smi.CodeOf(err)), []byte(reason[:min(len(reason), maxReason)]))
}

// results are the encoded answer of one request.
func (c *conn) results(ctx context.Context, op uint16, args []byte) ([]byte, error) {
	switch op {
	case opSnapshot, opPacked:
		if err := want(op, args, 0); err != nil {
			return nil, err
		}
		// Cards that answer must not be given up with one that does not.
		ctx, cancel := context.WithTimeout(ctx, c.h.opt.Timeout/2)
		defer cancel()
		view, number, err := c.h.shared.View(ctx)
		if err != nil {
			return nil, err
		}
		return c.atTurn(ctx, func() ([]byte, error) { return c.h.snapshot(view, number, op == opPacked) })
	case opCalls, opSlowCalls:
		if err := want(op, args, 0); err != nil {
			return nil, err
		}
		return c.atTurn(ctx, func() ([]byte, error) { return c.h.callsAnswer(op) })
	}
	v, err := c.ask(ctx, op, args)
	if err != nil {
		return nil, err
	}
	return c.atTurn(ctx, func() ([]byte, error) { return encode(v) })
}

// want checks the length of a request.
func want(op uint16, args []byte, n int) error {
	if len(args) != n {
		return smi.Errorf(smi.ErrInvalid, "operation %#04x with %d bytes of arguments", op, len(args))
	}
	return nil
}

// ask is the question of one request. A source's error keeps its code.
func (c *conn) ask(ctx context.Context, op uint16, args []byte) (any, error) {
	switch op {
	case opDevices, opSessions, opTopology, opServer, opSubscribe:
		if err := want(op, args, 0); err != nil {
			return nil, err
		}
		return c.askWorker(ctx, op)
	case opInfo, opMetrics, opProcesses, opFirmware, opECC, opBadPages, opXGMI, opPartitions:
		if err := want(op, args, 4); err != nil {
			return nil, err
		}
		return c.askCard(ctx, op, int(int32(binary.LittleEndian.Uint32(args))))
	case opSet, opInject, opQuota:
		if len(args) < 5 {
			return nil, want(op, args, 5)
		}
		return nil, c.change(ctx, op, int(int32(binary.LittleEndian.Uint32(args))), args[4:])
	case opKill:
		return nil, c.kill(string(args))
	case opIssue:
		return c.issue(ctx, args)
	case opRevoke:
		return c.revoke(ctx, string(args))
	case opTokens:
		if err := want(op, args, 0); err != nil {
			return nil, err
		}
		return c.tokens()
	case opUnsubscribe:
		if err := want(op, args, 4); err != nil {
			return nil, err
		}
		return nil, c.subs.end(binary.LittleEndian.Uint32(args))
	}
	return nil, smi.Errorf(smi.ErrNotSupported, "operation %#04x is unknown", op)
}

func (c *conn) askWorker(ctx context.Context, op uint16) (any, error) {
	h := c.h
	switch op {
	case opDevices:
		return h.shared.Devices(ctx)
	case opTopology:
		return h.shared.Topology(ctx)
	case opSessions:
		return h.sessions()
	case opServer:
		return c.server(), nil
	}
	return c.subs.begin(c.ctx, h.shared)
}

func (c *conn) askCard(ctx context.Context, op uint16, index int) (any, error) {
	s := c.h.shared
	switch op {
	case opInfo:
		return s.Info(ctx, index)
	case opMetrics:
		return s.Metrics(ctx, index)
	case opProcesses:
		return s.Processes(ctx, index)
	case opFirmware:
		return s.Firmware(ctx, index)
	case opECC:
		return s.ECC(ctx, index)
	case opBadPages:
		return s.BadPages(ctx, index)
	case opXGMI:
		return s.XGMI(ctx, index)
	}
	return s.Partitions(ctx, index)
}

func (h *Handler) sessions() (*SessionList, error) {
	if h.opt.Sessions == nil {
		return nil, smi.Errorf(smi.ErrNotSupported, "there are no sessions here")
	}
	l := &SessionList{Sessions: h.opt.Sessions.Sessions()}
	if t, ok := h.opt.Sessions.(smi.SessionTotaler); ok {
		l.Totals = t.SessionTotals()
	}
	return l, nil
}
