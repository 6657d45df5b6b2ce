package exec

import (
	"context"
	"encoding/binary"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// until waits for a condition.
func until(t *testing.T, what string, f func() bool) {
	t.Helper()
	for limit := time.Now().Add(time.Minute); !f(); runtime.Gosched() {
		if time.Now().After(limit) {
			t.Fatalf("%s: not within a minute", what)
		}
	}
}

// countedCores are cores on which no time passes but workgroups: one is a nanosecond,
// and what the shares may drift apart.
func countedCores(n int) (c *Cores, tick func()) {
	c = NewCores(n)
	var done atomic.Int64
	c.slice, c.now = 1, func() int64 { return done.Load() + 1 }
	return c, func() { done.Add(1) }
}

// tellEach makes OnStats be called for each workgroup, however short.
func tellEach(t *testing.T) {
	n, most, insts, rings := dueAfter, mostChained, chainInsts, ringInsts
	t.Cleanup(func() { dueAfter, mostChained, chainInsts, ringInsts = n, most, insts, rings })
	dueAfter, mostChained, chainInsts, ringInsts = 0, 1, 0, 0
}

// short is a dispatch of so many workgroups that do a little.
func (d *device) short(groups uint32) *Dispatch {
	return d.assemble(0, groups, 64, words("v_mov_b32_e32 v0, 1", 0x7e000281), []uint32{endpgm})
}

// TestCoresAreShared: of two kernels on one core, the second one begins in the middle
// of the first, and from then on both get as many turns as their weights say.
func TestCoresAreShared(t *testing.T) {
	tellEach(t)
	for _, weights := range [][2]int{{1, 1}, {2, 1}, {1, 4}} {
		d := newDevice(t, gcn.GFX90A, 1<<20)
		cores, tick := countedCores(1)
		var first, then, last uint64
		long, short := d.short(4000), d.short(200)
		long.Share, short.Share = cores.Share(weights[0]), cores.Share(weights[1])
		short.OnStats = func(s *Stats) func() { tick(); last = first; return nil }
		var both sync.WaitGroup
		run := func(x *Dispatch) {
			if _, err := x.Run(context.Background(), 1); err != nil {
				t.Error(err)
			}
		}
		long.OnStats = func(s *Stats) func() {
			tick()
			if first += s.Workgroups; first == 100 {
				both.Go(func() { run(short) })
				until(t, "the second kernel waits", func() bool { return cores.since.Load() != 0 })
				then = first
			}
			return nil
		}
		run(long)
		both.Wait()
		if got, want := int(last-then), 200*weights[0]/weights[1]; got < want-5 || got > want+5 {
			t.Errorf("weights %v: the first kernel had %d turns, while the second one had 200; want %d", weights, got, want)
		}
	}
}

// spinning is a dispatch whose workgroups end when the word at their address is not 0.
func (d *device) spinning(groups uint32) (x *Dispatch, end func()) {
	buf, data := d.alloc(page)
	loop := append(words("s_load_dword s4, s[0:1], 0x0", 0xc0020100, 0x00000000), words("s_cmp_eq_u32 s4, 0", 0xbf068004)...)
	x = d.assemble(buf, groups, 64, loop, branchSCC1(-len(loop)-1), []uint32{endpgm})
	return x, func() { binary.LittleEndian.PutUint32(data, 1) }
}

// TestCoresGrow: two kernels have a core each of two, however early the first one came,
// and who is left has both.
func TestCoresGrow(t *testing.T) {
	d := newDevice(t, gcn.GFX90A, 1<<20)
	cores := NewCores(2)
	held := func(s *Share) int {
		cores.mu.Lock()
		defer cores.mu.Unlock()
		return s.held
	}
	var shares [2]*Share
	var ends [2]func()
	var all sync.WaitGroup
	for i := range shares {
		x, end := d.spinning(4)
		shares[i], ends[i] = cores.Share(1), end
		x.Share = shares[i]
		all.Go(func() {
			if _, err := x.Run(context.Background(), 2); err != nil {
				t.Error(err)
			}
		})
		if i == 0 {
			until(t, "the first kernel has both cores", func() bool { return held(shares[0]) == 2 })
		}
	}
	until(t, "one core each", func() bool { return held(shares[0]) == 1 && held(shares[1]) == 1 })
	ends[0]()
	until(t, "both cores for the other", func() bool { return held(shares[0]) == 0 && held(shares[1]) == 2 })
	ends[1]()
	all.Wait()
	if cores.free != 2 || len(cores.queue) != 0 || cores.since.Load() != 0 {
		t.Errorf("%d cores are free behind it, %d wait", cores.free, len(cores.queue))
	}
}

// TestCoresWhilePaused: a dispatch that pauses holds up nobody, and one that is
// cancelled while it waits for a core ends.
func TestCoresWhilePaused(t *testing.T) {
	tellEach(t)
	d := newDevice(t, gcn.GFX90A, 1<<20)
	cores := NewCores(1)
	paused, again := make(chan bool), make(chan bool)
	a := d.short(2)
	a.Share = cores.Share(1)
	a.OnStats = func(s *Stats) func() {
		return func() { paused <- true; <-again }
	}
	done := make(chan error)
	go func() { _, err := a.Run(context.Background(), 1); done <- err }()
	<-paused
	b := d.short(50)
	b.Share = cores.Share(1)
	if s, err := b.Run(context.Background(), 3); err != nil || s.Workgroups != 50 {
		t.Errorf("beside a kernel that pauses: %v, %v", s, err)
	}
	again <- true
	<-paused
	x, end := d.spinning(1)
	x.Share = cores.Share(1)
	ended := make(chan error)
	go func() { _, err := x.Run(context.Background(), 1); ended <- err }()
	until(t, "it has the core", func() bool { cores.mu.Lock(); defer cores.mu.Unlock(); return cores.free == 0 })
	ctx, cancel := context.WithCancel(context.Background())
	cancelled := make(chan error)
	core := core{seat: cores.Share(1).seat()} // a core that is not given back on its own
	if !core.take() {
		t.Fatal("no core")
	}
	go func() { _, err := b.Run(ctx, 1); cancelled <- err }()
	until(t, "both wait", func() bool { cores.mu.Lock(); defer cores.mu.Unlock(); return len(cores.queue) == 2 })
	cancel()
	if err := <-cancelled; err != context.Canceled {
		t.Errorf("a cancelled dispatch ended with %v", err)
	}
	core.give()
	end()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	again <- true
	if err := <-done; err != nil {
		t.Error(err)
	}
}
