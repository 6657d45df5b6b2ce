package card

import (
	"slices"
	"sync"
)

// Counters only grow, over a card's or a session's lifetime.
type Counters struct {
	Busy     uint64 // ns during which a kernel ran
	UnitTime uint64 // ns × compute units that kernels could fill
	Work     Work
	CopyBusy uint64            // ns of copies
	Copies   [numCopies]uint64 // bytes by direction
	FromPeer [MaxCards]uint64  // bytes that came from the memory of another card, by card
}

// Fault is a kernel that touched memory it has not.
type Fault struct {
	Card, PID int
	Addr      uint64
	Kernel    string // the last kernel that began
	Text      string // what else is known of a fault: instruction, line, nearest allocation, who freed it
	Check     int    // 1 + number of the check that found something instead; 0: a fault
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

// Monitor reads a segment for the parent of its sessions. It alone ends seats that a process has had.
// Safe for concurrent use.
type Monitor struct {
	seg *Segment

	mu    sync.Mutex
	last  []Counters // by session and card, as accounted so far
	total []Counters // by card
	busy  []uint64   // of total, when all slots were read last
	seen  []uint64   // when a slot was read last, by session and card
	when  uint64     // when all slots were read last

	places int // sessions there were when all slots were read last

	counted []uint64            // faults of a slot that were told, by session and card
	checked [][NumChecks]uint64 // likewise what checks found
	faults  []Fault             // that nobody has taken yet
}

// maxFaults bounds the faults that wait to be taken.
const maxFaults = 1024

// NewMonitor makes the monitor of a segment; a segment has one.
func NewMonitor(s *Segment) *Monitor {
	n := len(s.seats) * s.cards
	m := &Monitor{seg: s, last: make([]Counters, n), total: make([]Counters, s.cards), busy: make([]uint64, s.cards), seen: make([]uint64, n), counted: make([]uint64, n), checked: make([][NumChecks]uint64, n)}
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
		cards[c].Capacity = m.seg.Capacity(c)
		cards[c].Sessions = make([]Use, 0, m.places)
	}
	taken := m.seats()
	for i, x := range taken {
		if x.seat == nil || x.pid == 0 {
			for c := range cards {
				m.seen[i*m.seg.cards+c] = now
			}
			continue
		}
		for c := range cards {
			m.account(x.seat, c, x.pid, now)
			u := m.use(x.seat, c, x.pid, x.used[c])
			cd := &cards[c]
			cd.Used += u.Used
			cd.Host += u.Host
			cd.Running += u.Running
			cd.Sessions = append(cd.Sessions, u)
		}
	}
	m.places = len(cards[0].Sessions)
	settle()
	for c := range cards {
		cards[c].Counters = m.total[c]
	}
	return cards
}

// seated is a place of the segment at one moment.
type seated struct {
	seat *Seat // nil: nobody sits there
	pid  int
	used []uint64 // by card
}

// seats are all places. While mu is held none of them ends: it is Reap that ends them.
func (m *Monitor) seats() []seated {
	m.seg.mu.Lock()
	defer m.seg.mu.Unlock()
	list := make([]seated, len(m.seg.seats))
	used := make([]uint64, 0, m.places*m.seg.cards)
	for i, x := range m.seg.seats {
		if x != nil {
			at := len(used)
			used = append(used, x.used...)
			list[i] = seated{x, int(x.pid.Load()), used[at:]}
		}
	}
	return list
}

// round begins a reading of all slots; the function it returns ends it. A card
// was not busy for longer than the time since the last round, however many of
// its sessions were, those that have ended meanwhile among them.
func (m *Monitor) round() (now uint64, settle func()) {
	now = Now()
	return now, func() {
		for c := range m.total {
			m.busy[c] = min(m.total[c].Busy, m.busy[c]+now-min(m.when, now))
			m.total[c].Busy = m.busy[c]
		}
		m.when = now
	}
}

// Reap ends the seats of a process that has ended, and tells what each used of each card, over its life. What it held is free at once, what
// it did stays in the cards' counters. Nobody else's seat is looked at: with many sessions one ends at any time.
func (m *Monitor) Reap(pid int, each func(card int, last Use)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := Now()
	for _, x := range m.seatsOf(pid) {
		for c, used := range x.used {
			m.account(x.seat, c, pid, now)
			each(c, m.use(x.seat, c, pid, used))
			k := x.seat.index*m.seg.cards + c
			m.counted[k], m.checked[k], m.last[k] = 0, [NumChecks]uint64{}, Counters{}
		}
		x.seat.Close()
	}
}

// seatsOf are the seats of a process: one, but for runtimes in this process.
func (m *Monitor) seatsOf(pid int) (list []seated) {
	m.seg.mu.Lock()
	defer m.seg.mu.Unlock()
	for _, x := range m.seg.seats {
		if x != nil && pid != 0 && x.pid.Load() == int64(pid) {
			list = append(list, seated{x, pid, slices.Clone(x.used)})
		}
	}
	return list
}

// Held is the memory in bytes that a process holds of some cards, of all if none is named; false if it has no
// seat.
func (m *Monitor) Held(pid int, cards ...int) (n uint64, ok bool) {
	m.seg.mu.Lock()
	defer m.seg.mu.Unlock()
	for _, x := range m.seg.seats {
		if x == nil || pid == 0 || x.pid.Load() != int64(pid) {
			continue
		}
		ok = true
		for c, used := range x.used {
			if len(cards) == 0 || slices.Contains(cards, c) {
				n += used
			}
		}
	}
	return n, ok
}

// Memory is a digest of who holds how much memory: while it is the same, that has
// not changed. It costs far less than Read.
func (m *Monitor) Memory() uint64 {
	m.mu.Lock() // no seat ends meanwhile
	defer m.mu.Unlock()
	m.seg.mu.Lock()
	defer m.seg.mu.Unlock()
	const prime = 1099511628211
	h := uint64(14695981039346656037)
	for _, x := range m.seg.seats {
		if x == nil {
			h *= prime
			continue
		}
		h = (h ^ uint64(x.pid.Load())) * prime
		for c, used := range x.used {
			h = (h ^ used) * prime
			h = (h ^ x.slot(c).host.Load()) * prime
		}
	}
	return h
}

// TakeFaults are the faults since the last time.
func (m *Monitor) TakeFaults() []Fault {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := m.faults
	m.faults = nil
	return list
}

// perRead is more than a session can do of anything but time from one reading to
// the next, and far less than wraps. What is beyond counts at the next one.
const perRead = 1 << 40

// grown is by how much a counter has grown since it was *was, which it becomes. It
// does not shrink, and grows by no more than limit at a time.
func grown(cur uint64, was *uint64, limit uint64) uint64 {
	if cur <= *was {
		return 0
	}
	d := min(cur-*was, limit)
	*was += d
	return d
}

// account adds to the card's counters what a slot has done since it was read
// last. A slot cannot have been busy for longer than that, and counters that go
// backwards count as nothing.
func (m *Monitor) account(x *Seat, card, pid int, now uint64) {
	k := x.index*m.seg.cards + card
	elapsed := now - min(m.seen[k], now)
	m.seen[k] = now
	sl := x.slot(card)
	was, sum := &m.last[k], &m.total[card]
	since := func(at uint64) uint64 {
		if at == 0 || at >= now {
			return 0
		}
		return now - at
	}
	sum.Busy += grown(bounded(sl.busy.Load())+since(sl.since.Load()), &was.Busy, elapsed)
	units := min(sl.units.Load(), maxUnits)
	sum.UnitTime += grown(bounded(sl.unitTime.Load())+min(since(sl.unitSince.Load()), elapsed)*units, &was.UnitTime, elapsed*maxUnits)
	sum.CopyBusy += grown(sl.copyBusy.Load(), &was.CopyBusy, elapsed*64) // copies overlap
	for i := range sum.Copies {
		sum.Copies[i] += grown(sl.copyBytes[i].Load(), &was.Copies[i], perRead)
	}
	for i := range m.seg.cards {
		sum.FromPeer[i] += grown(sl.fromPeer[i].Load(), &was.FromPeer[i], perRead)
	}
	w, o := &sum.Work, &was.Work
	w.Dispatches += grown(sl.dispatches.Load(), &o.Dispatches, perRead)
	w.Workgroups += grown(sl.workgroups.Load(), &o.Workgroups, perRead)
	w.Waves += grown(sl.waves.Load(), &o.Waves, perRead)
	for i := range w.Instructions {
		w.Instructions[i] += grown(sl.instructions[i].Load(), &o.Instructions[i], perRead)
		w.Lanes[i] += grown(sl.lanes[i].Load(), &o.Lanes[i], perRead)
	}
	w.ReadBytes += grown(sl.readBytes.Load(), &o.ReadBytes, perRead)
	w.WriteBytes += grown(sl.writeBytes.Load(), &o.WriteBytes, perRead)
	w.Atomics += grown(sl.atomics.Load(), &o.Atomics, perRead)
	w.FLOPs += grown(sl.flops.Load(), &o.FLOPs, perRead)
	if n := sl.faults.Load(); n != m.counted[k] {
		m.counted[k] = n
		if len(m.faults) < maxFaults {
			m.faults = append(m.faults, Fault{Card: card, PID: pid, Addr: sl.faultAddr.Load(), Kernel: sl.kernel(), Text: getText(&sl.textLen, sl.text[:])})
		}
	}
	for i := range sl.found {
		for n := grown(sl.found[i].Load(), &m.checked[k][i], maxFaults); n > 0 && len(m.faults) < maxFaults; n-- {
			m.faults = append(m.faults, Fault{Card: card, PID: pid, Kernel: sl.kernel(), Check: i + 1})
		}
	}
}

// maxUnits is more compute units than kernels can fill.
const maxUnits = 1 << 16

// bounded is a time that can be added to.
func bounded(n uint64) uint64 { return min(n, 1<<62) }

// use is a slot's state; its counters are those that were accounted.
func (m *Monitor) use(x *Seat, card, pid int, used uint64) Use {
	sl := x.slot(card)
	return Use{
		PID:      pid,
		Used:     used,
		Host:     min(sl.host.Load(), 1<<50),
		Units:    int(min(sl.units.Load(), 1<<16)),
		Running:  int(min(sl.running.Load(), 1<<16)),
		Kernel:   sl.kernel(),
		Counters: m.last[x.index*m.seg.cards+card],
	}
}

// kernel is the name of the last kernel, with what is not printable replaced.
func (sl *slot) kernel() string { return getText(&sl.nameLen, sl.name[:]) }
