package exporter

import (
	"time"

	"github.com/rocwire/rocwire/calls/rpcstats"
	"github.com/rocwire/rocwire/smi"
)

// Reading is everything that is known at one moment: what a scrape, a sink or a page
// shows. It is read from memory, at once. Nothing in it may be changed.
type Reading struct {
	Time  time.Time
	Err   error // the cards cannot be asked; Cards are the last known ones
	Cards []Card
	// Topology is how the cards reach each other; nil if nobody knows.
	Topology *smi.Topology
	Events   []EventCount // what happened to the cards, by card and kind

	SessionsErr error // nothing is known about sessions: there are none here then
	Sessions    []smi.Session
	Totals      smi.SessionTotals

	CallsErr error
	Calls    []rpcstats.CallTotal // running totals
	Slow     []rpcstats.SlowCall  // the slowest of the last minutes, slowest first

	LocalErr error
	Local    LocalReading // what programs of this machine do with HIP
}

// Card is one card of a Reading. When nothing recent is known about it, only Device of
// the snapshot is set.
type Card struct {
	smi.DeviceSnapshot
	Fresh bool          // read, and not too long ago
	Age   time.Duration // since it was read; 0 if it never was

	Detail Detail
}

// Detail is what a card tells that changes slowly and is asked seldom; nil is not
// known, or not there.
type Detail struct {
	XGMI       *smi.XGMI
	Links      LinkRate // between the last two readings of XGMI
	Partitions *smi.Partitions
	Firmware   []smi.Firmware
	BadPages   []smi.BadPage // empty, not nil, when there is none
}

// SlowCallSource is a CallSource that keeps the slowest calls.
type SlowCallSource interface {
	SlowCalls() []rpcstats.SlowCall
}

// Read tells what is known now.
func (e *Exporter) Read() Reading {
	v := e.view()
	r := Reading{Time: v.now, Err: v.err, Cards: make([]Card, len(v.cards))}
	for i := range v.cards {
		c := &v.cards[i]
		r.Cards[i] = Card{DeviceSnapshot: c.snap, Fresh: c.fresh, Age: c.age}
		if d := &c.detail; c.fresh {
			r.Cards[i].Detail = Detail{XGMI: d.xgmi.value, Links: d.linkRate, Partitions: d.partitions.value, Firmware: d.firmware.value, BadPages: d.badPages.value}
		}
	}
	r.Topology = v.topo.value
	r.Events = v.events.list()
	if s := e.opt.Sessions; s != nil {
		if r.SessionsErr = unknown(s); r.SessionsErr == nil {
			r.Sessions = s.Sessions()
			if t, ok := s.(smi.SessionTotaler); ok {
				r.Totals = t.SessionTotals()
			}
		}
	}
	if s := e.opt.Local; s != nil {
		if r.LocalErr = unknown(s); r.LocalErr == nil {
			r.Local = s.Local()
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

// Up reports whether the cards can be asked now.
func (e *Exporter) Up() bool { return e.poll.view().err == nil }
