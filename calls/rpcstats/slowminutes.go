package rpcstats

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode"
)

// Bounds of what is kept of slow calls.
const (
	slowKept      = 10 // minutes
	slowPerMinute = 16 // calls
)

// slowMinutes keeps the slowest calls of each of the last minutes.
type slowMinutes struct {
	minutes [slowKept]slowMinute // a minute's place is its number modulo slowKept
}

type slowMinute struct {
	number int64 // since 1970
	calls  []slowEntry
}

type slowEntry struct {
	SlowCall
	op      uint16
	request uint32
	whole   bool // measured by a client that knows all phases
}

// AddSlow takes in the slowest calls of a session, measured by its client or its
// worker. A call that both report is kept once, with the figures of who waited for it.
func (r *Totals) AddSlow(session string, who Caller, list []Slow) {
	now := r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range list {
		s := &list[i]
		if s.Age >= slowKept*time.Minute {
			continue
		}
		r.slow.add(slowEntry{
			SlowCall: SlowCall{
				Session: session, Client: who, Op: name(r.names.Op, s.Op), Code: name(r.names.Code, s.Code), Start: now.Add(-s.Age),
				Total: s.Total, Queue: s.Queue, Network: s.Network, Execution: s.Execution, Kernel: printable(s.Kernel),
				TraceID: s.TraceID,
			},
			op: s.Op, request: s.Request, whole: s.Client && s.Network >= 0,
		})
	}
}

// printable makes text for people of a name that may hold anything.
func printable(s string) string {
	return strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) {
			return '?'
		}
		return c
	}, s)
}

func (m *slowMinutes) add(e slowEntry) {
	minute := e.Start.Unix() / 60
	for _, n := range [...]int64{minute - 1, minute, minute + 1} { // client and worker may put its start on different sides
		slot := m.slot(n)
		if slot.number != n {
			continue
		}
		for i := range slot.calls {
			if x := &slot.calls[i]; x.Session == e.Session && x.request == e.request && x.op == e.op {
				x.merge(&e)
				return
			}
		}
	}
	slot := m.slot(minute)
	switch {
	case slot.number > minute:
		return // its place has been taken
	case slot.number < minute:
		*slot = slowMinute{number: minute, calls: make([]slowEntry, 0, slowPerMinute)}
	}
	if len(slot.calls) < slowPerMinute {
		slot.calls = append(slot.calls, e)
		return
	}
	if at, greedy := slot.victim(e.Session); greedy || slot.calls[at].Total < e.Total {
		slot.calls[at] = e
	}
}

// victim is the call that makes room for one of a session: the fastest of all, or of a session that has more than its share.
func (m *slowMinute) victim(session string) (at int, greedy bool) {
	has := map[string]int{}
	most := session
	for i := range m.calls {
		s := m.calls[i].Session
		if has[s]++; has[s] > has[most] {
			most = s
		}
	}
	from := "" // whose calls are looked at, all if empty
	if has[most] > slowPerMinute/4 && has[most] > has[session]+1 {
		from, greedy = most, true
	} else if has[session] > slowPerMinute/2 {
		from = session
	}
	at = -1
	for i := range m.calls {
		if (from == "" || m.calls[i].Session == from) && (at < 0 || m.calls[i].Total < m.calls[at].Total) {
			at = i
		}
	}
	return at, greedy
}

func (m *slowMinutes) slot(minute int64) *slowMinute {
	return &m.minutes[((minute%slowKept)+slowKept)%slowKept]
}

// merge takes in another report of the same call: that of a client that waited is the
// whole. One that did not wait and the worker both know a part, of which the longer
// one says why the call is here. Only the worker knows kernels.
func (x *slowEntry) merge(o *slowEntry) {
	kernel := cmp.Or(x.Kernel, o.Kernel)
	if o.whole || !x.whole && o.Total >= x.Total {
		*x = *o
	}
	x.Kernel = kernel
}

// SlowCalls is the slowest calls of the last ten minutes, slowest first.
func (r *Totals) SlowCalls() []SlowCall {
	oldest := r.now().Unix()/60 - slowKept + 1
	var list []SlowCall
	r.mu.Lock()
	for i := range r.slow.minutes {
		if m := &r.slow.minutes[i]; m.number >= oldest {
			for j := range m.calls {
				list = append(list, m.calls[j].SlowCall)
			}
		}
	}
	r.mu.Unlock()
	slices.SortStableFunc(list, func(a, b SlowCall) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), a.Start.Compare(b.Start), strings.Compare(a.Session, b.Session))
	})
	return list
}
