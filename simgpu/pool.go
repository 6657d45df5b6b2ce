package simgpu

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu/queue"
	"github.com/rocwire/rocwire/simgpu/vmem"
)

// pool is memory of hipMallocAsync and hipMallocFromPoolAsync: what is in use,
// and what was freed and may be used again, in the order of the streams.
type pool struct {
	r      *Runtime
	d      *device
	handle hip.MemPool
	props  hip.MemPoolProps

	mu        sync.Mutex
	busy      map[uint64]*poolBlock // by address
	free      []*poolBlock          // by size
	used      level                 // bytes in use
	reserved  level                 // and those that are kept
	kept      uint64                // bytes of free
	threshold uint64                // of kept, beyond which memory is given back when something is waited for
	reuse     reuse
	access    map[int32]hip.MemAccessFlags // of other devices
	destroyed bool
}

// level is a number of bytes and the most it has been.
type level struct{ now, high uint64 }

func (l *level) add(n uint64) { l.now += n; l.high = max(l.high, l.now) }

// reuse says when freed memory may be used on another stream than it was freed on.
type reuse struct {
	events        bool // that stream waits for an event behind the free
	opportunistic bool // the free is known to have been reached
	internal      bool // there is no other memory: the stream is made to wait
}

// poolBlock is an allocation of a pool. Its size is what the first who got it
// asked for.
type poolBlock struct {
	p        *pool
	a        *vmem.Alloc
	imported bool // another process's: it is not kept

	// For checks: how often it was taken, and the time, from 1 on, whose end its stream has reached.
	uses, over atomic.Uint64

	// Once it was freed; the pool's mu.
	place queue.Fence // where, zero if everything was waited for
	safe  []*stream   // on which it may be used at once
}

func newPool(d *device, props hip.MemPoolProps) *pool {
	p := &pool{r: d.r, d: d, handle: hip.MemPool(d.r.handle()), props: props, busy: map[uint64]*poolBlock{}, access: map[int32]hip.MemAccessFlags{}}
	p.reuse = reuse{true, true, true}
	return p
}

// defaultProps are those of a device's own pool.
func defaultProps(device int32) hip.MemPoolProps {
	return hip.MemPoolProps{
		AllocType: hip.MemAllocationTypePinned,
		Location:  hip.MemLocation{Type: hip.MemLocationTypeDevice, Id: device},
	}
}

// allocate gets size bytes for use on a stream from now on.
func (p *pool) allocate(size uint64, st *stream) (hip.Ptr, hip.Error) {
	if b := p.again(size, st); b != nil {
		return hip.Ptr(b.a.Base), hip.Success
	}
	e := hip.Error(hip.ErrorOutOfMemory)
	if p.room(size) {
		var a *vmem.Alloc
		if a, e = p.d.allocate(size, vmem.Device, 0); e == hip.Success {
			b := &poolBlock{p: p, a: a}
			p.d.pooled.Add(a.Pages())
			noteOf(a).block.Store(b)
			p.mu.Lock()
			p.busy[a.Base] = b
			p.used.add(size)
			p.reserved.add(size)
			p.mu.Unlock()
			return hip.Ptr(a.Base), hip.Success
		}
	}
	if b := p.after(size, st); b != nil {
		return hip.Ptr(b.a.Base), hip.Success
	}
	return 0, e
}

// room says whether the pool may grow by size. As in AMD's library it counts
// the most that the pool has ever kept: what was given back is no room again
// until the program has had hipMemPoolAttrReservedMemHigh forgotten.
func (p *pool) room(size uint64) bool {
	limit := p.props.MaxSize
	if limit == 0 {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return size <= limit && p.reserved.high <= limit-size
}

// again finds a freed block that may be used on the stream: the smallest that
// is large enough, but for one that is only found to be free by chance and much
// too large.
func (p *pool) again(size uint64, st *stream) *poolBlock {
	p.mu.Lock()
	defer p.mu.Unlock()
	i, _ := slices.BinarySearchFunc(p.free, size, func(b *poolBlock, n uint64) int { return cmp.Compare(b.a.Size, n) })
	for ; i < len(p.free); i++ {
		b := p.free[i]
		near := b.a.Size/9 <= size/8
		if b.place == (queue.Fence{}) || slices.Contains(b.safe, st) || p.reuse.opportunistic && near && b.place.Passed() {
			p.take(i)
			return b
		}
	}
	return nil
}

// after finds a freed block that the stream has to wait for, and makes it wait.
func (p *pool) after(size uint64, st *stream) *poolBlock {
	p.mu.Lock()
	defer p.mu.Unlock()
	i, _ := slices.BinarySearchFunc(p.free, size, func(b *poolBlock, n uint64) int { return cmp.Compare(b.a.Size, n) })
	if !p.reuse.internal || i == len(p.free) {
		return nil
	}
	b := p.free[i]
	st.q.Add(queue.Task{After: []queue.Fence{b.place}})
	p.take(i)
	return b
}

// take makes a free block a busy one. mu is held.
func (p *pool) take(i int) {
	b := p.free[i]
	p.free = slices.Delete(p.free, i, i+1)
	p.kept -= b.a.Size
	b.place, b.safe = queue.Fence{}, nil
	b.uses.Add(1)
	noteOf(b.a).freer.Store(nil)
	p.busy[b.a.Base] = b
	p.used.add(b.a.Size)
}

// put frees a block in a stream's turn, or at once without one: everything was
// waited for. False: it is free already.
func (p *pool) put(b *poolBlock, st *stream) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.busy[b.a.Base] != b {
		return false
	}
	delete(p.busy, b.a.Base)
	p.used.now -= b.a.Size
	if st != nil {
		b.place, b.safe = st.q.Place(), []*stream{st}
	}
	b.leave(p.r.o.Check, st)
	if p.destroyed || b.imported {
		p.reserved.now -= b.a.Size
		p.give(b)
		return true
	}
	i, _ := slices.BinarySearchFunc(p.free, b.a.Size, func(o *poolBlock, n uint64) int { return cmp.Compare(o.a.Size, n) })
	p.free = slices.Insert(p.free, i, b)
	p.kept += b.a.Size
	return true
}

// give ends a block, once its stream has got there.
func (p *pool) give(b *poolBlock) {
	if b.place.Passed() {
		p.r.release(b.a)
		return
	}
	go func() {
		b.place.Wait()
		p.r.release(b.a)
	}()
}

// shrink gives back freed memory that no stream may still use, until no more
// than keep bytes are kept. mu is held.
func (p *pool) shrink(keep uint64) {
	p.free = slices.DeleteFunc(p.free, func(b *poolBlock) bool {
		if p.kept <= keep || !b.place.Passed() {
			return false
		}
		p.kept -= b.a.Size
		p.reserved.now -= b.a.Size
		p.r.release(b.a)
		return true
	})
}

// waited is told that a stream, or the device, was waited for.
func (p *pool) waited() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.kept > p.threshold {
		p.shrink(p.threshold)
	}
}

// fences are what freed memory waits for.
func (p *pool) fences() (list []queue.Fence) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range p.free {
		list = append(list, b.place)
	}
	return list
}

// follows notes that a stream waits for an event: what was freed before it on
// the event's stream may be used.
func (p *pool) follows(st *stream, m *queue.Mark) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reuse.events {
		return
	}
	for _, b := range p.free {
		if m.After(b.place) && !slices.Contains(b.safe, st) {
			b.safe = append(b.safe, st)
		}
	}
}

// forget drops everything, and the pool's settings: its device was reset.
func (p *pool) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range p.busy {
		p.r.release(b.a)
	}
	for _, b := range p.free {
		p.r.release(b.a)
	}
	clear(p.busy)
	clear(p.access)
	p.free, p.kept, p.threshold, p.used, p.reserved = nil, 0, 0, level{}, level{}
	p.reuse = reuse{true, true, true}
}

// pools are all of a device's.
func (d *device) pools() []*pool {
	return d.r.pools.list(func(p *pool) bool { return p.d == d })
}

// waited is told that one of the device's streams, or all, were waited for.
func (d *device) waited() {
	for _, p := range d.pools() {
		p.waited()
	}
}

// take takes card memory, if need be by giving back what pools keep.
func (d *device) take(n uint64) bool {
	if d.meter.Take(n) {
		return true
	}
	if n > d.meter.Capacity() {
		return false
	}
	for range 2 {
		var wait []queue.Fence
		for _, p := range d.pools() {
			p.mu.Lock()
			p.shrink(0)
			p.mu.Unlock()
			wait = append(wait, p.fences()...)
		}
		if d.meter.Take(n) {
			return true
		}
		queue.WaitAll(wait)
	}
	return false
}
