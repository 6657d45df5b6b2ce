package admission

import (
	"errors"
	"fmt"
	"sync"

	"github.com/rocwire/rocwire/worker/access"
)

// ErrFull is the error of a limit that has been reached; its text says which, and what to do.
var ErrFull = errors.New("a limit is reached")

// refusal is an ErrFull with a text for the client alone.
type refusal struct {
	text string
	of   Limit
}

func (r refusal) Error() string { return r.text }

func (refusal) Is(target error) bool { return target == ErrFull }

// Full is an ErrFull of what else there are only so many of.
func Full(format string, args ...any) error { return refuse(format+"; try again later", args...) }

func refuse(format string, args ...any) error { return refusal{text: fmt.Sprintf(format, args...)} }

// Limit is what is full: whose places would be of use.
type Limit uint8

// The limits of Places. OfNone: another one.
const (
	OfNone Limit = iota
	OfAll
	OfAddress
	OfIdentity
)

// LimitOf is the limit that an error of Take's is about.
func LimitOf(err error) Limit {
	var r refusal
	_ = errors.As(err, &r)
	return r.of
}

func (p *Places) full(of Limit, format string, args ...any) error {
	return refusal{fmt.Sprintf("all "+p.What+format+"; try again later", args...), of}
}

// Places are those of one kind: sessions, or management connections.
type Places struct {
	What, Flag  string // "sessions", "--max-sessions": the limits by address and user have flags that begin so
	All         int
	PerAddress  int
	PerIdentity int // of those with a name; 0: no limit
	Reserved    int // of all, for operators

	mu         sync.Mutex
	taken      int
	byAddress  map[string]int
	byIdentity map[string]int
}

// Take takes a place; leave gives it back, and may be called again. An operator is only held to the number of all.
func (p *Places) Take(s Source, who *access.Identity) (leave func(), err error) {
	operator := s.Operator || who.Name != "" && who.Rights.Has(access.Kill)
	key := ""
	if who.Name != "" {
		key = who.Key()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.taken >= p.All, !operator && p.taken >= p.All-p.Reserved:
		return nil, p.full(OfAll, " are taken (%d, %s)", p.All-p.Reserved, p.Flag)
	case operator:
	case p.byAddress[s.Key] >= p.PerAddress:
		return nil, p.full(OfAddress, " that one address may have are taken (%d, %s-per-address)", p.PerAddress, p.Flag)
	case key != "" && p.PerIdentity > 0 && p.byIdentity[key] >= p.PerIdentity:
		return nil, p.full(OfIdentity, " that one user may have are taken (%d, %s-per-user)", p.PerIdentity, p.Flag)
	}
	if p.byAddress == nil {
		p.byAddress, p.byIdentity = map[string]int{}, map[string]int{}
	}
	p.taken++
	p.byAddress[s.Key]++
	p.byIdentity[key]++
	var once sync.Once
	return func() { once.Do(func() { p.leave(s.Key, key) }) }, nil
}

func (p *Places) leave(address, identity string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.taken--
	drop(p.byAddress, address)
	drop(p.byIdentity, identity)
}

func drop(m map[string]int, key string) {
	if m[key]--; m[key] <= 0 {
		delete(m, key)
	}
}
