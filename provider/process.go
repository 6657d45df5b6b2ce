package provider

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/rocwire/rocwire/smi"
)

// maxProcesses is the size of the host's array.
const maxProcesses = 1024

// process is what one process uses of one device.
type process struct {
	id, uuid       string
	busy           float64 // percent
	active, units  uint64
	used, reserved uint64
	memory         float64 // percent
}

// processes lists who uses the cards, at most limit rows: of more, those that hold most
// memory. The error says that no card answered.
func (h *host) processes(ctx context.Context, l *library, limit int) ([]process, error) {
	cards, snap, err := l.cards(ctx)
	if err != nil {
		return nil, err
	}
	var list []process
	seen := map[user]bool{}
	answered := len(cards) == 0
	for i := range cards {
		c := &cards[i]
		units, memory := l.units(c), l.memory(c, nil)
		for _, d := range c.parts {
			if d.ProcessesErr != nil {
				err = d.ProcessesErr.Err()
				continue
			}
			answered = true
			uuid := c.uuid
			// Of a source that shows a divided card as one device it cannot be told whose
			// part a process uses.
			if a := h.ledger.at(c.uuid, int(l.part(d))); a != nil && (len(c.parts) > 1 || a.mode == undivided) {
				uuid = a.uuid
			}
			for k := range d.Processes {
				p := &d.Processes[k]
				if p.PID == 0 {
					continue
				}
				u := user{d.Device.Index, p.PID}
				seen[u] = true
				list = append(list, l.process(u, p, uuid, units, memory, snap.Time))
			}
		}
	}
	if !answered {
		return nil, err
	}
	l.forgetUsers(seen, snap.Time)
	if limit = min(limit, maxProcesses); len(list) > limit {
		slices.SortStableFunc(list, func(a, b process) int { return cmp.Compare(b.used, a.used) })
		list = list[:limit]
	}
	return list, nil
}

// process is one row.
func (l *library) process(u user, p *smi.Process, uuid string, units, memory uint64, now time.Time) process {
	r := process{id: strconv.FormatUint(uint64(p.PID), 10), uuid: uuid, units: units, used: uint64(p.VRAM.Or(0))}
	// No process sets memory of an AMD card aside without using it.
	r.reserved = r.used
	if memory > 0 {
		r.memory = percent(float64(r.used) / float64(memory))
	}
	share, measured := l.share(u, p.Busy, now)
	if n, ok := p.CUOccupancy.Get(); ok {
		r.active = min(uint64(max(0, n)), units)
		if !measured && units > 0 {
			share = float64(r.active) / float64(units)
		}
	} else {
		r.active = uint64(math.Round(share * float64(units)))
	}
	r.busy = percent(share)
	return r
}

// user is a process on a card, by the card's index at the source.
type user struct {
	index int
	pid   uint32
}

// window is over how long a process's share of a card is measured: several readings,
// each of which may be a moment old.
const window = 2 * time.Second

// shares are what each process has had of the cards' time.
type shares map[user]*history

// history are the running totals of a process, the oldest first: one at least as old as
// the window, and those since.
type history struct {
	looks []look
}

type look struct {
	at   time.Time
	busy time.Duration
}

// note adds what was read.
func (h *history) note(now time.Time, busy time.Duration) {
	n := len(h.looks)
	if n > 0 {
		last := h.looks[n-1]
		if busy < last.busy || now.Before(last.at) { // another process with the same number
			h.looks, n = h.looks[:0], 0
		} else if now.Sub(last.at) < window/16 {
			return
		}
	}
	h.looks = append(h.looks, look{now, busy})
	drop := 0
	for drop+1 < len(h.looks)-1 && now.Sub(h.looks[drop+1].at) >= window {
		drop++
	}
	h.looks = append(h.looks[:0], h.looks[drop:]...)
}

// share is the share of the time since the oldest look, 0 … 1; false if that is not
// long enough ago.
func (h *history) share() (float64, bool) {
	if len(h.looks) < 2 {
		return 0, false
	}
	first, last := h.looks[0], h.looks[len(h.looks)-1]
	if last.at.Sub(first.at) < window/8 {
		return 0, false
	}
	s := float64(last.busy-first.busy) / float64(last.at.Sub(first.at))
	return math.Max(0, math.Min(1, s)), true
}

// share is which share of the time a process's work ran; false if the source does not
// say, or was not asked twice yet.
func (l *library) share(u user, busy smi.Opt[smi.Duration], now time.Time) (float64, bool) {
	b, ok := busy.Get()
	if !ok {
		return 0, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.shares[u]
	if h == nil {
		h = &history{}
		l.shares[u] = h
	}
	h.note(now, time.Duration(b))
	return h.share()
}

// forgetUsers forgets processes that have not been seen for a while.
func (l *library) forgetUsers(seen map[user]bool, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for u, h := range l.shares {
		if n := len(h.looks); !seen[u] && (n == 0 || now.Sub(h.looks[n-1].at) > window) {
			delete(l.shares, u)
		}
	}
}
