package joint

import (
	"math"
	"sync"
	"time"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/worker/quota"
)

// Card is a card as its sessions know it. Parts of one card have its address.
type Card struct {
	At   uint64 // PCI address
	UUID [16]byte
}

const (
	// maxCards bounds those that a holder names.
	maxCards = 1024
	// maxHeld bounds what a holder says that it holds of one.
	maxHeld = 1 << 50
)

// Accounts are those of all sessions. The zero value is ready, safe for concurrent use.
type Accounts struct {
	mu  sync.Mutex
	all map[string]*account
	now func() time.Time // nil: the machine's clock
}

type account struct {
	in      *Accounts
	key     string
	holders map[*Holder]struct{}
	cards   map[Card]*balance
	until   time.Time // when an account without holders is forgotten
}

// balance is what an account has of a card.
type balance struct {
	held   uint64    // bytes, of all holders
	budget float64   // seconds that kernels may run; below 0: ran too long
	filled time.Time // zero: never
}

// Holder is one session.
type Holder struct {
	of     *account
	limits func(at uint64) quota.Limits
	held   map[Card]uint64
	joined time.Time
	spent  map[Card]time.Duration
	left   bool
}

// Join makes a session a holder of the account that the key names. limits are what it would let the account have of the card with an address; the account
// has as much as the most generous of its holders'.
func (a *Accounts) Join(key string, limits func(at uint64) quota.Limits) *Holder {
	a.mu.Lock()
	defer a.mu.Unlock()
	of := a.all[key]
	if of == nil {
		if a.all == nil {
			a.all = map[string]*account{}
		}
		of = &account{in: a, key: key, holders: map[*Holder]struct{}{}, cards: map[Card]*balance{}}
		a.all[key] = of
	}
	h := &Holder{of: of, limits: limits, held: map[Card]uint64{}, spent: map[Card]time.Duration{}, joined: a.clock()}
	of.holders[h] = struct{}{}
	return h
}

func (a *Accounts) clock() time.Time {
	if a.now != nil {
		return a.now()
	}
	return time.Now()
}

// SetLimits replaces what Join was given.
func (h *Holder) SetLimits(limits func(at uint64) quota.Limits) {
	h.of.in.mu.Lock()
	h.limits = limits
	h.of.in.mu.Unlock()
}

// Leave ends the session's part: what it holds is free. Leaving twice does nothing, and nothing can be had afterwards. A nil holder has nothing.
func (h *Holder) Leave() {
	if h == nil {
		return
	}
	of := h.of
	of.in.mu.Lock()
	defer of.in.mu.Unlock()
	if h.left {
		return
	}
	h.left = true
	for c, n := range h.held {
		of.cards[c].held -= n
	}
	h.held = nil
	if len(of.holders) == 1 { // with its own limits: nobody is left who has any
		of.outlive()
	}
	delete(of.holders, h)
}

// outlive has the account, whose last holder leaves, forgotten once its budgets are paid; with mu.
func (of *account) outlive() {
	debt := time.Duration(0)
	for c, b := range of.cards {
		share := of.limit(c.At).Compute
		if share <= 0 || share >= 1 {
			delete(of.cards, c)
			continue
		}
		b.fill(of.in.clock(), share)
		if b.budget >= 0 {
			delete(of.cards, c)
			continue
		}
		debt = max(debt, wait(b.budget, share))
	}
	if debt == 0 {
		delete(of.in.all, of.key)
		return
	}
	until := of.in.clock().Add(debt)
	of.until = until
	time.AfterFunc(debt, func() {
		of.in.mu.Lock()
		defer of.in.mu.Unlock()
		if len(of.holders) == 0 && of.until.Equal(until) && of.in.all[of.key] == of {
			delete(of.in.all, of.key)
		}
	})
}

// limit is what the account may have of a card; with mu.
func (of *account) limit(at uint64) (most quota.Limits) {
	first := true
	for h := range of.holders {
		l := h.limits(at)
		if first {
			most, first = l, false
			continue
		}
		if most.Memory != 0 && (l.Memory == 0 || l.Memory > most.Memory) {
			most.Memory = l.Memory
		}
		if most.Compute != 0 && (l.Compute == 0 || l.Compute > most.Compute) {
			most.Compute = l.Compute
		}
	}
	return most
}

// at is the account's balance of a card; nil if the session has left, or names more cards than there are. With mu.
func (h *Holder) at(c Card) *balance {
	if h.left {
		return nil
	}
	b := h.of.cards[c]
	if b == nil {
		b = &balance{}
		h.of.cards[c] = b
	}
	if _, known := h.held[c]; !known {
		if len(h.held) >= maxCards {
			return nil
		}
		h.held[c] = 0
	}
	return b
}

// room is how much more of a card's memory the account may have; with mu.
func (of *account) room(c Card, b *balance) uint64 {
	limit := of.limit(c.At).Memory
	if limit == 0 {
		limit = math.MaxUint64
	}
	return limit - min(b.held, limit)
}

// Take takes size bytes of a card, or as much of it as there is, in whole pages, if that is least.
func (h *Holder) Take(c Card, size, least uint64) (got uint64) {
	h.of.in.mu.Lock()
	defer h.of.in.mu.Unlock()
	b := h.at(c)
	if b == nil {
		return 0
	}
	room := min(h.of.room(c, b), maxHeld-min(h.held[c], maxHeld))
	if got = size; got > room {
		got = room &^ (hip.Granule - 1)
	}
	if got < least {
		return 0
	}
	b.held += got
	h.held[c] += got
	return got
}

// Add notes size bytes that the session has already, whether there was room or not: it is about to give them back.
func (h *Holder) Add(c Card, size uint64) {
	h.of.in.mu.Lock()
	defer h.of.in.mu.Unlock()
	if b := h.at(c); b != nil {
		size = min(size, maxHeld-min(h.held[c], maxHeld))
		b.held += size
		h.held[c] += size
	}
}

// Give gives back size bytes of a card, or what the session holds.
func (h *Holder) Give(c Card, size uint64) {
	h.of.in.mu.Lock()
	defer h.of.in.mu.Unlock()
	if b := h.at(c); b != nil {
		size = min(size, h.held[c])
		b.held -= size
		h.held[c] -= size
	}
}

// Left is how much of a card the account may still have.
func (h *Holder) Left(c Card) uint64 {
	h.of.in.mu.Lock()
	defer h.of.in.mu.Unlock()
	if b := h.at(c); b != nil {
		return h.of.room(c, b)
	}
	return 0
}

// Held is what the session holds of a card.
func (h *Holder) Held(c Card) uint64 {
	h.of.in.mu.Lock()
	defer h.of.in.mu.Unlock()
	return h.held[c]
}

// With says whether two sessions are of one account. A nil holder is of none.
func (h *Holder) With(other *Holder) bool { return h != nil && other != nil && h.of == other.of }
