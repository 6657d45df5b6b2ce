package card

import (
	"sync"
	"sync/atomic"
	"unicode/utf8"
	"unsafe"
)

// Counters only grow, over a card's or a session's lifetime.
type Counters struct {
	Busy     uint64 // ns during which a kernel ran
	Work     Work
	CopyBusy uint64            // ns of copies
	Copies   [numCopies]uint64 // bytes by direction
}

// CopyBytes is the number of bytes copied in all directions.
func (c *Counters) CopyBytes() uint64 {
	var n uint64
	for _, v := range c.Copies {
		n += v
	}
	return n
}

// Use is what one session uses of one card.
type Use struct {
	PID     int
	Used    uint64 // bytes of card memory
	Host    uint64 // bytes of host memory the card can reach
	Running int    // kernels that run now
	Units   int    // compute units they could fill
	Kernel  string // the last one that began, "" for none
	Counters
}

// Card is what a card does: the sum of its sessions, the past ones included.
type Card struct {
	Capacity uint64
	Used     uint64
	Host     uint64
	Running  int
	Counters // since the monitor was made
	Sessions []Use
}

// Monitor reads a segment for the parent of its sessions. It alone frees slots.
// Safe for concurrent use.
type Monitor struct {
	seg *Segment

	mu    sync.Mutex
	last  []Counters // by session and card, as accounted so far
	total []Counters // by card
	seen  []uint64   // when a slot was read last, by session and card
	when  uint64     // when all slots were read last
}

// NewMonitor makes the monitor of a segment; a segment has one.
func NewMonitor(s *Segment) *Monitor {
	n := s.sessions * s.cards
	m := &Monitor{seg: s, last: make([]Counters, n), total: make([]Counters, s.cards), seen: make([]uint64, n)}
	now := Now()
	m.when = now
	for i := range m.seen {
		m.seen[i] = now
	}
	return m
}

// Read is the state of all cards.
func (m *Monitor) Read() []Card {
	m.mu.Lock()
	defer m.mu.Unlock()
	now, settle := m.round()
	cards := make([]Card, m.seg.cards)
	for c := range cards {
		cards[c].Capacity = m.seg.capacity[c]
	}
	for i := range m.seg.sessions {
		pid := m.seg.slot(i, 0).owner.Load()
		if pid == 0 {
			for c := range cards {
				m.seen[i*m.seg.cards+c] = now
			}
			continue
		}
		for c := range cards {
			m.account(i, c, now)
			u := m.use(i, c, int(pid&0x7fffffff))
			cd := &cards[c]
			cd.Used = min(cd.Used+u.Used, cd.Capacity)
			cd.Host += u.Host
			cd.Running += u.Running
			cd.Sessions = append(cd.Sessions, u)
		}
	}
	settle()
	for c := range cards {
		cards[c].Counters = m.total[c]
	}
	return cards
}

// round begins a reading of all slots; the function it returns ends it. A card
// was not busy for longer than the time since the last round, however many of
// its sessions were.
func (m *Monitor) round() (now uint64, settle func()) {
	now = Now()
	before := make([]uint64, len(m.total))
	for c := range m.total {
		before[c] = m.total[c].Busy
	}
	return now, func() {
		for c := range m.total {
			m.total[c].Busy = min(m.total[c].Busy, before[c]+now-min(m.when, now))
		}
		m.when = now
	}
}

// Sweep frees the slots of all processes that alive does not vouch for. What
// they held is free at once, what they did stays in the cards' counters.
func (m *Monitor) Sweep(alive func(pid int) bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now, settle := m.round()
	defer settle()
	for i := range m.seg.sessions {
		owner := &m.seg.slot(i, 0).owner
		pid := owner.Load()
		if pid == 0 || pid <= 0x7fffffff && alive(int(pid)) {
			continue
		}
		for c := range m.seg.cards {
			m.account(i, c, now)
			m.seg.slot(i, c).reset()
			m.last[i*m.seg.cards+c] = Counters{}
		}
		owner.Store(0)
	}
}

// Reap frees the slots of one process that has ended.
func (m *Monitor) Reap(pid int) { m.Sweep(func(p int) bool { return p != pid }) }

// account adds to the card's counters what a slot has done since it was read
// last. A slot cannot have been busy for longer than that, and counters that go
// backwards count as nothing.
func (m *Monitor) account(session, card int, now uint64) {
	k := session*m.seg.cards + card
	elapsed := now - min(m.seen[k], now)
	m.seen[k] = now
	cur := m.seg.slot(session, card).counters(now)
	was, sum := &m.last[k], &m.total[card]
	d := func(cur, was *uint64, limit uint64) uint64 {
		if *cur < *was {
			*cur = *was
		}
		if *cur-*was > limit {
			*cur = *was + limit
		}
		return *cur - *was
	}
	const perRead = 1 << 48 // of anything but time: far more than can be, far less than wraps
	sum.Busy += d(&cur.Busy, &was.Busy, elapsed)
	sum.CopyBusy += d(&cur.CopyBusy, &was.CopyBusy, elapsed*64) // copies overlap
	for i := range sum.Copies {
		sum.Copies[i] += d(&cur.Copies[i], &was.Copies[i], perRead)
	}
	s, c, w := sum.Work.fields(), cur.Work.fields(), was.Work.fields()
	for i := range s {
		*s[i] += d(c[i], w[i], perRead)
	}
	*was = cur
}

// counters reads a slot; the current stretch of work counts up to now.
func (sl *slot) counters(now uint64) Counters {
	var c Counters
	c.Busy = sl.busy.Load()
	if since := sl.since.Load(); since != 0 && since < now && c.Busy < 1<<62 {
		c.Busy += now - since
	}
	c.CopyBusy = sl.copyBusy.Load()
	for i := range c.Copies {
		c.Copies[i] = sl.copyBytes[i].Load()
	}
	w := &c.Work
	w.Dispatches, w.Workgroups, w.Waves = sl.dispatches.Load(), sl.workgroups.Load(), sl.waves.Load()
	for i := range w.Instructions {
		w.Instructions[i], w.Lanes[i] = sl.instructions[i].Load(), sl.lanes[i].Load()
	}
	w.ReadBytes, w.WriteBytes = sl.readBytes.Load(), sl.writeBytes.Load()
	w.Atomics, w.FLOPs = sl.atomics.Load(), sl.flops.Load()
	return c
}

// use is a slot's state; its counters are those that were accounted.
func (m *Monitor) use(session, card, pid int) Use {
	sl := m.seg.slot(session, card)
	return Use{
		PID:      pid,
		Used:     min(sl.used.Load(), m.seg.capacity[card]),
		Host:     min(sl.host.Load(), 1<<50),
		Units:    int(min(sl.units.Load(), 1<<16)),
		Running:  int(min(sl.running.Load(), 1<<16)),
		Kernel:   sl.kernel(),
		Counters: m.last[session*m.seg.cards+card],
	}
}

// kernel is the name of the last kernel, with what is not printable replaced.
func (sl *slot) kernel() string {
	n := int(min(sl.nameLen.Load(), MaxName))
	b := make([]byte, MaxName)
	for i := range sl.name {
		w := sl.name[i].Load()
		for j := range 8 {
			b[i*8+j] = byte(w >> (8 * j))
		}
	}
	b = b[:n]
	if !utf8.Valid(b) {
		for i, c := range b {
			if c >= 0x80 {
				b[i] = '?'
			}
		}
	}
	for i, c := range b {
		if c < 0x20 || c == 0x7f {
			b[i] = '?'
		}
	}
	return string(b)
}

// reset empties a slot but for its owner.
func (sl *slot) reset() {
	words := (*[slotSize / 8]atomic.Uint64)(unsafe.Pointer(sl))
	for i := 1; i < len(words); i++ {
		words[i].Store(0)
	}
}
