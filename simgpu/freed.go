package simgpu

import (
	"fmt"
	"sync"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu/vmem"
)

// keptFreed is how many allocations that are no more are remembered.
const keptFreed = 1024

// freed is an allocation that is no more, for those who still use it.
type freed struct {
	base, size uint64
	kind       vmem.Kind
	by         string // the call that freed it
}

// freedList remembers the last of them.
type freedList struct {
	mu   sync.Mutex
	list []freed
	next int // where the next one goes, once the list is full
}

func (l *freedList) add(f freed) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.list) < keptFreed {
		l.list = append(l.list, f)
		return
	}
	l.list[l.next] = f
	l.next = (l.next + 1) % keptFreed
}

// find is the last that had the byte at addr.
func (l *freedList) find(addr uint64) (freed, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for k := range l.list {
		i := (l.next + len(l.list) - 1 - k) % len(l.list)
		if f := l.list[i]; addr-f.base < f.size {
			return f, true
		}
	}
	return freed{}, false
}

// callOf names a call and the thread that made it, for who is told of it.
func callOf(name string, t hip.Thread) string { return fmt.Sprintf("%s of thread %d", name, t.ID) }

// blame notes who ends an allocation, before it ends.
func blame(a *vmem.Alloc, by string) { noteOf(a).freer.Store(&by) }

// neighbour says where addr lies relative to what is allocated, and who freed it
// if it is not.
func (r *Runtime) neighbour(addr uint64) string {
	s := r.space.Load()
	if s == nil || !s.Contains(addr, 1) {
		return "not a device address"
	}
	a := s.Before(addr)
	if a != nil && addr < a.End() {
		text := fmt.Sprintf("%d bytes into the %v of %d bytes at %#x", addr-a.Base, a.Kind, a.Size, a.Base)
		if by := noteOf(a).freer.Load(); by != nil {
			text += ", freed by " + *by
		}
		return text
	}
	if f, ok := r.freed.find(addr); ok {
		text := fmt.Sprintf("%d bytes into what was %v of %d bytes at %#x", addr-f.base, f.kind, f.size, f.base)
		if f.by != "" {
			text += ", freed by " + f.by
		}
		return text
	}
	if a == nil {
		return "below all allocations"
	}
	return fmt.Sprintf("%d bytes after the %v of %d bytes at %#x", addr-a.End(), a.Kind, a.Size, a.Base)
}
