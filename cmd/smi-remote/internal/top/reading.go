package top

import (
	"context"
	"errors"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/rocwire/rocwire/calls/rpcstats"
	"github.com/rocwire/rocwire/smi"
)

// reading is what one worker told at one moment.
type reading struct {
	at    time.Time
	snap  *smi.Snapshot
	calls []rpcstats.CallTotal
	err   error // nothing was told
}

// readingMsg is a reading that is there.
type readingMsg struct {
	host int
	r    reading
}

// pollMsg says that it is time to read a worker again.
type pollMsg struct{ host int }

// killedMsg is how ending a session went.
type killedMsg struct {
	session string
	err     error
}

// read asks a worker.
func (m *Model) read(host int) tea.Cmd {
	w, ctx, limit := m.opt.Hosts[host].Worker, m.ctx, m.opt.Timeout
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		r := reading{at: time.Now()}
		if r.snap, r.err = w.Snapshot(ctx); r.err == nil {
			r.at = time.Now()
			r.calls, r.err = w.Calls(ctx)
			if errors.Is(r.err, smi.ErrNotSupported) {
				r.err = nil // a worker that measures none
			}
		}
		return readingMsg{host, r}
	}
}

func (m *Model) kill(host int, session string) tea.Cmd {
	w, ctx, limit := m.opt.Hosts[host].Worker, m.ctx, m.opt.Timeout
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		return killedMsg{session, w.KillSession(ctx, session)}
	}
}

// span is over how much time rates are taken: workers add up what their sessions
// count about once a second.
const span = 5 * time.Second

// host is what is known of one worker.
type host struct {
	now     reading       // the last that succeeded
	history []reading     // those within the span before it, oldest first
	past    map[int]*past // of each card, by its number
	err     error         // of the last try
	waiting bool          // for pause to end
}

// add takes a new reading.
func (h *host) add(r reading) {
	if h.err = r.err; r.err != nil {
		return
	}
	if h.now.snap != nil {
		h.history = append(h.history, h.now)
	}
	h.now = r
	for i := range r.snap.Devices {
		d := &r.snap.Devices[i]
		if h.past == nil {
			h.past = map[int]*past{}
		}
		if h.past[d.Device.Index] == nil {
			h.past[d.Device.Index] = &past{}
		}
		var use smi.Opt[smi.Ratio]
		if m := d.Metrics; m != nil && !m.Stale.Ok() {
			use = m.Activity.GFX
		}
		h.past[d.Device.Index].add(r.at, use)
	}
	for len(h.history) > 1 && r.at.Sub(h.history[0].at) > span {
		h.history = h.history[1:]
	}
}

// before is the reading that rates are counted from, nil if there is none.
func (h *host) before() *reading {
	if len(h.history) == 0 || !h.now.at.After(h.history[0].at) {
		return nil
	}
	return &h.history[0]
}
