package smiremote

import (
	"context"
	"encoding/binary"
	"time"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/rocwire/rocwire/exporter/rpcstats"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/wire"
)

// Calls tells how long calls took, at once; a *rpcstats.Totals does.
type Calls interface {
	Calls() []rpcstats.CallTotal
}

// HandlerOptions say what a worker tells. Only Source is necessary; the rest, if
// nil, is answered with ErrNotSupported.
type HandlerOptions struct {
	Source   smi.Source
	Sessions smi.Sessions  // may be an smi.SessionTotaler too
	Calls    Calls         // as long as calls are measured
	Timeout  time.Duration // how long a question may take; default 5 s
}

// Handler answers connections of purpose "smi". One is enough for all of them.
type Handler struct{ opt HandlerOptions }

// NewHandler returns a handler. What several clients ask at once it reads once.
func NewHandler(opt HandlerOptions) *Handler {
	if opt.Timeout <= 0 {
		opt.Timeout = 5 * time.Second
	}
	opt.Source = smi.Shared(opt.Source)
	return &Handler{opt: opt}
}

// maxWaiting is how many questions of one connection are worked on at a time. More
// of them wait in the connection; each ends within the time limit.
const maxWaiting = 32

// Serve answers one connection that has been welcomed, until it ends.
func (h *Handler) Serve(s *wire.ServerConn) error { return s.Serve(h.Conn()) }

// Conn is the handler of one connection, for a caller that serves it itself.
func (h *Handler) Conn() wire.Handler {
	slots := make(chan struct{}, maxWaiting)
	return wire.HandlerFunc(func(r *wire.Request) {
		slots <- struct{}{}
		kept := r.Retain()
		go func() {
			defer func() { <-slots }()
			h.answer(kept)
		}()
	})
}

// answer does one request. Failures to reply are the connection's, which ends.
func (h *Handler) answer(r *wire.Request) {
	if r.BulkLen != 0 {
		fail(r, smi.Errorf(smi.ErrInvalid, "operation %#04x with bulk data", r.Op))
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), h.opt.Timeout)
	defer cancel()
	v, err := h.ask(ctx, r.Op, r.Fixed)
	if err != nil {
		fail(r, err)
		return
	}
	b, err := msgpack.Marshal(v)
	if err != nil {
		fail(r, err)
		return
	}
	if len(b) > wire.MaxPayload-64 {
		fail(r, smi.Errorf(smi.ErrInternal, "the answer is %d bytes long", len(b)))
		return
	}
	_ = r.Reply(0, b)
}

// maxReason bounds an error's text on the wire.
const maxReason = 1 << 10

func fail(r *wire.Request, err error) {
	reason := err.Error()
	_ = r.Reply(int32(smi.CodeOf(err)), []byte(reason[:min(len(reason), maxReason)]))
}

// ask is the question of one request. A source's error keeps its code.
func (h *Handler) ask(ctx context.Context, op uint16, args []byte) (any, error) {
	index := 0
	switch op {
	case opInfo, opMetrics, opProcesses:
		if len(args) != 4 {
			return nil, smi.Errorf(smi.ErrInvalid, "operation %#04x with %d bytes of arguments", op, len(args))
		}
		index = int(int32(binary.LittleEndian.Uint32(args)))
	default:
		if len(args) != 0 {
			return nil, smi.Errorf(smi.ErrInvalid, "operation %#04x with %d bytes of arguments", op, len(args))
		}
	}
	switch op {
	case opSnapshot:
		// Cards that answer must not be given up with one that does not.
		ctx, cancel := context.WithTimeout(ctx, h.opt.Timeout/2)
		defer cancel()
		return smi.TakeSnapshot(ctx, h.opt.Source)
	case opDevices:
		return h.opt.Source.Devices(ctx)
	case opInfo:
		return h.opt.Source.Info(ctx, index)
	case opMetrics:
		return h.opt.Source.Metrics(ctx, index)
	case opProcesses:
		return h.opt.Source.Processes(ctx, index)
	case opSessions:
		return h.sessions()
	case opCalls:
		if h.opt.Calls == nil {
			return nil, smi.Errorf(smi.ErrNotSupported, "no calls are measured here")
		}
		return encodeCalls(h.opt.Calls.Calls()), nil
	}
	return nil, smi.Errorf(smi.ErrNotSupported, "operation %#04x is unknown", op)
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
