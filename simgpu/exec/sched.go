package exec

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

const (
	waveSlice  = 64 // ×stopCheck blocks a wave executes before the next one of its workgroup
	sleepTime  = 20 * time.Microsecond
	groupTurns = 4    // turns of its waves a workgroup has before another one may be taken up
	groupMeets = 1024 // and how often they may meet at a barrier, or give way
	wholeTurn  = 256  // turns of waves that spin are some that many times shorter

	maxResident    = 4096      // workgroups of a dispatch that is not cooperative
	residentMemory = 256 << 20 // bytes they may take
	// All workgroups of a cooperative dispatch are resident. What occupancy
	// promises, 32 waves on each of 304 compute units, has its place, and most of
	// what a wave could use it never touches.
	maxCooperative    = 1 << 16 // waves
	cooperativeMemory = 64 << 30
)

// scheduler hands the workgroups of a dispatch to the worker goroutines.
type scheduler struct {
	d      *Dispatch
	groups [3]uint32
	init   launchState
	first  atomic.Pointer[block] // where waves start, once it is found
	stop   atomic.Bool           // a fault, or cancelled
	seat   *seat                 // where its goroutines get cores
	gws    *gws                  // nil unless the dispatch is cooperative

	chained atomic.Bool // there are chains
	workers int

	mu       sync.Mutex
	next     uint64      // number of the next workgroup to start
	back     []groupSpan // of them, those that are to be started first
	total    uint64
	parked   []*workgroup // started, not finished, not executing, from head on; who had its turn longest ago first
	head     int
	resident int  // started and not finished
	limit    int  // how many may be resident
	idle     int  // turns that workgroups have had since one finished, in 1/wholeTurn
	ended    bool // one has finished since the last one was taken up
	fault    *Fault
	finished uint64 // workgroups
	stats    Stats
	fresh    Stats // of a workgroup, while it is collected
}

// Run executes the dispatch on the given number of goroutines (0: one for each
// processor) and returns what was executed. The error is nil, a *Fault, or the
// cause of ctx's end.
func (d *Dispatch) Run(ctx context.Context, workers int) (Stats, error) {
	d.Program = d.Program.forWaves(&d.Desc)
	if err := d.check(); err != nil {
		return Stats{}, err
	}
	if err := context.Cause(ctx); err != nil {
		return Stats{}, err
	}
	s := &scheduler{d: d, groups: d.groups(), seat: d.Share.seat()}
	var err error
	if s.init, err = d.prepare(); err != nil {
		return Stats{}, err
	}
	s.total = uint64(s.groups[0]) * uint64(s.groups[1]) * uint64(s.groups[2])
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	workers = int(min(uint64(workers), s.total))
	s.limit, s.workers = workers, workers
	s.chained.Store(d.chains(&s.init))
	if d.Cooperative {
		if uint64(s.maxResident()) < s.total {
			return Stats{}, d.fail("%d workgroups cannot be resident together, at most %d", s.total, s.maxResident())
		}
		s.limit = int(s.total)
		s.gws = &gws{}
		s.gws.resources[0].count = uint32(s.total - 1)
	}
	if stats, ok := d.nothing(); ok {
		d.Clock.executed(&stats)
		if d.OnStats != nil {
			d.OnStats(&stats)
		}
		stats.Dispatches = 1
		return stats, nil
	}
	unwatch := context.AfterFunc(ctx, func() {
		s.stop.Store(true)
		s.seat.finish()
	})
	defer unwatch()

	var wg sync.WaitGroup
	for range workers - 1 {
		wg.Add(1)
		go func() { defer wg.Done(); s.work() }()
	}
	s.work()
	wg.Wait()

	s.stats.Dispatches = 1
	if s.fault != nil {
		return s.stats, s.fault
	}
	return s.stats, s.missing(ctx)
}

// missing is why not all workgroups were executed, nil if they were. That it is the end of ctx is not taken for granted: memory that
// nobody has written looks like any other.
func (s *scheduler) missing(ctx context.Context) error {
	if s.stats.Workgroups == s.total {
		return nil
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return &Fault{Kind: InternalFault, Lane: -1, Kernel: s.d.Kernel, Detail: fmt.Sprintf("%d of %d workgroups were executed", s.stats.Workgroups, s.total)}
}

// maxResident is how many workgroups fit into the memory set aside for them.
func (s *scheduler) maxResident() int {
	d := s.d
	waves := d.waves(int(d.Group[0]) * int(d.Group[1]) * int(d.Group[2]))
	size := waves*(waveBytes+d.Desc.vgprs(d.Program.arch)*4*WaveSize+int(d.scratch())*WaveSize) + s.d.lds()
	if d.Cooperative {
		return min(cooperativeMemory/size, maxCooperative/waves)
	}
	return max(1, min(residentMemory/size, maxResident))
}

// work executes workgroups until there are none left to take up.
func (s *scheduler) work() {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	turns := s.d.Program.epochs.join()
	defer turns.leave()
	var g, spare *workgroup
	defer func() { s.release(spare) }()
	core := core{seat: s.seat}
	if !core.take() {
		return
	}
	for {
		last := g
		if g = s.take(spare); g == nil {
			break
		}
		switch {
		case g == spare:
			spare = nil
		case g == last && g.slept: // there is nothing else to do
			if !s.sleep(&core) {
				return
			}
		}
		turns.begin()
		began := s.d.profileTime()
		fault, done := g.turn(&s.stop)
		s.d.profileTurn(began)
		turns.end()
		var pause func()
		switch {
		case fault != nil:
			s.fail(g, fault)
			core.give()
			return
		case done:
			pause = s.end(g)
			if p := s.release(spare); pause == nil {
				pause = p
			}
			g, spare = nil, g
		default:
			pause = s.park(g)
		}
		switch {
		case pause != nil:
			core.give()
			pause()
			if !core.take() {
				return
			}
		case core.due():
			if !core.pass() {
				return
			}
		}
	}
	pause := s.release(spare)
	spare = nil
	core.give()
	if pause != nil {
		pause()
	}
}

// sleep waits for a moment, without the core if somebody else wants it. It returns
// false if there is nothing more to do.
func (s *scheduler) sleep(core *core) bool {
	switch c := s.d.Clock; {
	case c != nil:
		c.sleep()
	case core.wanted():
		core.give()
		time.Sleep(sleepTime)
		return core.take()
	default:
		time.Sleep(sleepTime)
	}
	return true
}

// start is the block that waves begin with.
func (s *scheduler) start() *block {
	if b := s.first.Load(); b != nil {
		return b
	}
	return link(&s.first, s.d.Program.beginning(s.d.entry(), false))
}

// take returns the workgroup to go on with: spare, if it is a fresh one and there
// is a spare.
func (s *scheduler) take(spare *workgroup) *workgroup {
	next, n, more, fresh := s.choose()
	switch {
	case fresh && spare != nil:
		return spare.next(n, more)
	case fresh:
		return newWorkgroup(s, n, more)
	}
	return next
}

// choose does the same, but leaves it to the caller to set up a fresh workgroup.
func (s *scheduler) choose() (next *workgroup, n, more uint64, fresh bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stop.Load() {
		return nil, 0, 0, false
	}
	after := s.ended
	s.ended = false
	switch {
	case after && s.head < len(s.parked) && !s.d.Cooperative:
		s.forward()
	case s.unstarted() && s.resident < s.limit:
		n, more = s.claim()
		s.resident++
		return nil, n, more, true
	}
	if s.head == len(s.parked) {
		return nil, 0, 0, false
	}
	next = s.parked[s.head]
	s.parked[s.head] = nil
	if s.head++; s.head*2 >= len(s.parked) { // move what is left only now and then
		n := copy(s.parked, s.parked[s.head:])
		clear(s.parked[n:])
		s.parked, s.head = s.parked[:n], 0
	}
	return next, 0, 0, false
}

// forward puts the workgroup with the lowest number before the others that are parked. It is for when one has finished: who waits for another
// workgroup mostly waits for one with a lower number. Where each waits for the one before it, as in scans, all but this one would spend
// their turn waiting, and so would a fresh one. Those of a cooperative dispatch wait for all. mu is held.
func (s *scheduler) forward() {
	q := s.parked[s.head:]
	first := 0
	for i, g := range q {
		if g.before(q[first]) {
			first = i
		}
	}
	g := q[first]
	copy(q[1:], q[:first])
	q[0] = g
}

// park puts a workgroup that has had its turn behind the others. What is to be
// called before anything else is taken up is OnStats' answer.
func (s *scheduler) park(g *workgroup) (pause func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g.tell()
	if !g.chained && g.id[0] < g.last { // others may have waited for those behind it
		s.unchain(g.behind())
		g.last = g.id[0]
	}
	pause = s.collect(g)
	s.parked = append(s.parked, g)
	if g.spun {
		s.idle++
	} else {
		s.idle += wholeTurn
	}
	// Nothing finishes: perhaps the resident workgroups wait for one that is not.
	if s.idle >= 2*wholeTurn*s.resident && s.unstarted() && s.limit < s.maxResident() {
		s.limit = min(s.limit*2, s.maxResident())
		s.idle = 0
	}
	return pause
}

// end takes note of a workgroup that finished; see park.
func (s *scheduler) end(g *workgroup) (pause func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.resident--
	s.idle, s.ended = 0, true
	g.tell()
	g.finished++
	if s.d.Clock != nil || g.due() || s.rings() && s.stats.Waves == 0 {
		pause = s.collect(g)
	}
	if s.finished++; s.finished == s.total {
		s.seat.finish()
	}
	return pause
}

// release gives back what a workgroup that has finished took, if there is one; see park.
func (s *scheduler) release(g *workgroup) (pause func()) {
	if g == nil {
		return nil
	}
	if g.finished > 0 { // since it was last collected
		s.mu.Lock()
		pause = s.collect(g)
		s.mu.Unlock()
	}
	g.release()
	return pause
}

// fail takes note of a workgroup that faulted.
func (s *scheduler) fail(g *workgroup, f *Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.resident--
	g.tell()
	s.collect(g)
	s.stop.Store(true)
	if s.fault == nil {
		s.fault = f
	}
	s.seat.finish()
}

// collect takes what the waves of g have executed over into the dispatch's
// statistics, and tells whoever wants to know. mu is held.
func (s *scheduler) collect(g *workgroup) (pause func()) {
	d := &s.fresh
	*d = Stats{Workgroups: g.finished}
	g.finished = 0
	for _, w := range g.waves {
		w.tally.flush(&w.stats, uint64(s.d.waveSize())) // it may never have begun
		d.Add(&w.stats)
		w.stats = Stats{}
	}
	s.stats.Add(d)
	s.d.Clock.executed(d)
	if s.d.OnStats != nil {
		pause = s.d.OnStats(d)
	}
	return pause
}
