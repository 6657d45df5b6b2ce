package smiremote

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/rocwire/rocwire/calls/rpcstats"
	"github.com/rocwire/rocwire/smi"
)

// Mirror keeps what a worker tells about sessions and calls, so that it can be had
// without waiting: an smi.Sessions, an smi.SessionTotaler and a source of calls.
// While the worker cannot be asked, Err is not nil and nothing is known.
type Mirror struct {
	c        *Client
	interval time.Duration

	mu       sync.Mutex
	sessions SessionList
	calls    []rpcstats.CallTotal
	slow     []rpcstats.SlowCall
	err      error
}

// NewMirror returns a mirror that knows nothing until Run or Update.
func NewMirror(c *Client, interval time.Duration) *Mirror {
	return &Mirror{c: c, interval: max(interval, 10*time.Millisecond), err: smi.Errorf(smi.ErrUnavailable, "nothing has been read yet")}
}

// Run asks the worker again and again until ctx is done.
func (m *Mirror) Run(ctx context.Context) {
	t := time.NewTicker(m.interval)
	defer t.Stop()
	for {
		m.Update(ctx)
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
	}
}

// updateTime is how long a worker may take to answer.
const updateTime = 10 * time.Second

// Update asks the worker once. A worker without sessions or without measured calls
// has none.
func (m *Mirror) Update(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, updateTime)
	defer cancel()
	list, err1 := m.c.Sessions(ctx)
	calls, err2 := m.c.Calls(ctx)
	slow, err3 := m.c.SlowCalls(ctx)
	if errors.Is(err1, smi.ErrNotSupported) {
		list, err1 = &SessionList{}, nil
	}
	if errors.Is(err2, smi.ErrNotSupported) {
		err2 = nil
	}
	if errors.Is(err3, smi.ErrNotSupported) {
		err3 = nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.err = cmp.Or(err1, err2, err3)
	if m.err != nil {
		m.sessions, m.calls, m.slow = SessionList{}, nil, nil
		return
	}
	m.sessions, m.calls, m.slow = *list, calls, slow
}

// Err is why nothing is known, or nil.
func (m *Mirror) Err() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.err
}

// Sessions implements smi.Sessions. The list must not be changed.
func (m *Mirror) Sessions() []smi.Session {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sessions.Sessions
}

// SessionTotals implements smi.SessionTotaler.
func (m *Mirror) SessionTotals() smi.SessionTotals {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sessions.Totals
}

// Calls is the worker's call totals. The list must not be changed.
func (m *Mirror) Calls() []rpcstats.CallTotal {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls
}
