package worker

import (
	"container/list"
	"crypto/sha256"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/worker/admission"
)

// DefaultModuleCache is Config.ModuleCache if that is 0, in bytes.
const DefaultModuleCache = 512 << 20

const (
	maxModules  = 1024 // each is a descriptor
	maxChecking = 8    // that wait to be checked; more are not kept
)

// moduleCache keeps code objects that sessions have loaded, for later sessions of the same user: a client then sends 32 bytes instead of all. What
// is kept is a memory file that nobody can change any more, under the SHA-256 that the parent has computed itself; a session takes it by a descriptor of its own.
type moduleCache struct {
	limit uint64 // bytes; 0: nothing is kept
	room  chan struct{}
	check sync.Mutex // one is read at a time

	mu     sync.Mutex
	all    map[moduleKey]*list.Element
	order  list.List // of *keptModule, the one that was used last first
	totals moduleFigures
}

// moduleKey is what a module is, and whose. Nobody learns by it that somebody else has it.
type moduleKey struct {
	who string
	sum hip.ShareToken
}

type keptModule struct {
	moduleKey
	fd   int
	size uint64
}

// moduleFigures is what is kept, and what it has saved.
type moduleFigures struct {
	held  uint64 // bytes
	hits  uint64 // loads that needed no bytes
	saved uint64 // bytes that were not sent for that
}

func (c *moduleCache) figures() moduleFigures {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.totals
}

func newModuleCache(limit int64) *moduleCache {
	c := &moduleCache{room: make(chan struct{}, maxChecking), all: map[moduleKey]*list.Element{}}
	switch {
	case limit > 0:
		c.limit = uint64(limit)
	case limit == 0:
		c.limit = DefaultModuleCache
	}
	return c
}

// owner is whose modules a session shares. Clients of whom nothing is known share with those of their address.
func (r *sessionRecord) owner() string {
	key := r.who.Key()
	if r.who.Name == "" {
		key += "\x00" + admission.SourceOf(r.peer).Key
	}
	return key
}

// find is the module under a sum, with a descriptor of the caller's own, -1 if it is not there.
func (c *moduleCache) find(who string, sum hip.ShareToken, size uint64) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.all[moduleKey{who, sum}]
	if e == nil || e.Value.(*keptModule).size != size {
		return -1
	}
	fd, err := unix.FcntlInt(uintptr(e.Value.(*keptModule).fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return -1
	}
	c.order.MoveToFront(e)
	c.totals.hits++
	c.totals.saved += size
	return fd
}

// keep takes a descriptor, and keeps what it is of if that is a module that cannot change. It does not wait.
func (c *moduleCache) keep(who string, fd int) {
	f := os.NewFile(uintptr(fd), "module")
	select {
	case c.room <- struct{}{}:
	default:
		_ = f.Close()
		return
	}
	go func() {
		defer func() { <-c.room }()
		size, ok := c.keepable(fd)
		if !ok {
			_ = f.Close()
			return
		}
		c.check.Lock()
		sum := sha256.New()
		_, err := io.Copy(sum, io.NewSectionReader(f, 0, int64(size)))
		c.check.Unlock()
		own := -1
		if err == nil {
			own, err = unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
		}
		_ = f.Close()
		if err == nil {
			c.insert(&keptModule{moduleKey{who, hip.ShareToken(sum.Sum(nil))}, own, size})
		}
	}()
}

// keepable says how large the file is, and whether it is one whose bytes stay as they are and that has room.
func (c *moduleCache) keepable(fd int) (uint64, bool) {
	const fixed = unix.F_SEAL_WRITE | unix.F_SEAL_SHRINK | unix.F_SEAL_GROW
	var st unix.Stat_t
	seals, err := unix.FcntlInt(uintptr(fd), unix.F_GET_SEALS, 0)
	if err != nil || seals&fixed != fixed || unix.Fstat(fd, &st) != nil || st.Size < hiprpc.MinContent || st.Size > hiprpc.MaxImage {
		return 0, false
	}
	return uint64(st.Size), uint64(st.Size) <= c.limit/2 // one does not drive all others out
}

func (c *moduleCache) insert(m *keptModule) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all[m.moduleKey] != nil {
		_ = unix.Close(m.fd)
		return
	}
	for c.totals.held+m.size > c.limit || len(c.all) >= maxModules {
		c.drop(c.order.Back())
	}
	c.all[m.moduleKey] = c.order.PushFront(m)
	c.totals.held += m.size
}

// drop ends an entry. mu is held.
func (c *moduleCache) drop(e *list.Element) {
	m := c.order.Remove(e).(*keptModule)
	delete(c.all, m.moduleKey)
	c.totals.held -= m.size
	_ = unix.Close(m.fd)
}

// close gives up what is kept.
func (c *moduleCache) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.order.Len() > 0 {
		c.drop(c.order.Back())
	}
}
