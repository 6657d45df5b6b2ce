package admission

import (
	"errors"
	"fmt"
	"time"
)

// Limits are how many may come in. What is 0 is the default.
type Limits struct {
	Sessions            int // in all
	SessionsPerAddress  int // default: seven eighths of them, or all where those are fewer than 32
	SessionsPerIdentity int // of those who have a name; default likewise

	Managers           int // management connections, default 256; a sixteenth is kept for operators
	ManagersPerAddress int // default: half of them

	Strangers           Startups      // default 256:30:512
	StrangersPerAddress int           // default: a quarter of Strangers.Full
	Shares              int           // what sessions publish for each other (IPC), each a descriptor; default 16384
	MaxPenalty          time.Duration // how long an address may be refused, default a minute; negative: none is
}

// Startups say how many connections may be without a Hello at once: beyond Start, those from an address that has silent ones are refused by
// chance, Rate percent of them and more towards Full, which is the most there may be.
type Startups struct{ Start, Rate, Full int }

// DefaultManagers is how many management connections there may be, DefaultShares how much sessions may publish for each other.
const (
	DefaultManagers = 256
	DefaultShares   = 16384
)

// DefaultStrangers is how many connections may be without a Hello.
var DefaultStrangers = Startups{256, 30, 512}

// ParseStartups reads START:RATE:FULL.
func ParseStartups(s string) (u Startups, err error) {
	var rest string
	if n, _ := fmt.Sscanf(s+" ", "%d:%d:%d%s", &u.Start, &u.Rate, &u.Full, &rest); n != 3 {
		return u, errors.New("START:RATE:FULL are three numbers")
	}
	return u, u.check()
}

func (u Startups) String() string { return fmt.Sprintf("%d:%d:%d", u.Start, u.Rate, u.Full) }

func (u Startups) check() error {
	if u.Start < 1 || u.Full < u.Start || u.Rate < 0 || u.Rate > 100 {
		return fmt.Errorf("%v: START is from 1 to FULL, RATE from 0 to 100", u)
	}
	return nil
}

// Complete fills in the defaults.
func (l *Limits) Complete() error {
	or := func(n *int, d int) {
		if *n == 0 {
			*n = d
		}
	}
	if l.Strangers == (Startups{}) {
		l.Strangers = DefaultStrangers
	}
	share := l.Sessions
	if share >= 32 {
		share -= share / 8
	}
	or(&l.SessionsPerAddress, share)
	or(&l.SessionsPerIdentity, share)
	or(&l.Managers, DefaultManagers)
	or(&l.ManagersPerAddress, max(1, l.Managers/2))
	or(&l.StrangersPerAddress, max(1, l.Strangers.Full/4))
	or(&l.Shares, DefaultShares)
	if l.MaxPenalty == 0 {
		l.MaxPenalty = time.Minute
	}
	if min(l.Sessions, l.SessionsPerAddress, l.SessionsPerIdentity, l.Managers, l.ManagersPerAddress, l.StrangersPerAddress, l.Shares) < 1 {
		return errors.New("a limit is not less than 1")
	}
	return l.Strangers.check()
}
