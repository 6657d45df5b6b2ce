package exporter

import (
	"time"

	"github.com/rocwire/rocwire/exporter/rpcstats"
	"github.com/rocwire/rocwire/smi"
)

// Reading is everything that is known at one moment: what a scrape, a sink or a page
// shows. It is read from memory, at once. Nothing in it may be changed.
type Reading struct {
	Time  time.Time
	Err   error // the cards cannot be asked; Cards are the last known ones
	Cards []Card

	SessionsErr error // nothing is known about sessions: there are none here then
	Sessions    []smi.Session
	Totals      smi.SessionTotals

	CallsErr error
	Calls    []rpcstats.CallTotal // running totals
	Slow     []rpcstats.SlowCall  // the slowest of the last minutes, slowest first
}

// Card is one card of a Reading. When nothing recent is known about it, only Device of
// the snapshot is set.
type Card struct {
	smi.DeviceSnapshot
	Fresh bool          // read, and not too long ago
	Age   time.Duration // since it was read; 0 if it never was
}

// SlowCallSource is a CallSource that keeps the slowest calls.
type SlowCallSource interface {
	SlowCalls() []rpcstats.SlowCall
}

// Read tells what is known now.
func (e *Exporter) Read() Reading {
	v := e.poll.view()
	r := Reading{Time: v.now, Err: v.err, Cards: make([]Card, len(v.cards))}
	for i := range v.cards {
		c := &v.cards[i]
		r.Cards[i] = Card{DeviceSnapshot: c.snap, Fresh: c.fresh, Age: c.age}
	}
	if s := e.opt.Sessions; s != nil {
		if r.SessionsErr = unknown(s); r.SessionsErr == nil {
			r.Sessions = s.Sessions()
			if t, ok := s.(smi.SessionTotaler); ok {
				r.Totals = t.SessionTotals()
			}
		}
	}
	if s := e.opt.Calls; s != nil {
		if r.CallsErr = unknown(s); r.CallsErr == nil {
			r.Calls = s.Calls()
			if t, ok := s.(SlowCallSource); ok {
				r.Slow = t.SlowCalls()
			}
		}
	}
	return r
}
