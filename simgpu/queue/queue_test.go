package queue

import (
	"fmt"
	"math/rand"
	"slices"
	"sync"
	"testing"
	"time"
)

// journal notes the order in which tasks begin and end.
type journal struct {
	mu     sync.Mutex
	events []string
}

func (j *journal) note(s string) {
	j.mu.Lock()
	j.events = append(j.events, s)
	j.mu.Unlock()
}

func (j *journal) index(t *testing.T, s string) int {
	t.Helper()
	j.mu.Lock()
	defer j.mu.Unlock()
	i := slices.Index(j.events, s)
	if i < 0 {
		t.Fatalf("%q never happened: %q", s, j.events)
	}
	return i
}

func (j *journal) has(s string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Contains(j.events, s)
}

// gate is a task that begins, and ends when it is opened.
type gate struct {
	began chan struct{}
	open  chan struct{}
}

func newGate() *gate { return &gate{make(chan struct{}), make(chan struct{})} }

func (g *gate) task(j *journal, name string) Task {
	return Task{Run: func() {
		j.note("begin " + name)
		close(g.began)
		<-g.open
		j.note("end " + name)
	}}
}

func (j *journal) task(name string) Task {
	return Task{Run: func() { j.note(name) }}
}

func TestInOrder(t *testing.T) {
	q := New(NewGate(), time.Now)
	s := q.NewStream(true)
	var got []int
	for i := range 5000 {
		s.Add(Task{Run: func() { got = append(got, i) }})
		if i%1000 == 0 {
			s.Do(Task{Run: func() { got = append(got, -1) }})
		}
	}
	WaitAll(q.All())
	want := 0
	for _, v := range got {
		if v >= 0 {
			if v != want {
				t.Fatalf("task %d ran when it was %d's turn", v, want)
			}
			want++
		}
	}
	if want != 5000 || len(got) != 5005 {
		t.Errorf("%d tasks ran in order, %d in all", want, len(got))
	}
}

func TestStreamsRunSideBySide(t *testing.T) {
	q := New(NewGate(), time.Now)
	j := &journal{}
	a, b := newGate(), newGate()
	q.NewStream(true).Add(a.task(j, "a"))
	q.NewStream(true).Add(b.task(j, "b"))
	<-a.began // both at once, or this does not return
	<-b.began
	close(a.open)
	close(b.open)
	WaitAll(q.All())
}

func TestNullStreamTakesTurns(t *testing.T) {
	for _, blocking := range []bool{true, false} {
		t.Run(fmt.Sprint("blocking=", blocking), func(t *testing.T) {
			q := New(NewGate(), time.Now)
			j := &journal{}
			s := q.NewStream(blocking)
			g := newGate()
			s.Add(g.task(j, "s1"))
			n := q.Null().Add(j.task("null"))
			after := s.Add(j.task("s2"))
			<-g.began
			if !blocking {
				n.Wait() // passes while s1 still runs
				if j.has("end s1") {
					t.Error("s1 ended before its gate opened")
				}
			} else if n.Passed() {
				t.Error("the null stream went on while a blocking stream had work")
			}
			close(g.open)
			after.Wait()
			if blocking && !(j.index(t, "end s1") < j.index(t, "null") && j.index(t, "null") < j.index(t, "s2")) {
				t.Errorf("order: %q", j.events)
			}
		})
	}
}

func TestBlockingStreamWaitsForNull(t *testing.T) {
	q := New(NewGate(), time.Now)
	j := &journal{}
	g := newGate()
	q.Null().Add(g.task(j, "null"))
	blocking := q.NewStream(true).Add(j.task("blocking"))
	free := q.NewStream(false).Add(j.task("free"))
	free.Wait()
	<-g.began
	if blocking.Passed() {
		t.Error("a blocking stream went on while the null stream had work")
	}
	close(g.open)
	blocking.Wait()
	if j.index(t, "blocking") < j.index(t, "end null") {
		t.Errorf("order: %q", j.events)
	}
}

func TestMark(t *testing.T) {
	q := New(NewGate(), time.Now)
	j := &journal{}
	s, o := q.NewStream(false), q.NewStream(false)
	g := newGate()
	before := time.Now()
	first := s.Record()
	s.Add(g.task(j, "work"))
	m := s.Record()
	o.Add(Task{After: []Fence{m.Fence()}, Run: func() { j.note("other") }})
	<-g.began
	if _, ok := m.At(); ok {
		t.Error("a mark behind running work was reached")
	}
	if _, ok := first.At(); !ok {
		t.Error("a mark before running work was not reached")
	}
	close(g.open)
	WaitAll(q.All())
	a, ok1 := first.At()
	b, ok2 := m.At()
	if !ok1 || !ok2 || a.Before(before) || b.Before(a) {
		t.Errorf("marks at %v (%v) and %v (%v), queued at %v", a, ok1, b, ok2, before)
	}
	if j.index(t, "other") < j.index(t, "end work") {
		t.Errorf("order: %q", j.events)
	}
}

func TestDoRunsInPlaceAndInOrder(t *testing.T) {
	q := New(NewGate(), time.Now)
	s := q.NewStream(true)
	var order []int
	s.Do(Task{Run: func() {
		s.Add(Task{Run: func() { order = append(order, 2) }})
		order = append(order, 1)
	}})
	s.Do(Task{Run: func() { order = append(order, 3) }})
	if !slices.Equal(order, []int{1, 2, 3}) {
		t.Errorf("order %v", order)
	}
}

func TestAbort(t *testing.T) {
	q := New(NewGate(), time.Now)
	j := &journal{}
	s := q.NewStream(true)
	g := newGate()
	s.Add(g.task(j, "running"))
	s.Add(j.task("dropped"))
	s.Add(Task{Always: true, Run: func() { j.note("always") }})
	m := s.Record()
	n := q.Null().Add(j.task("null"))
	<-g.began
	q.Abort()
	close(g.open)
	n.Wait()
	m.Fence().Wait()
	if j.has("dropped") || j.has("null") || !j.has("always") || !j.has("end running") {
		t.Errorf("happened: %q", j.events)
	}
	q.Resume()
	s.Do(j.task("again"))
	j.index(t, "again")
}

func TestClosedStreamFinishes(t *testing.T) {
	q := New(NewGate(), time.Now)
	j := &journal{}
	g := newGate()
	s := q.NewStream(true)
	s.Add(g.task(j, "work"))
	last := s.Add(j.task("last"))
	s.Close()
	n := q.Null().Add(j.task("null"))
	<-g.began
	if n.Passed() {
		t.Error("the null stream does not wait for a closed stream's work")
	}
	close(g.open)
	last.Wait()
	n.Wait()
	idle := q.NewStream(true)
	idle.Close()
	q.mu.Lock()
	left := len(q.streams)
	q.mu.Unlock()
	// The one that had work is forgotten by a goroutine of its own.
	for deadline := time.Now().Add(time.Minute); left != 0 && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		q.mu.Lock()
		left = len(q.streams)
		q.mu.Unlock()
	}
	if left != 0 {
		t.Errorf("%d closed streams are kept", left)
	}
}

// TestAgainstModel queues random tasks on random streams from one goroutine,
// with random dependencies, and checks every pair that has an order.
func TestAgainstModel(t *testing.T) {
	rnd := rand.New(rand.NewSource(3))
	type task struct {
		stream     int // 0 is null
		after      []int
		begin, end int64
	}
	q := New(NewGate(), time.Now)
	streams := []*Stream{q.Null(), q.NewStream(true), q.NewStream(true), q.NewStream(false), q.NewStream(false)}
	blocking := []bool{false, true, true, false, false}
	var clock struct {
		sync.Mutex
		n int64
	}
	tick := func() int64 {
		clock.Lock()
		defer clock.Unlock()
		clock.n++
		return clock.n
	}
	var tasks []*task
	var fences []Fence
	for range 3000 {
		k := &task{stream: rnd.Intn(len(streams))}
		var deps []Fence
		if len(tasks) > 0 && rnd.Intn(4) == 0 {
			d := rnd.Intn(len(tasks))
			k.after = append(k.after, d)
			deps = append(deps, fences[d])
		}
		tasks = append(tasks, k)
		spin := rnd.Intn(200)
		if len(deps) == 0 && rnd.Intn(3) == 0 && streams[k.stream].Begin() {
			k.begin = tick()
			k.end = tick()
			streams[k.stream].End()
			fences = append(fences, Fence{})
			continue
		}
		fences = append(fences, streams[k.stream].Add(Task{After: deps, Run: func() {
			k.begin = tick()
			for range spin {
				_ = tick()
			}
			k.end = tick()
		}}))
	}
	WaitAll(q.All())
	before := func(a, b int) {
		if tasks[a].end >= tasks[b].begin {
			t.Fatalf("task %d of stream %d ended at %d, task %d of stream %d began at %d", a, tasks[a].stream,
				tasks[a].end, b, tasks[b].stream, tasks[b].begin)
		}
	}
	last := map[int]int{}
	for i, k := range tasks {
		if k.end == 0 {
			t.Fatalf("task %d did not run", i)
		}
		for _, d := range k.after {
			before(d, i)
		}
		if p, ok := last[k.stream]; ok {
			before(p, i)
		}
		for s, p := range last {
			if k.stream == 0 && blocking[s] || s == 0 && blocking[k.stream] {
				before(p, i)
			}
		}
		last[k.stream] = i
	}
}

func TestConcurrentUse(t *testing.T) {
	q := New(NewGate(), time.Now)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 200 {
				s := q.NewStream(true)
				s.Add(Task{})
				q.Null().Add(Task{})
				m := s.Record()
				s.Do(Task{})
				if !m.Fence().Passed() {
					t.Error("Do returned before what was queued earlier")
				}
				s.Close()
				WaitAll(q.Blocking())
			}
		})
	}
	wg.Wait()
	if len(q.All()) != 0 {
		t.Error("work is left")
	}
}

func BenchmarkAdd(b *testing.B) {
	q := New(NewGate(), time.Now)
	s := q.NewStream(true)
	for b.Loop() {
		s.Add(Task{Run: func() {}})
	}
	WaitAll(q.All())
}

func BenchmarkDo(b *testing.B) {
	q := New(NewGate(), time.Now)
	for b.Loop() {
		q.Null().Do(Task{Run: func() {}})
	}
}

func TestBegin(t *testing.T) {
	for _, c := range []struct {
		name            string
		busyNull        bool // the work in the way is the null stream's
		blocking, begin bool // the stream takes turns; it is free
	}{
		{"other stream busy", false, true, true},
		{"null stream busy", true, true, false},
		{"null stream busy, stream does not take turns", true, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := New(NewGate(), time.Now)
			j := &journal{}
			busy, s := q.NewStream(true), q.NewStream(c.blocking)
			if c.busyNull {
				busy = q.Null()
			}
			g := newGate()
			busy.Add(g.task(j, "work"))
			<-g.began
			if busy.Begin() {
				t.Error("a stream with work was free")
			}
			if !c.busyNull && (q.Null().Begin() || q.Null().Idle()) {
				t.Error("the null stream was free while a blocking stream had work")
			}
			if s.Begin() != c.begin {
				t.Errorf("free: %v, want %v", !c.begin, c.begin)
			} else if c.begin {
				if s.Idle() || s.Begin() {
					t.Error("free within Begin and End")
				}
				f := s.Add(j.task("after"))
				if f.Passed() || j.has("after") {
					t.Error("a task ran before End")
				}
				j.note("in place")
				s.End()
				f.Wait()
				if j.index(t, "after") < j.index(t, "in place") {
					t.Errorf("order: %q", j.events)
				}
			}
			close(g.open)
			WaitAll(q.All())
			if !s.Idle() || !q.Null().Idle() {
				t.Error("not idle when all is done")
			}
			q.Abort()
			if s.Begin() {
				t.Error("free although aborted")
			}
		})
	}
}

// Work in place takes turns with the null stream as a task does.
func TestBeginHoldsUp(t *testing.T) {
	q := New(NewGate(), time.Now)
	j := &journal{}
	s := q.NewStream(true)
	if !s.Begin() {
		t.Fatal("a new stream is not free")
	}
	n := q.Null().Add(j.task("null"))
	if q.Null().Begin() || n.Passed() || j.has("null") {
		t.Error("the null stream went on")
	}
	j.note("in place")
	s.End()
	n.Wait()
	if j.index(t, "null") < j.index(t, "in place") {
		t.Errorf("order: %q", j.events)
	}
	s.Close()
	if m := q.Null().Record(); !m.Fence().Passed() {
		t.Error("a mark on an idle stream was not reached at once")
	} else if _, ok := m.At(); !ok {
		t.Error("it has no time")
	}
}

// TestGate: nothing is inside while the gate is closed, and who is inside and
// waits for another that has to come in is not held up for ever.
func TestGate(t *testing.T) {
	g := NewGate()
	q := New(g, time.Now)
	a, b := q.NewStream(false), q.NewStream(false)
	begun, met := make(chan struct{}), make(chan struct{})
	a.Add(Task{Run: func() { close(begun); <-met }})
	<-begun
	closed := make(chan bool)
	go func() { closed <- g.Close(time.Minute) }()
	time.Sleep(10 * time.Millisecond)
	b.Add(Task{Run: func() { close(met) }})
	if !<-closed {
		t.Fatal("the gate did not close")
	}
	f := a.Add(Task{Run: func() {}})
	if a.Begin() {
		t.Error("Begin while the gate is closed")
	}
	a.Add(Task{Apart: true, Run: func() {}})
	time.Sleep(20 * time.Millisecond)
	if f.Passed() {
		t.Error("a task went through a closed gate")
	}
	g.Open()
	f.Wait()
	WaitAll(q.All())
	hold := make(chan struct{})
	begun = make(chan struct{})
	a.Add(Task{Run: func() { close(begun); <-hold }})
	<-begun
	if g.Close(time.Millisecond) {
		t.Error("the gate closed with somebody inside")
	}
	close(hold)
	WaitAll(q.All())
}

// Idle says of every kind of stream, and of one that was closed, that it has something left to do.
func TestIdle(t *testing.T) {
	q := New(NewGate(), time.Now)
	blocking, other, closed := q.NewStream(true), q.NewStream(false), q.NewStream(false)
	if !q.Idle() {
		t.Error("not idle before anything was queued")
	}
	for name, s := range map[string]*Stream{"null": q.Null(), "blocking": blocking, "not blocking": other, "closed": closed} {
		g := newGate()
		f := s.Add(g.task(&journal{}, name))
		if name == "closed" {
			s.Close()
		}
		if q.Idle() {
			t.Errorf("%s: idle with a task that is queued", name)
		}
		<-g.began
		if q.Idle() {
			t.Errorf("%s: idle with a task that runs", name)
		}
		close(g.open)
		f.Wait()
		if !q.Idle() {
			t.Errorf("%s: not idle after its only task", name)
		}
	}
}
