package smiremote

import (
	"context"
	"sync"
	"time"

	"github.com/rocwire/rocwire/smi"
)

// answer is an encoded answer that all connections share: it is made once, and told again as long as it is fresh.
type answer struct {
	mu    sync.Mutex
	b     []byte // not to be changed
	until time.Time
}

func (a *answer) get(fresh time.Duration, make func() ([]byte, error)) ([]byte, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if time.Now().Before(a.until) {
		return a.b, nil
	}
	b, err := make()
	if err == nil {
		a.b, a.until = b, time.Now().Add(fresh)
	}
	return b, err
}

// callsAnswer is the answer to opCalls or opSlowCalls.
func (h *Handler) callsAnswer(op uint16) ([]byte, error) {
	switch slow, ok := h.opt.Calls.(SlowCalls); {
	case op == opSlowCalls && ok:
		return h.slow.get(h.opt.Fresh, func() ([]byte, error) { return encode(encodeSlowCalls(slow.SlowCalls())) })
	case op == opSlowCalls:
		return nil, smi.Errorf(smi.ErrNotSupported, "no slow calls are kept here")
	case h.opt.Calls == nil:
		return nil, smi.Errorf(smi.ErrNotSupported, "no calls are measured here")
	}
	return h.calls.get(h.opt.Fresh, func() ([]byte, error) { return encode(encodeCalls(h.opt.Calls.Calls())) })
}

// atTurn makes an answer when it is the connection's turn: connections take turns, with one answer each, on half of the processors, so that
// one that asks much holds up neither the others nor whatever else this process does.
func (c *conn) atTurn(ctx context.Context, make func() ([]byte, error)) ([]byte, error) {
	for _, gate := range []chan struct{}{c.turn, c.h.workers} {
		select {
		case gate <- struct{}{}:
			defer func() { <-gate }()
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return make()
}
