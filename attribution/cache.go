package attribution

import (
	"maps"
	"sync"
	"time"
)

// Limits of what is remembered.
const (
	maxEntries = 4096
	// keep is how long what was read of a process counts: it may give itself another
	// title or be moved to another group. Twice as long for some, so that not all are
	// read again at the same moment.
	keep = 10 * time.Second
	// retry is the same for a process whose command line was not even asked for.
	retry = time.Second
	// patience is how long a caller waits for all that may hang.
	patience = 250 * time.Millisecond
	// maxLate is how many such questions may be without an answer at once; more are not
	// asked.
	maxLate = 16
	// maxReading is how many command lines are read at once; each may hold a thread for
	// ever.
	maxReading = 32
)

// inode is a folder of /proc. While it is the same, so is the process: the kernel
// makes another for another process. It may make another for the same process, too.
type inode struct {
	number         uint64
	seconds, nanos int64
}

// cache is the identity of processes, by number.
type cache struct {
	tree     *tree
	users    *users
	now      func() time.Time
	patience time.Duration
	reading  chan struct{} // holds one for each command line being read

	mu      sync.Mutex
	entries map[uint32]entry
	flights map[uint32]*flight
	late    int // flights that nobody waits for any more
}

type entry struct {
	id       *identity
	dir      inode
	deadline time.Time
}

// flight is the reading of one process, for all who ask meanwhile.
type flight struct {
	dir  inode
	old  *identity     // the last that was known of the same number
	base chan struct{} // closed when all is known that cannot hang
	done chan struct{}

	// By the cache's lock:
	id   *identity // from base on
	late bool
}

func newCache(t *tree, u *users) *cache {
	return &cache{tree: t, users: u, now: time.Now, entries: map[uint32]entry{}, flights: map[uint32]*flight{}, patience: patience, reading: make(chan struct{}, maxReading)}
}

// lookup is an answer, or where it will come from.
type lookup struct {
	dir    inode
	id     *identity
	flight *flight // nil: id is all there is to know
}

// begin looks who a process is, and sees to it that it is read if that is not known.
func (c *cache) begin(pid uint32) lookup {
	dir, ok := c.stat(pid)
	c.mu.Lock()
	defer c.mu.Unlock()
	e, known := c.entries[pid]
	switch {
	case !ok:
		delete(c.entries, pid)
		return lookup{}
	case known && e.dir == dir && c.now().Before(e.deadline):
		return lookup{dir: dir, id: e.id}
	}
	f := c.flights[pid]
	if f == nil {
		f = &flight{dir: dir, old: e.id, base: make(chan struct{}), done: make(chan struct{})}
		c.flights[pid] = f
		go c.fly(pid, f)
	}
	return lookup{dir: dir, flight: f}
}

// end is who the process is, nil if it is gone or may not be seen. Its command line
// and its user's name may be missing if they are not there by until.
func (c *cache) end(l lookup, until time.Time) *identity {
	f := l.flight
	if f == nil {
		return l.id
	}
	<-f.base
	c.mu.Lock()
	late := f.late
	c.mu.Unlock()
	if !late {
		t := time.NewTimer(time.Until(until))
		select {
		case <-f.done:
		case <-t.C:
		}
		t.Stop()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-f.done:
	default:
		if !f.late {
			f.late = true
			c.late++
		}
	}
	if f.dir != l.dir {
		return nil // another process had the number; the next question is about the right one
	}
	return f.id
}

// get is begin and end in one.
func (c *cache) get(pid uint32, until time.Time) *identity { return c.end(c.begin(pid), until) }

// fly reads a process and remembers it.
func (c *cache) fly(pid uint32, f *flight) {
	id, err := c.tree.read(pid)
	if err == nil {
		if f.old != nil && f.old.start == id.start {
			id.command, id.user, id.job = f.old.command, f.old.user, f.old.job
		}
		if again, ok := c.stat(pid); !ok || again != f.dir {
			id = nil // it ended meanwhile: this may be half of one and half of another
		}
	}
	c.mu.Lock()
	f.id = id
	skip := id == nil || c.late >= maxLate
	c.mu.Unlock()
	close(f.base)
	if !skip {
		named := *id
		named.user = c.users.name(id.uid)
		id = &named
		c.mu.Lock()
		f.id = id
		c.mu.Unlock()
		full := named
		c.reading <- struct{}{}
		full.command = c.tree.command(pid) // which may take for ever
		full.job = jobIn(&id.group, c.tree.environment(pid))
		<-c.reading
		if again, ok := c.stat(pid); ok && again == f.dir {
			id = &full
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	f.id = id
	delete(c.flights, pid)
	if f.late {
		c.late--
	}
	close(f.done)
	if id == nil {
		delete(c.entries, pid)
		return
	}
	now := c.now()
	if len(c.entries) >= maxEntries {
		c.shrink(now)
	}
	deadline := now.Add(keep + time.Duration(pid%16)*keep/16)
	if skip {
		deadline = now.Add(retry)
	}
	c.entries[pid] = entry{id: id, dir: f.dir, deadline: deadline}
}

// shrink makes room: what has not been asked for, and if that is not enough, half of
// all. mu is held.
func (c *cache) shrink(now time.Time) {
	maps.DeleteFunc(c.entries, func(_ uint32, e entry) bool { return !now.Before(e.deadline) })
	for pid := range c.entries {
		if len(c.entries) <= maxEntries/2 {
			break
		}
		delete(c.entries, pid)
	}
}
