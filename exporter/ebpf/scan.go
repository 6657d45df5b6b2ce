//go:build linux && amd64

package ebpf

import (
	"os"
	"slices"
	"time"
)

// scanner looks for libraries in the memory of processes. A library is watched for all
// processes as soon as it is found in one, so what matters is to find each file once,
// soon after somebody begins to use it, without reading the mappings of every process
// all the time. Those of a process are read
//
//   - soon after it was started, or executed a program;
//   - again when its address space has another size than the last time, as it has when
//     it loads a library; but the longer it has run, the less often.
type scanner struct {
	proc     proc
	patterns []string
	ask      *asker
	now      func() time.Time

	seen map[uint32]*seen
	buf  []byte
	tick uint64
}

// seen is a process that was looked at.
type seen struct {
	status
	first   time.Time         // when it was looked at first
	look    time.Time         // when it is looked at again, if it uses no library
	next    time.Time         // when its mappings may be read again
	read    bool              // its mappings were read at least once
	readAt  uint64            // the size they were read at
	maps    []mapping         // what was found
	answer  answer[[]mapping] // to what was asked and not answered yet; else nil
	present uint64            // tick
}

const (
	// Once its mappings were read, a process is left alone for a share of its age.
	ageShare = 4
	minPause = 200 * time.Millisecond
	maxPause = 30 * time.Second
	// A process without a library is not even looked at for the same share, at most this.
	maxLook = 5 * time.Second
	// budget is how long one scan may read mappings, of one process at least; what is not reached is first the next time.
	budget = 20 * time.Millisecond
)

func newScanner(p proc, patterns []string, a *asker) *scanner {
	return &scanner{proc: p, patterns: patterns, ask: a, now: time.Now, seen: map[uint32]*seen{}, buf: make([]byte, 4<<10)}
}

// executed takes note that a process executes another program.
func (s *scanner) executed(pid uint32) {
	if p := s.seen[pid]; p != nil {
		delete(s.seen, pid)
	}
}

// scan looks at the processes there are, and forgets the others.
func (s *scanner) scan() error {
	pids, err := s.proc.pids()
	if err != nil {
		return err
	}
	s.tick++
	s.look(pids)
	for pid, p := range s.seen {
		if p.present != s.tick {
			delete(s.seen, pid)
		}
	}
	return nil
}

// look looks at some processes.
func (s *scanner) look(pids []uint32) {
	now := s.now()
	var due []uint32
	for _, pid := range pids {
		p := s.seen[pid]
		if p != nil && len(p.maps) == 0 && p.answer == nil && now.Before(p.look) {
			p.present = s.tick
			continue
		}
		st, ok := s.proc.stat(pid, s.buf)
		if !ok || st.ended {
			continue
		}
		if p == nil || p.start != st.start {
			p = &seen{first: now}
			s.seen[pid] = p
		}
		p.status, p.present = st, s.tick
		p.look = now.Add(min(now.Sub(p.first)/ageShare, maxLook))
		p.take()
		if st.size > 0 && p.answer == nil && !now.Before(p.next) && (!p.read || p.readAt != st.size) {
			due = append(due, pid)
		}
	}
	// Those that were never read come first, then those that have waited longest.
	slices.SortFunc(due, func(a, b uint32) int { return s.seen[a].next.Compare(s.seen[b].next) })
	began := s.now() // to look at each has taken its time, on a busy machine more than the budget
	for i, pid := range due {
		if i > 0 && s.now().Sub(began) > budget {
			break
		}
		s.read(pid, s.seen[pid])
	}
}

// take accepts an answer.
func (p *seen) take() {
	if maps, ok := p.answer.take(); ok {
		p.maps, p.answer = maps, nil
	}
}

// read reads the mappings of a process.
func (s *scanner) read(pid uint32, p *seen) {
	name, patterns := s.proc.path(pid, "maps"), s.patterns
	p.answer = ask(s.ask, func() []mapping {
		f, err := os.Open(name)
		if err != nil {
			return nil
		}
		defer f.Close()
		found, _ := mappings(f, patterns) // of one that ends meanwhile there is less to find
		return found
	})
	if p.answer == nil {
		return
	}
	p.take()
	now := s.now()
	p.read, p.readAt = true, p.size
	p.next = now.Add(min(max(now.Sub(p.first)/ageShare, minPause), maxPause))
}
