package worker

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// A session process keeps itself within its quotas, unless it has been taken over. What the parent can see to without its help is here: the backend's seat
// gives it no more of a card's memory than the quota, and the machine's memory that it takes is limited by its control group, or looked at where there
// is none that does.

// bounds are what a session process may have, whatever it says.
type bounds struct {
	cards map[int]uint64 // bytes of each card's memory
	host  uint64         // bytes of this machine's memory, beside that of cards
	all   uint64         // with that
}

// slack is how much more than its quota a session may have of a card: what the runtime takes for itself does not count for a quota.
func slack(quota uint64) uint64 { return 16<<20 + quota/32 }

// bounds are a session's; with quotas.mu. Of cards that its client may not use it gets nothing.
func (s *Server) bounds(rec *sessionRecord) bounds {
	host := s.hostMemory(rec)
	b := bounds{cards: map[int]uint64{}, host: sum(s.cfg.Backend.Own, host, host)} // twice: garbage that Go has not collected yet
	b.all = b.host
	for card := range s.cfg.Backend.Capacity {
		b.cards[card] = 0
	}
	for _, card := range s.cfg.Backend.reached(&rec.who) {
		if card >= len(s.cfg.Backend.Capacity) {
			continue
		}
		most := s.cfg.Backend.Capacity[card]
		if q := uint64(s.quotaOf(rec, card).Memory.Or(0)); q != 0 {
			most = min(most, sum(q, slack(q)))
		}
		b.cards[card] = most
		b.all = sum(b.all, most)
	}
	return b
}

func sum(list ...uint64) (n uint64) {
	for _, x := range list {
		if n += x; n < x {
			return math.MaxUint64
		}
	}
	return n
}

// hold holds a process to its bounds, from now on. What it has already it keeps.
func (s *Server) hold(p *proc, b bounds) error {
	if p.seat != nil {
		for card, n := range b.cards {
			p.seat.Limit(card, n)
		}
	}
	p.host.Store(b.host)
	return p.group.Memory(max(b.all, sum(b.host, s.held(p))))
}

// held is the memory of cards that a process has, where that is this machine's.
func (s *Server) held(p *proc) uint64 {
	if s.cfg.Backend.Usage == nil || s.cfg.Backend.Capacity == nil {
		return 0
	}
	n, _ := s.cfg.Backend.Usage(p.pid())
	return n
}

// overrunPause is how often the processes' memory is looked at.
const overrunPause = time.Second

// watchMemory ends sessions whose processes have taken more of this machine's memory than their account and what they hold of cards explain. It is for
// machines whose control groups do not.
func (s *Server) watchMemory() {
	t := time.NewTicker(overrunPause)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			s.pool.each(s.checkMemory)
		case <-s.ctx.Done():
			return
		}
	}
}

// checkMemory looks at one process. Once too much may be memory that is just being given back.
func (s *Server) checkMemory(p *proc) {
	rec, host := p.record(), p.host.Load()
	if rec == nil || host == 0 {
		return
	}
	most := sum(host, s.held(p))
	has, ok := resident(p.pid())
	if !ok || has <= most {
		p.overran.Store(false)
		return
	}
	if !p.overran.Swap(true) {
		return
	}
	s.cfg.Log.Error("session process has taken more memory than it may and is killed", "session", rec.id, "pid", p.pid(), "bytes", has, "of", most)
	rec.stop(fmt.Sprintf("its process had taken %d bytes of memory, of %d that it may have", has, most))
	p.kill()
}

// resident is a process's memory, as the kernel counts it.
func resident(pid int) (uint64, bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
	f := bytes.Fields(b)
	if err != nil || len(f) < 2 {
		return 0, false
	}
	n, err := strconv.ParseUint(string(f[1]), 10, 64)
	return n * uint64(unix.Getpagesize()), err == nil
}
