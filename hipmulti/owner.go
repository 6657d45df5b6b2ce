package hipmulti

import (
	"sync"

	"github.com/rocwire/rocwire/hip"
)

// owner is the worker whose device memory an address is of.
func (r *Runtime) owner(p hip.Ptr) (int, bool) {
	if w, ok := r.space.Part(p); ok {
		return w, true
	}
	return r.strays.find(p)
}

// claim notes that a worker has returned an address; false if it cannot be told from another worker's.
func (r *Runtime) claim(w int, p hip.Ptr) bool {
	if r.workers[w].Placed() {
		part, ok := r.space.Part(p)
		return !ok || part == w
	}
	base, size, code := r.workers[w].MemGetAddressRange(hip.Thread{}, p)
	if code != hip.Success {
		base, size = p, 1
	}
	return r.strays.add(stray{w, base, max(size, 1)})
}

// strays are what is known of the memory of workers that could not have the agreed range: their addresses tell nothing by where they lie.
type strays struct {
	mu   sync.Mutex
	list []stray
}

type stray struct {
	worker int
	base   hip.Ptr
	size   uint64
}

// add notes a piece of memory. What a worker said before of the same addresses it has freed since; two workers that have given out the same ones are
// no use together.
func (s *strays) add(x stray) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	keep := s.list[:0:0]
	for _, y := range s.list {
		if y.base < x.base+hip.Ptr(x.size) && x.base < y.base+hip.Ptr(y.size) {
			if y.worker != x.worker {
				return false
			}
			continue
		}
		keep = append(keep, y)
	}
	s.list = append(keep, x)
	return true
}

func (s *strays) find(p hip.Ptr) (int, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.list {
		if uint64(p-x.base) < x.size {
			return x.worker, true
		}
	}
	return 0, false
}

// remove forgets memory that begins at p: it was freed.
func (s *strays) remove(p hip.Ptr) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, x := range s.list {
		if x.base == p {
			s.list = append(s.list[:i], s.list[i+1:]...)
			return
		}
	}
}
