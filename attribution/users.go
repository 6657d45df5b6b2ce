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
	name   string // the number until the name is known
	at     time.Time
	answer *userAnswer // the question under way, nil if there is none
}

// userAnswer is the answer to a question, for all who ask meanwhile.
type userAnswer struct {
	until time.Time     // how long anybody waits for it
	done  chan struct{} // closed when name is there
	name  string
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

// name is the name of a user, the number if it has none or nobody says in time. All who ask for the same user at once get the same answer.
func (u *users) name(uid string) string {
	u.mu.Lock()
	n, ok := u.names[uid]
	switch {
	case n.answer != nil:
	case ok && time.Since(n.at) < keepUser:
		u.mu.Unlock()
		return n.name
	case u.open >= maxLate:
		u.mu.Unlock()
		if !ok {
			return uid
		}
		return n.name
	default:
		if !ok {
			n.name = uid
			if len(u.names) >= maxUsers {
				clear(u.names)
			}
		}
		n.answer = &userAnswer{until: time.Now().Add(u.patience), done: make(chan struct{})}
		u.names[uid] = n
		u.open++
		go u.ask(uid, n.answer)
	}
	u.mu.Unlock()
	t := time.NewTimer(time.Until(n.answer.until))
	defer t.Stop()
	select {
	case <-n.answer.done:
		return n.answer.name
	case <-t.C:
		return n.name
	}
}

// ask gets the name of a user and remembers it.
func (u *users) ask(uid string, a *userAnswer) {
	name, err := u.lookup(uid)
	if err != nil || name == "" {
		name = uid
	}
	a.name = clean(name, maxName)
	u.mu.Lock()
	u.names[uid] = userName{name: a.name, at: time.Now()}
	u.open--
	u.mu.Unlock()
	close(a.done)
}
