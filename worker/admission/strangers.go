package admission

import (
	"container/list"
	"math/rand/v2"
	"sync"
	"time"
)

// grace is how long a connection may be silent without having to make room for another: some round trips of a bad line.
const grace = 2 * time.Second

// crowd is how many strangers there may be before newcomers are accepted one after the other.
const crowd = 64

// Strangers are the connections that have not said who they are.
type Strangers struct {
	limit      Startups
	perAddress int
	penalties  *Penalties
	now        func() time.Time
	chance     func(n int) int // below n

	mu        sync.Mutex
	n         int
	byAddress map[string]*list.List // of *stranger, oldest first
}

type stranger struct {
	since time.Time
	evict func()
	at    *list.Element // nil when it has left
}

// NewStrangers holds them to limits.
func NewStrangers(limit Startups, perAddress int, p *Penalties) *Strangers {
	return &Strangers{limit: limit, perAddress: perAddress, penalties: p, now: time.Now, chance: rand.IntN, byAddress: map[string]*list.List{}}
}

// Enter lets a connection in, or says why not. evict is called, at most once and on any goroutine, when it has to make room; leave is to be called when it is
// known who it is, or when it has ended. crowded says that the next one should be accepted a little later, so that those who have
// something to say can say it. Operators are not counted.
func (s *Strangers) Enter(from Source, evict func()) (leave func(), crowded bool, err error) {
	if from.Operator {
		return func() {}, false, nil
	}
	if err := s.penalties.Check(from); err != nil {
		return nil, false, err
	}
	s.mu.Lock()
	victim, err := s.room(from)
	if err != nil {
		s.mu.Unlock()
		return nil, false, err
	}
	l := s.byAddress[from.Key]
	if l == nil {
		l = list.New()
		s.byAddress[from.Key] = l
	}
	x := &stranger{since: s.now(), evict: evict}
	x.at = l.PushBack(x)
	s.n++
	crowded = s.n > crowd
	s.mu.Unlock()
	if victim != nil {
		victim.evict()
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.remove(from.Key, x)
	}, crowded, nil
}

func (s *Strangers) remove(key string, x *stranger) {
	if x.at == nil {
		return
	}
	l := s.byAddress[key]
	l.Remove(x.at)
	x.at = nil
	s.n--
	if l.Len() == 0 {
		delete(s.byAddress, key)
	}
}

// room finds a place for one more: a free one, or that of one who has been silent for too long, which it takes away.
func (s *Strangers) room(from Source) (victim *stranger, err error) {
	own := s.byAddress[from.Key]
	switch {
	case own != nil && own.Len() >= s.perAddress:
		if victim = s.take(from.Key, own); victim == nil {
			return nil, refuse("%d connections from this address have not said who they are yet (--max-startups-per-address); try again", s.perAddress)
		}
	case s.n >= s.limit.Full:
		key, most := s.greediest()
		if victim = s.take(key, most); victim == nil {
			return nil, refuse("%d connections have not said who they are yet (--max-startups); try again", s.limit.Full)
		}
	case s.n >= s.limit.Start && own != nil && s.silent(own) != nil && s.chance(100) < s.rate():
		return nil, refuse("many connections have not said who they are yet, silent ones from this address among them (--max-startups); try again")
	}
	return victim, nil
}

// rate is the chance in percent of an early refusal.
func (s *Strangers) rate() int {
	u := s.limit
	return u.Rate + (100-u.Rate)*(s.n-u.Start)/max(1, u.Full-u.Start)
}

// greediest is the address with most silent ones.
func (s *Strangers) greediest() (key string, most *list.List) {
	for k, l := range s.byAddress {
		if s.silent(l) != nil && (most == nil || l.Len() > most.Len()) {
			key, most = k, l
		}
	}
	return key, most
}

// silent is the one of an address that has been silent for longest, if that is too long.
func (s *Strangers) silent(l *list.List) *stranger {
	if x := l.Front().Value.(*stranger); s.now().Sub(x.since) > grace {
		return x
	}
	return nil
}

// take takes the place of a silent one, nil if there is none.
func (s *Strangers) take(key string, l *list.List) *stranger {
	if l == nil {
		return nil
	}
	x := s.silent(l)
	if x != nil {
		s.remove(key, x)
	}
	return x
}
