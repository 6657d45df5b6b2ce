package attribution

import (
	"os/user"
	"sync"
	"time"
)

// users are the names of users by number, as text both. A name may come from a
// directory on the network, which may not answer.
type users struct {
	lookup   func(uid string) (string, error)
	patience time.Duration

	mu    sync.Mutex
	names map[string]userName
	open  int // questions under way
}

type userName struct {
	name  string // the number until the name is known
	asked bool   // and no answer yet
	at    time.Time
}

const (
	maxUsers = 1024
	// keepUser is how long a name counts.
	keepUser = 5 * time.Minute
)

func newUsers() *users {
	return &users{names: map[string]userName{}, patience: patience / 2, lookup: func(uid string) (string, error) {
		u, err := user.LookupId(uid)
		if err != nil {
			return "", err
		}
		return u.Username, nil
	}}
}

// name is the name of a user, the number if it has none or nobody says in time.
func (u *users) name(uid string) string {
	u.mu.Lock()
	n, ok := u.names[uid]
	if ok && (n.asked || time.Since(n.at) < keepUser) || u.open >= maxLate {
		u.mu.Unlock()
		if !ok {
			return uid
		}
		return n.name
	}
	if !ok {
		n.name = uid
		if len(u.names) >= maxUsers {
			clear(u.names)
		}
	}
	n.asked = true
	u.names[uid] = n
	u.open++
	u.mu.Unlock()
	answer := make(chan string, 1)
	go func() {
		name, err := u.lookup(uid)
		if err != nil || name == "" {
			name = uid
		}
		name = clean(name, maxName)
		u.mu.Lock()
		u.names[uid] = userName{name: name, at: time.Now()}
		u.open--
		u.mu.Unlock()
		answer <- name
	}()
	t := time.NewTimer(u.patience)
	defer t.Stop()
	select {
	case s := <-answer:
		return s
	case <-t.C:
		return n.name
	}
}
