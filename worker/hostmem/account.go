package hostmem

import "sync"

// Account is what a session may take, and has. Safe for concurrent use. A nil Account has no limit and counts nothing.
type Account struct {
	mu    sync.Mutex
	limit uint64
	held  uint64
}

// New makes an account of a session that may have limit bytes in all, of which this one is for what is kept.
func New(limit uint64) *Account {
	if limit == 0 {
		return nil
	}
	return &Account{limit: limit - Queue(limit) - Staging(limit)}
}

// Take takes n bytes, false if there is no room.
func (a *Account) Take(n uint64) bool {
	if a == nil {
		return true
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if n > a.limit-min(a.held, a.limit) {
		return false
	}
	a.held += n
	return true
}

// Fits says whether there is room for n bytes now.
func (a *Account) Fits(n uint64) bool {
	if a == nil {
		return true
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return n <= a.limit-min(a.held, a.limit)
}

// Add takes n bytes that are there already, and which Fits has found room for.
func (a *Account) Add(n uint64) {
	if a == nil {
		return
	}
	a.mu.Lock()
	a.held += n
	a.mu.Unlock()
}

// Give gives n bytes back.
func (a *Account) Give(n uint64) {
	if a == nil {
		return
	}
	a.mu.Lock()
	if a.held < n {
		a.mu.Unlock()
		panic("hostmem: more is given than was taken")
	}
	a.held -= n
	a.mu.Unlock()
}

// Limit is how much can be taken in all.
func (a *Account) Limit() uint64 {
	if a == nil {
		return 0
	}
	return a.limit
}

// Held is how much is taken.
func (a *Account) Held() uint64 {
	if a == nil {
		return 0
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.held
}
