package card

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
)

// Session is a session's own part of the cards. Safe for concurrent use.
type Session struct {
	name  uint32
	board *board
	page  *page
	count int // of cards
	ask   ledger
	far   bool // the board and the page are its own mappings
	cards []Meter
}

// Attach takes a seat for a session in this process, which is shown as the process pid. Error: ErrSessions.
func (s *Segment) Attach(pid int) (*Session, error) {
	x, err := s.seat()
	if err != nil {
		return nil, err
	}
	x.pid.Store(int64(pid))
	return newSession(x.name, s.board, x.page, s.cards, ownLedger{x}), nil
}

// Open takes what a session process has inherited: the descriptors of Seat.Files, in their order. Error: ErrSegment.
func Open(boardFD, pageFD, ledgerFD uintptr) (*Session, error) {
	l := os.NewFile(ledgerFD, "ledger")
	if l == nil {
		return nil, fmt.Errorf("%w: bad descriptor of the ledger", ErrSegment)
	}
	b, err := openBoard(boardFD)
	if err != nil {
		closeFiles(l, os.NewFile(pageFD, ""))
		return nil, err
	}
	cards := int(b.page().count)
	p, err := openPage(pageFD, cards)
	if err != nil {
		closeFiles(l)
		b.close()
		return nil, err
	}
	name := uint32(p.slot(0).name0.Load())
	s := newSession(name, b, p, cards, &farLedger{file: l})
	s.far = true
	return s, nil
}

func newSession(name uint32, b *board, p *page, cards int, l ledger) *Session {
	s := &Session{name: name, board: b, page: p, count: cards, ask: l, cards: make([]Meter, cards)}
	for c := range s.cards {
		s.cards[c] = Meter{board: b, card: c, slot: p.slot(c), ask: l}
	}
	return s
}

// Name is the session among all that the cards have. It is never 0.
func (ss *Session) Name() uint32 { return ss.name }

// Alive says whether the session of that name has not ended.
func (ss *Session) Alive(name uint32) bool { return ss.board.alive(name) }

// Cards is the number of cards.
func (ss *Session) Cards() int { return ss.count }

// Condition is what has become of a card.
func (ss *Session) Condition(card int) Condition { return ss.board.condition(card) }

// Card is the session's meter for a card.
func (ss *Session) Card(card int) *Meter { return &ss.cards[card] }

// Detach gives up what the session holds. What it did stays to be read until
// the parent sweeps its seat.
func (ss *Session) Detach() {
	ss.ask.end()
	for i := range ss.cards {
		sl := ss.cards[i].slot
		ss.cards[i].held.Store(0)
		sl.host.Store(0)
		sl.units.Store(0)
		sl.unitSince.Store(0)
		sl.running.Store(0)
		sl.since.Store(0)
	}
}

// Meter counts what one session uses of one card.
type Meter struct {
	board *board
	card  int
	slot  *slot
	ask   ledger
	held  atomic.Uint64

	mu      sync.Mutex
	running int
	since   uint64
	units   uint64
	changed uint64 // when units changed last
}

// Capacity is the card's memory in bytes.
func (m *Meter) Capacity() uint64 { return m.board.capacity(m.card) }

// Free is the card's memory that nobody holds.
func (m *Meter) Free() uint64 { return m.Capacity() - min(m.board.used(m.card), m.Capacity()) }

// Held is what this session holds.
func (m *Meter) Held() uint64 { return m.held.Load() }

// Take takes n bytes of the card's memory, all or nothing.
func (m *Meter) Take(n uint64) bool {
	if n > m.Capacity() || !m.ask.take(m.card, n) {
		return false
	}
	m.held.Add(n)
	return true
}

// Give gives n bytes back.
func (m *Meter) Give(n uint64) {
	m.held.Add(-n)
	m.ask.give(m.card, n)
}

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
	putText(&m.slot.nameLen, m.slot.name[:], kernel)
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

// Found notes that a check has found something.
func (m *Meter) Found(check int) {
	if check >= 0 && check < NumChecks {
		m.slot.found[check].Add(1)
	}
}

// Faulted notes that a kernel touched memory it has not, at an address, and what
// else is known, of which MaxText bytes are kept.
func (m *Meter) Faulted(addr uint64, text string) {
	putText(&m.slot.textLen, m.slot.text[:], text)
	m.slot.faultAddr.Store(addr)
	m.slot.faults.Add(1)
}
