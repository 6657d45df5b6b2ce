package confine

import (
	"errors"
	"sync"
)

var errUIDs = errors.New("confine: all users for session processes are taken")

// users gives every living session process a user of its own. A number is used again as late as possible: files or messages of one that has ended
// could still carry it.
type users struct {
	mu    sync.Mutex
	of    UIDs
	next  uint32
	taken map[uint32]struct{}
}

func newUsers(of UIDs) *users {
	if of == (UIDs{}) {
		of = dynamic
	}
	return &users{of: of, next: of.First, taken: map[uint32]struct{}{}}
}

func (u *users) take() (uint32, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for range u.of.Last - u.of.First + 1 {
		n := u.next
		if u.next++; n == u.of.Last {
			u.next = u.of.First
		}
		if _, taken := u.taken[n]; !taken {
			u.taken[n] = struct{}{}
			return n, nil
		}
	}
	return 0, errUIDs
}

func (u *users) give(n uint32) {
	u.mu.Lock()
	delete(u.taken, n)
	u.mu.Unlock()
}
