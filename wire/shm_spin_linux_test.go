package wire

import (
	"testing"
	"time"
)

// spinModel is a client that calls and a server that answers, in time that is counted.
type spinModel struct {
	client, server spinner
	wake           time.Duration // from the bell until who slept goes on
	work           time.Duration // from a request to its reply, and from a reply to the next request
	apart          bool          // each has a processor of its own: what one looks for the other can do meanwhile
	looked, slept  time.Duration // by both
}

// handOver is what passes from one side giving something to the other one going on with it, which it waited for the given time ago.
func (m *spinModel) handOver(to *spinner, limit, since time.Duration) (took time.Duration, awake bool) {
	if limit >= since && m.apart && limit > 0 {
		to.learn(true)
		m.looked += since
		return 0, true
	}
	if limit > 0 {
		to.learn(false)
		m.looked += limit
	}
	m.slept += max(since-limit, 0)
	return m.wake, false
}

// calls has the client call, and gives how long the last of them took, and how many of both sides' waits in it ended in a sleep.
func (m *spinModel) calls(n int) (last time.Duration, sleeps int) {
	clientAwake, serverAwake := false, false // what each knows of the other: whether it was awake when it last sent something
	limit, since := m.server.next(clientAwake), m.work
	for range n {
		last, sleeps = 0, 0
		var took time.Duration
		if took, serverAwake = m.handOver(&m.server, limit, since); !serverAwake {
			sleeps++
		}
		own := m.client.next(serverAwake)
		last = took + m.work
		back := time.Duration(0)
		if back, clientAwake = m.handOver(&m.client, own, last); !clientAwake {
			sleeps++
		}
		last += back
		limit, since = m.server.next(clientAwake), back+m.work
	}
	return last, sleeps
}

// TestSpinTogether: where each side has a processor of its own both come to look, however long they have slept, and however long it takes to wake one.
func TestSpinTogether(t *testing.T) {
	for _, wake := range []time.Duration{5 * time.Microsecond, 50 * time.Microsecond, 100 * time.Microsecond} {
		m := spinModel{wake: wake, work: time.Microsecond, apart: true, client: spinner{probes: true, limit: spinShort, skip: 100, skips: spinSkips}, server: spinner{limit: spinShort, skip: 17, skips: spinSkips}}
		if took, sleeps := m.calls(2 * spinSkips); sleeps != 0 || took > 10*m.work {
			t.Errorf("woken in %v: a call takes %v, with %d sleeps", wake, took, sleeps)
		}
		m = spinModel{wake: wake, work: time.Microsecond, apart: true, client: newSpinner(true), server: newSpinner(false)}
		m.client.never, m.server.never = false, false
		if took, sleeps := m.calls(10); sleeps != 0 || took > 10*m.work {
			t.Errorf("woken in %v: the tenth call takes %v, with %d sleeps", wake, took, sleeps)
		}
	}
}

// TestSpinInVain: where looking keeps the peer from its work, or the answer takes long, hardly any time is spent looking.
func TestSpinInVain(t *testing.T) {
	for name, m := range map[string]spinModel{
		"one processor": {wake: 3 * time.Microsecond, work: 5 * time.Microsecond},
		"long work":     {wake: 3 * time.Microsecond, work: 300 * time.Microsecond, apart: true},
	} {
		m.client, m.server = spinner{probes: true, limit: spinLong}, spinner{limit: spinLong}
		m.calls(1000) // it has to find out
		m.looked, m.slept = 0, 0
		const n = 10000
		total, _ := m.calls(n)
		if all := n * (total + m.work); m.looked > all/10 {
			t.Errorf("%s: looks for %v of %v", name, m.looked, all)
		}
	}
}

// TestSpinNever: a machine with one processor is never looked on.
func TestSpinNever(t *testing.T) {
	s := spinner{never: true, probes: true, limit: spinLong, skips: spinSkips}
	if d := s.next(true) + s.next(false); d != 0 {
		t.Errorf("looks for %v", d)
	}
}
