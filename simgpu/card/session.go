package card

import (
	"runtime"
	"sync"
)

// Session is a process's part of a segment. Safe for concurrent use.
type Session struct {
	seg   *Segment
	index int
	cards []Meter
}

// Attach takes a free place in the segment for the process pid. Error:
// ErrSessions.
func (s *Segment) Attach(pid int) (*Session, error) {
	for i := range s.sessions {
		if !s.slot(i, 0).owner.CompareAndSwap(0, uint64(pid)) {
			continue
		}
		ss := &Session{seg: s, index: i, cards: make([]Meter, s.cards)}
		for c := range ss.cards {
			ss.cards[c] = Meter{seg: s, card: c, slot: s.slot(i, c)}
		}
		return ss, nil
	}
	return nil, ErrSessions
}

// Card is the session's meter for a card.
func (ss *Session) Card(card int) *Meter { return &ss.cards[card] }

// Detach gives up what the session holds. What it did stays to be read until
// the parent sweeps the slot.
func (ss *Session) Detach() {
	for i := range ss.cards {
		sl := ss.cards[i].slot
		sl.used.Store(0)
		sl.host.Store(0)
		sl.units.Store(0)
		sl.unitSince.Store(0)
		sl.running.Store(0)
		sl.since.Store(0)
	}
}

// Meter counts what one session uses of one card.
type Meter struct {
	seg  *Segment
	card int
	slot *slot

	mu      sync.Mutex
	running int
	since   uint64
	units   uint64
	changed uint64 // when units changed last
}

// Capacity is the card's memory in bytes.
func (m *Meter) Capacity() uint64 { return m.seg.capacity[m.card] }

// Free is the card's memory that nobody holds.
func (m *Meter) Free() uint64 {
	used := m.seg.used(m.card, nil)
	return m.Capacity() - min(used, m.Capacity())
}

// Held is what this session holds.
func (m *Meter) Held() uint64 { return m.slot.used.Load() }

// Take takes n bytes of the card's memory, all or nothing.
//
// Each session announces what it wants and then looks at the sum: two that ask
// at the same time may both be refused, never both be given too much. So a
// refusal is tried again a few times, and at last without the sessions that
// have ended and were not swept yet.
func (m *Meter) Take(n uint64) bool {
	capacity := m.Capacity()
	if n > capacity {
		return false
	}
	for try := range 4 {
		var skip func(int) bool
		if try == 3 {
			skip = gone
		}
		m.slot.used.Add(n)
		if m.seg.used(m.card, skip) <= capacity && m.slot.used.Load() <= capacity {
			return true
		}
		m.Give(n)
		runtime.Gosched()
	}
	return false
}

// Give gives n bytes back.
func (m *Meter) Give(n uint64) { m.slot.used.Add(-n) }

// TakeHost notes n bytes of host memory that the card can reach, GiveHost that
// it no longer can. Host memory has no limit here.
func (m *Meter) TakeHost(n uint64) { m.slot.host.Add(n) }
func (m *Meter) GiveHost(n uint64) { m.slot.host.Add(-n) }

// Begin notes that a kernel starts that can fill a number of compute units.
func (m *Meter) Begin(kernel string, units int) {
	kernel = kernel[:min(len(kernel), MaxName)]
	m.mu.Lock()
	defer m.mu.Unlock()
	now := Now()
	if m.running == 0 {
		m.since = now
		m.slot.since.Store(now)
	}
	m.running++
	m.setUnits(m.units+uint64(units), now)
	m.slot.running.Store(uint64(m.running))
	m.slot.nameLen.Store(0)
	for i := 0; i < len(kernel); i += 8 {
		var w uint64
		for j := range min(8, len(kernel)-i) {
			w |= uint64(kernel[i+j]) << (8 * j)
		}
		m.slot.name[i/8].Store(w)
	}
	m.slot.nameLen.Store(uint64(len(kernel)))
}

// End notes that a kernel ended, with what Begin was told.
func (m *Meter) End(units int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.running--
	now := Now()
	m.setUnits(m.units-uint64(units), now)
	m.slot.running.Store(uint64(m.running))
	if m.running == 0 {
		// A reader in between sees too little for a moment, never too much.
		m.slot.since.Store(0)
		m.slot.busy.Add(now - m.since)
	}
}

// setUnits accounts the time up to now and notes how many compute units the
// kernels can fill from now on. mu is held.
func (m *Meter) setUnits(units, now uint64) {
	m.slot.unitSince.Store(0) // as in End
	m.slot.unitTime.Add(m.units * (now - m.changed))
	m.units, m.changed = units, now
	m.slot.units.Store(units)
	if units > 0 {
		m.slot.unitSince.Store(now)
	}
}

// Work adds what kernels executed. It may be called while they run.
func (m *Meter) Work(st *Work) {
	sl := m.slot
	sl.dispatches.Add(st.Dispatches)
	sl.workgroups.Add(st.Workgroups)
	sl.waves.Add(st.Waves)
	for i := range st.Instructions {
		sl.instructions[i].Add(st.Instructions[i])
		sl.lanes[i].Add(st.Lanes[i])
	}
	sl.readBytes.Add(st.ReadBytes)
	sl.writeBytes.Add(st.WriteBytes)
	sl.atomics.Add(st.Atomics)
	sl.flops.Add(st.FLOPs)
}

// Copied adds a copy of n bytes that took ns.
func (m *Meter) Copied(dir Copy, n, ns uint64) {
	m.slot.copyBytes[dir].Add(n)
	m.slot.copyBusy.Add(ns)
}

// FromPeer adds n bytes that came from the memory of another card.
func (m *Meter) FromPeer(card int, n uint64) { m.slot.fromPeer[card].Add(n) }

// Faulted notes that a kernel touched memory it has not, at an address.
func (m *Meter) Faulted(addr uint64) {
	m.slot.faultAddr.Store(addr)
	m.slot.faults.Add(1)
}
