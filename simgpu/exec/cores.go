package exec

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// coreSlice is how far the shares of cores may drift apart before a core changes
// hands: long enough for the change to cost nothing, short beside what people wait for.
const coreSlice = 200 * time.Microsecond

// coreUnits are what a share of weight 1 uses in a nanosecond.
const coreUnits = 64

// Cores are the processors that the kernels of a process have in common. A
// goroutine that executes waves has one of them and keeps it from turn to turn, as
// long as nobody waits for one: then it costs a load. Who waits gets the core of
// whoever has had most, by the time and the weights, a slice of it at a time.
type Cores struct {
	slice int64        // nanoseconds
	now   func() int64 // nanoseconds
	since atomic.Int64 // when somebody began to wait, 0: nobody does

	mu    sync.Mutex
	free  int
	queue []*seat // that wait, longest first
	floor int64   // what the share had used that last got a core behind others
}

// NewCores are n cores.
func NewCores(n int) *Cores {
	begin := time.Now()
	return &Cores{free: n, slice: int64(coreSlice), now: func() int64 { return int64(time.Since(begin)) + 1 }}
}

// Share is what a queue of kernels is entitled to: with twice the weight, to twice
// as much. It outlives the kernels, so that many short ones get no more than a long one.
type Share struct {
	cores  *Cores
	weight int64
	used   int64 // units while others waited; mu of the cores
	held   int   // cores; likewise
}

// Share makes a share; of no weight is of 1.
func (c *Cores) Share(weight int) *Share {
	return &Share{cores: c, weight: int64(max(weight, 1))}
}

// seat is a dispatch's place among those that want cores. Nil has as many as it likes.
type seat struct {
	share   *Share
	change  sync.Cond
	waiting int  // goroutines
	granted int  // cores that these have been given and not taken yet
	over    bool // there is nothing left to execute
}

func (s *Share) seat() *seat {
	if s == nil {
		return nil
	}
	x := &seat{share: s}
	x.change.L = &s.cores.mu
	return x
}

// finish lets goroutines go that wait: no core is needed any more.
func (x *seat) finish() {
	if x == nil {
		return
	}
	c := x.share.cores
	c.mu.Lock()
	defer c.mu.Unlock()
	x.over = true
	c.tidy()
	x.change.Broadcast()
}

// core is what a goroutine has of the cores.
type core struct {
	*seat
	from int64 // until when it is accounted
}

// take waits for a core. It returns false if none is needed any more.
func (k *core) take() bool {
	if k.seat == nil {
		return true
	}
	c := k.share.cores
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.free > 0 && !k.over { // nobody waits
		c.free--
		k.share.held++
		k.from = 0
		return true
	}
	k.enqueue()
	return k.wait()
}

// give gives the core to whoever needs it most.
func (k *core) give() {
	if k.seat == nil {
		return
	}
	c := k.share.cores
	c.mu.Lock()
	defer c.mu.Unlock()
	k.leave()
}

// pass does the same and waits for another one; in between the others are not
// alone, so what they use is accounted.
func (k *core) pass() bool {
	c := k.share.cores
	c.mu.Lock()
	defer c.mu.Unlock()
	k.enqueue()
	k.leave()
	return k.wait()
}

// enqueue makes the goroutine one that waits. mu is held, as for the next ones.
func (k *core) enqueue() {
	s := k.share
	c := s.cores
	if s.held == 0 { // what it did not want is not owed to it
		s.used = max(s.used, c.floor-c.slice*coreUnits)
	}
	if k.waiting == k.granted {
		c.queue = append(c.queue, k.seat)
	}
	if k.waiting++; c.since.Load() == 0 {
		c.since.Store(c.now())
	}
	c.tidy() // it may be over
}

// wait waits for what was enqueued.
func (k *core) wait() bool {
	for k.granted == 0 && !k.over {
		k.change.Wait()
	}
	k.waiting--
	if k.granted == 0 {
		return false
	}
	k.granted--
	k.from = k.share.cores.now()
	return true
}

// leave gives the core away.
func (k *core) leave() {
	c := k.share.cores
	if since := c.since.Load(); since != 0 {
		k.account(c.now(), since)
	}
	k.share.held--
	x := c.neediest()
	if x == nil {
		c.free++
		return
	}
	x.granted++
	x.share.held++
	c.floor = max(c.floor, x.share.used)
	c.tidy()
	x.change.Signal()
}

// wanted reports whether somebody waits for a core at all.
func (k *core) wanted() bool { return k.seat != nil && k.share.cores.since.Load() != 0 }

// due reports whether somebody else is to have the core now. It is asked between turns.
func (k *core) due() bool {
	if k.seat == nil {
		return false
	}
	c := k.share.cores
	since := c.since.Load()
	if since == 0 {
		return false
	}
	now := c.now()
	if now-max(since, k.from) < c.slice {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	k.account(now, since)
	x := c.neediest()
	return x != nil && x.share.used+c.slice*coreUnits <= k.share.used
}

// account adds what passed to what the share has used.
func (k *core) account(now, since int64) {
	k.share.used += max(0, now-max(since, k.from)) * coreUnits / k.share.weight
	k.from = now
}

// neediest is who waits and has had least.
func (c *Cores) neediest() (best *seat) {
	for _, x := range c.queue {
		if best == nil || x.share.used < best.share.used || x.share.used == best.share.used && x.share.held < best.share.held {
			best = x
		}
	}
	return best
}

// tidy removes who does not wait any more.
func (c *Cores) tidy() {
	c.queue = slices.DeleteFunc(c.queue, func(x *seat) bool { return x.over || x.waiting == x.granted })
	if len(c.queue) == 0 {
		c.since.Store(0)
	}
}
