package quota

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu"
)

// purse is a joint account of one device.
type purse struct {
	mu      sync.Mutex
	limit   uint64
	held    uint64 // by the session and by others
	theirs  uint64 // by others
	room    func() bool
	refused int
	beyond  int
	grants  time.Duration
	spent   time.Duration
	draws   int
	later   time.Duration
}

func (p *purse) Take(_ int32, size, least uint64) uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	got := min(size, (p.limit-min(p.held, p.limit))&^(hip.Granule-1))
	if got < least {
		p.refused++
		return 0
	}
	p.held += got
	return got
}

func (p *purse) Add(_ int32, size uint64) {
	p.mu.Lock()
	p.held += size
	p.beyond++
	p.mu.Unlock()
}

func (p *purse) Give(_ int32, size uint64) {
	p.mu.Lock()
	p.held -= size
	p.mu.Unlock()
}

func (p *purse) Left(int32) uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.limit - min(p.held, p.limit)
}

func (p *purse) Room(int32, uint64) bool { return p.room != nil && p.room() }

func (p *purse) Draw(int32) (granted, later time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.draws++
	if p.later > 0 {
		later, p.later = p.later, 0
		return 0, later
	}
	return p.grants, 0
}

func (p *purse) Spend(_ int32, ran time.Duration) {
	p.mu.Lock()
	p.spent += ran
	p.mu.Unlock()
}

// others has others take so much more, or less.
func (p *purse) others(n int64) {
	p.mu.Lock()
	p.held += uint64(n)
	p.theirs += uint64(n)
	p.mu.Unlock()
}

// same checks that the joint account knows what the session holds.
func (p *purse) same(t *testing.T, q *Runtime) {
	t.Helper()
	held := q.settledOf(0)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held-p.theirs != held {
		t.Errorf("the session holds %d bytes, the joint account says %d", held, p.held-p.theirs)
	}
}

func shared(t *testing.T, limit uint64) (*Runtime, *purse) {
	t.Helper()
	r, err := simgpu.New(simgpu.Options{MemoryBytes: 1 << 30, Logf: t.Logf})
	if err != nil {
		t.Fatal(err)
	}
	q, p := New(r, nil), &purse{limit: limit}
	q.SetJoint(p, true, false)
	t.Cleanup(func() { q.Close(); r.Close() })
	return q, p
}

// TestJointMemory: whichever way a session gets memory, it is asked for before, and the joint account knows of all that it holds and of nothing else.
func TestJointMemory(t *testing.T) {
	q, p := shared(t, 64*mib)
	p.others(16 * mib)
	free, _, e := q.MemGetInfo(thread)
	if is(t, "MemGetInfo", e, hip.Success); free != 48*mib {
		t.Errorf("%d MiB are free", free/mib)
	}
	prop := &hip.MemAllocationProp{Type: hip.MemAllocationTypePinned, Location: hip.MemLocation{Type: hip.MemLocationTypeDevice}}
	own := ok[hip.MemPool](t, "DeviceGetDefaultMemPool")(q.DeviceGetDefaultMemPool(0))
	is(t, "MemPoolSetAttribute", q.MemPoolSetAttribute(thread, own, hip.MemPoolAttrReleaseThreshold, ^uint64(0)), hip.Success)
	rnd := rand.New(rand.NewPCG(3, 4))
	var list, async []hip.Ptr
	var handles []hip.GenericAllocation
	granted := uint64(0)
	for range 3000 {
		size := uint64(rnd.IntN(12*mib) + 1)
		switch rnd.IntN(11) {
		case 0, 1:
			if a, e := q.Malloc(thread, size); e == hip.Success {
				list = append(list, a)
			}
		case 2, 3:
			if a, e := q.MallocAsync(thread, size, 0); e == hip.Success {
				async = append(async, a)
			}
		case 4:
			if h, e := q.MemCreate(thread, pages(size), prop, 0); e == hip.Success {
				handles = append(handles, h)
			}
		case 5:
			if n, e := q.Placer().Grant(thread, pages(size), pages(size)/2); e == hip.Success {
				granted += n
			}
		case 6, 7:
			if n := len(list); n > 0 {
				is(t, "Free", q.Free(thread, list[n-1]), hip.Success)
				list = list[:n-1]
			}
		case 8, 9:
			if n := len(async); n > 0 {
				is(t, "FreeAsync", q.FreeAsync(thread, async[n-1], 0), hip.Success)
				async = async[:n-1]
				if rnd.IntN(2) == 0 {
					is(t, "DeviceSynchronize", q.DeviceSynchronize(thread), hip.Success)
				}
			}
		case 10:
			if n := len(handles); n > 0 {
				is(t, "MemRelease", q.MemRelease(thread, handles[n-1]), hip.Success)
				handles = handles[:n-1]
			}
			is(t, "Return", q.Placer().Return(thread, granted), hip.Success)
			granted = 0
		}
		p.same(t, q)
		p.mu.Lock()
		held := p.held
		p.mu.Unlock()
		if held > p.limit {
			t.Fatalf("%d bytes are held", held)
		}
	}
	if p.refused == 0 {
		t.Error("nothing was refused")
	}
	for _, a := range append(list, async...) {
		is(t, "Free", q.Free(thread, a), hip.Success)
	}
	for _, h := range handles {
		is(t, "MemRelease", q.MemRelease(thread, h), hip.Success)
	}
	is(t, "Return", q.Placer().Return(thread, granted), hip.Success)
	q.Trim()
	if p.held != p.theirs {
		t.Errorf("%d bytes are held when all is freed", p.held-p.theirs)
	}
}

// TestJointRoom: what is not there is asked for of others, after the session's own pools have given back what they keep; and only where it is needed.
func TestJointRoom(t *testing.T) {
	q, p := shared(t, 64*mib)
	asked := 0
	p.room = func() bool {
		if asked++; p.theirs == 0 {
			return false
		}
		p.others(-16 * mib)
		return true
	}
	p.others(32 * mib)
	own := ok[hip.MemPool](t, "DeviceGetDefaultMemPool")(q.DeviceGetDefaultMemPool(0))
	is(t, "MemPoolSetAttribute", q.MemPoolSetAttribute(thread, own, hip.MemPoolAttrReleaseThreshold, ^uint64(0)), hip.Success)
	a := ok[hip.Ptr](t, "MallocAsync")(q.MallocAsync(thread, 24*mib, 0))
	is(t, "FreeAsync", q.FreeAsync(thread, a, 0), hip.Success)
	is(t, "DeviceSynchronize", q.DeviceSynchronize(thread), hip.Success)
	b := ok[hip.Ptr](t, "Malloc of what the pool keeps")(q.Malloc(thread, 32*mib))
	if asked != 0 {
		t.Errorf("others were asked %d times", asked)
	}
	if n, e := q.Placer().Grant(thread, 16*mib, 0); e != hip.ErrorOutOfMemory || asked != 0 {
		t.Errorf("%d bytes were granted, %v, and others asked %d times for what is not needed", n, e, asked)
	}
	c := ok[hip.Ptr](t, "MallocAsync of what another had")(q.MallocAsync(thread, 20*mib, 0))
	if asked != 2 {
		t.Errorf("others were asked %d times", asked)
	}
	_, e := q.Malloc(thread, 40*mib)
	is(t, "more than there is", e, hip.ErrorOutOfMemory)
	p.same(t, q)
	is(t, "Free", q.Free(thread, b), hip.Success)
	is(t, "Free", q.Free(thread, c), hip.Success)
}

// TestJointTime: a session with a joint budget draws before it launches, waits when it is told to, and says what its kernels ran beyond what it drew.
func TestJointTime(t *testing.T) {
	f := newFake()
	f.took = 4
	q, p := New(f, nil), &purse{grants: 10 * time.Millisecond, later: 3 * time.Second}
	q.SetJoint(p, false, true)
	q.SetLimits(0, Limits{Compute: 0.5})
	th := q.devices[0].time
	now := time.Unix(0, 0)
	var mu sync.Mutex
	th.now = func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
	waited := time.Duration(0)
	th.sleep = func(d time.Duration, _ <-chan struct{}) { mu.Lock(); now = now.Add(d); waited += d; mu.Unlock() }
	for range 6 {
		if e := q.LaunchKernel(thread, &hip.Launch{}); e != hip.Success {
			t.Fatal(e)
		}
		for {
			th.mu.Lock()
			n := th.running
			th.mu.Unlock()
			if n == 0 {
				break
			}
			time.Sleep(time.Microsecond)
		}
	}
	for { // the last may still be said
		p.mu.Lock()
		draws, spent := p.draws, p.spent
		p.mu.Unlock()
		// 24 ms: three kernels for each draw, the third of which goes over it by 2 ms.
		if spent == 4*time.Millisecond {
			if draws != 3 || waited < 3*time.Second {
				t.Errorf("%d draws, it waited %v", draws, waited)
			}
			break
		}
		time.Sleep(time.Millisecond)
	}
}
