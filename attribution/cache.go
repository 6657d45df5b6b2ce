package attribution

import (
	"maps"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Limits of what is remembered.
const (
	maxEntries = 4096
	// keep is how long what was read of a process counts: it may give itself another
	// title or be moved to another group. Twice as long for some, so that not all are
	// read again at the same moment.
	keep = 10 * time.Second
	// patience is how long a caller waits for something that may hang.
	patience = 20 * time.Millisecond
	// maxLate is how many such questions may be without an answer at once; more are not
	// asked.
	maxLate = 16
)

// inode is a folder of /proc. While it is the same, so is the process: the kernel
// makes another for another process. It may make another for the same process, too.
type inode struct {
	number         uint64
	seconds, nanos int64
}

// cache is the identity of processes, by number.
type cache struct {
	tree  *tree
	users *users
	now   func() time.Time

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
	old  *identity // the last that was known of the same number
	done chan struct{}

	// By the cache's lock:
	id   *identity // from when all but the command line is known
	late bool
}

func newCache(t *tree, u *users) *cache {
	return &cache{tree: t, users: u, now: time.Now, entries: map[uint32]entry{}, flights: map[uint32]*flight{}}
}

// get is who a process is, nil if it is gone or may not be seen. Its command line
// may be missing if it cannot be had in time.
func (c *cache) get(pid uint32) *identity {
	dir, ok := c.stat(pid)
	c.mu.Lock()
	e, known := c.entries[pid]
	if !ok {
		delete(c.entries, pid)
		c.mu.Unlock()
		return nil
	}
	if known && e.dir == dir && c.now().Before(e.deadline) {
		c.mu.Unlock()
		return e.id
	}
	f := c.flights[pid]
	if f == nil {
		f = &flight{dir: dir, old: e.id, done: make(chan struct{})}
		c.flights[pid] = f
		go c.fly(pid, f)
	}
	late := f.late
	c.mu.Unlock()
	if !late {
		t := time.NewTimer(patience)
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
	if f.dir != dir {
		return nil // another process had the number; the next question is about the right one
	}
	return f.id
}

// fly reads a process and remembers it.
func (c *cache) fly(pid uint32, f *flight) {
	id, err := c.tree.read(pid)
	if err == nil {
		id.user = c.users.name(id.user)
		if f.old != nil && f.old.start == id.start {
			id.command = f.old.command
		}
		if again, ok := c.stat(pid); !ok || again != f.dir {
			id = nil // it ended meanwhile: this may be half of one and half of another
		}
	}
	c.mu.Lock()
	f.id = id
	skip := id == nil || c.late >= maxLate
	c.mu.Unlock()
	if !skip {
		line := c.tree.command(pid) // which may take for ever
		again, ok := c.stat(pid)
		full := *id
		if full.command = line; ok && again == f.dir {
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
	c.entries[pid] = entry{id: id, dir: f.dir, deadline: now.Add(keep + time.Duration(pid%16)*keep/16)}
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

func (c *cache) stat(pid uint32) (inode, bool) {
	var st unix.Stat_t
	if err := unix.Stat(c.tree.path(pid), &st); err != nil {
		return inode{}, false
	}
	sec, nsec := st.Ctim.Unix()
	return inode{st.Ino, sec, nsec}, true
}
