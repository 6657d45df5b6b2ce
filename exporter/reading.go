package exporter

import (
	"time"

	"github.com/rocwire/rocwire/calls/rpcstats"
	"github.com/rocwire/rocwire/exporter/collector"
	"github.com/rocwire/rocwire/exporter/local"
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
	Local    local.Reading // what programs of this machine do with HIP
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

// Read tells what is known now.
func (e *Exporter) Read() Reading {
	v := e.poll.view()
	r := Reading{Time: v.Now, Err: v.Err, Cards: make([]Card, len(v.Cards))}
	for i := range v.Cards {
		c := &v.Cards[i]
		links := e.detail.look(c, v.Now)
		r.Cards[i] = Card{DeviceSnapshot: c.Snap, Fresh: c.Fresh, Age: c.Age}
		if c.Fresh {
			r.Cards[i].Detail = Detail{XGMI: c.XGMI.Value, Links: links, Partitions: c.Partitions.Value, Firmware: c.Firmware.Value, BadPages: c.BadPages.Value}
		}
	}
	r.Topology = e.detail.topology(v.Now).Value
	r.Events = listEvents(e.events.view().Counts)
	if s := e.opt.Sessions; s != nil {
		if r.SessionsErr = collector.Unknown(s); r.SessionsErr == nil {
			r.Sessions = s.Sessions()
			if t, ok := s.(smi.SessionTotaler); ok {
				r.Totals = t.SessionTotals()
			}
		}
	}
	if s := e.opt.Local; s != nil {
		if r.LocalErr = collector.Unknown(s); r.LocalErr == nil {
			r.Local = s.Local()
		}
	}
	if s := e.opt.Calls; s != nil {
		if r.CallsErr = collector.Unknown(s); r.CallsErr == nil {
			r.Calls = s.Calls()
			if t, ok := s.(collector.SlowCallSource); ok {
				r.Slow = t.SlowCalls()
			}
		}
	}
	return r
}

// Up reports whether the cards can be asked now.
func (e *Exporter) Up() bool { return e.poll.view().Err == nil }
