package smitest

import (
	"context"
	"errors"
	"reflect"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rocwire/rocwire/smi"
)

// What was read is told again, until something is changed.
func TestSharedRemembers(t *testing.T) {
	src := &counting{Fake: NewMachine(2, 1)}
	s := smi.NewShared(src, smi.SharedOptions{Fresh: time.Hour})
	ask := func() {
		t.Helper()
		for range 5 {
			if _, err := s.Metrics(t.Context(), 0); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Snapshot(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	for reads, change := range []func() error{
		func() error { return nil },
		func() error { return s.Set(t.Context(), 0, smi.Setting{PowerCap: smi.Some(smi.Watts(500))}) },
		func() error { return s.Set(t.Context(), 0, smi.Setting{Reset: true}) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		ask()
		if n, want := src.reads.Load(), int32(2*(reads+1)); n != want { // of both cards
			t.Errorf("%d reads after %d changes, want %d", n, reads, want)
		}
	}
	if len(src.Changes()) != 2 {
		t.Errorf("changes: %+v", src.Changes())
	}
	s = smi.NewShared(src, smi.SharedOptions{Fresh: -1})
	before := src.reads.Load()
	ask()
	if n := src.reads.Load() - before; n != 5+5*2 {
		t.Errorf("%d reads by a source that must not remember", n)
	}
}

// All who ask at the same time get the same view, and a changed card makes a new one.
func TestSharedView(t *testing.T) {
	s := smi.NewShared(NewFaulty(2, 1), smi.SharedOptions{Fresh: time.Hour})
	numbers := make([]uint64, 20)
	var wg sync.WaitGroup
	for i := range numbers {
		wg.Go(func() {
			_, n, err := s.View(t.Context())
			if err != nil {
				t.Error(err)
			}
			numbers[i] = n
		})
	}
	wg.Wait()
	for _, n := range numbers {
		if n == 0 || n != numbers[0] {
			t.Fatalf("views %v", numbers)
		}
	}
	if err := s.Inject(t.Context(), 0, smi.Fault{Kind: smi.FaultECC}); err != nil {
		t.Fatal(err)
	}
	if _, n, _ := s.View(t.Context()); n == numbers[0] {
		t.Error("a fault does not make a new view")
	}
	if err := smi.NewShared(NewFake(), smi.SharedOptions{}).Inject(t.Context(), 0, smi.Fault{}); !errors.Is(err, smi.ErrNotSupported) {
		t.Errorf("a fault of cards that cannot be told to fail: %v", err)
	}
}

// A card that hangs is told with its last known figures and their age.
func TestSharedStale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := &counting{Fake: NewMachine(2, 1)}
		s := smi.NewShared(src, smi.SharedOptions{Fresh: -1, Wait: answers / 2})
		known, err := s.Metrics(t.Context(), 0)
		if err != nil || known.Stale.Ok() {
			t.Fatalf("%+v, %v", known, err)
		}
		release := src.Hang(0)
		defer release()
		before := src.reads.Load()
		last := smi.Duration(0)
		for range 3 {
			time.Sleep(time.Millisecond)
			m, err := s.Metrics(t.Context(), 0)
			if err != nil {
				t.Fatal(err)
			}
			age, ok := m.Stale.Get()
			if !ok || age <= last {
				t.Errorf("figures %v old after some %v old", m.Stale, last)
			}
			last = age
			m.Stale = known.Stale
			if !reflect.DeepEqual(m, known) {
				t.Errorf("got %+v, want %+v", m, known)
			}
		}
		time.Sleep(time.Millisecond)
		snap, err := s.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if d := snap.Devices[0]; d.Metrics == nil || d.Metrics.Stale.Or(0) <= last || d.ProcessesStale.Ok() || d.ECC == nil || d.ECC.Stale.Ok() {
			t.Errorf("the card that hangs: %+v", d)
		}
		if d := snap.Devices[1]; d.Metrics == nil || d.Metrics.Stale.Ok() {
			t.Errorf("the other card: %+v", d)
		}
		if n := src.reads.Load() - before; n != 2 { // and the other card
			t.Errorf("%d reads while a card hangs", n)
		}
		// Also changes do not start it again and again.
		for range 3 {
			if err := s.Set(t.Context(), 1, smi.Setting{PerfLevel: smi.PerfHigh}); err != nil {
				t.Fatal(err)
			}
			if m, err := s.Metrics(t.Context(), 0); err != nil || !m.Stale.Ok() {
				t.Fatalf("%+v, %v", m, err)
			}
		}
		if n := src.reads.Load() - before; n != 2 {
			t.Errorf("%d reads while a card hangs and another is changed", n)
		}
		release()
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
			m, err := s.Metrics(t.Context(), 0)
			if err != nil {
				t.Fatal(err)
			}
			if !m.Stale.Ok() {
				break
			}
			if time.Now().After(deadline) {
				t.Fatal("figures stay old")
			}
		}
	})
}

// A card that never answered has a failure in the snapshot; the others do not wait.
func TestSharedNeverKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := NewMachine(2, 1)
		release := src.Hang(0)
		defer release()
		s := smi.NewShared(src, smi.SharedOptions{Wait: answers})
		for range 2 {
			snap, err := s.Snapshot(t.Context()) // without a deadline
			if err != nil {
				t.Fatal(err)
			}
			if f := snap.Devices[0].MetricsErr; f == nil || f.Code != smi.ErrTimeout || snap.Devices[0].Info == nil || snap.Devices[1].Metrics == nil {
				t.Errorf("%+v", snap.Devices)
			}
		}
	})
}

// A source whose processes hang as well.
type deafProcesses struct {
	*Fake
	hang chan struct{}
}

func (d *deafProcesses) Processes(ctx context.Context, i int) ([]smi.Process, error) {
	<-d.hang
	return d.Fake.Processes(ctx, i)
}

// A list of processes cannot say how old it is, so only snapshots have an old one.
func TestSharedStaleProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := &deafProcesses{NewMachine(1, 3), make(chan struct{})}
		close(src.hang)
		s := smi.NewShared(src, smi.SharedOptions{Fresh: -1, Wait: answers})
		want, err := s.Snapshot(t.Context())
		if err != nil || len(want.Devices[0].Processes) != 3 {
			t.Fatal(err)
		}
		src.hang = make(chan struct{})
		defer close(src.hang)
		got, err := s.Snapshot(t.Context())
		if err != nil || got.Devices[0].ProcessesStale.Or(0) <= 0 || !reflect.DeepEqual(got.Devices[0].Processes, want.Devices[0].Processes) {
			t.Errorf("%+v, %v", got, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 40*time.Millisecond)
		defer cancel()
		if ps, err := s.Processes(ctx, 0); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%+v, %v", ps, err)
		}
	})
}

// Failures are told as they are, and over when they are over.
func TestSharedFailure(t *testing.T) {
	src := NewMachine(1, 0)
	s := smi.NewShared(src, smi.SharedOptions{Fresh: -1})
	if _, err := s.Info(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	src.Fail(smi.Errorf(smi.ErrIO, "the card is gone"))
	if m, err := s.Metrics(t.Context(), 0); !errors.Is(err, smi.ErrIO) {
		t.Errorf("%+v, %v", m, err)
	}
	if i, err := s.Info(t.Context(), 0); !errors.Is(err, smi.ErrIO) { // although it is remembered for long
		t.Errorf("%+v, %v", i, err)
	}
	src.Fail(nil)
	if _, err := s.Metrics(t.Context(), 0); err != nil {
		t.Error(err)
	}
}

func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !f(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not in time: %s", what)
		}
	}
}

// Everybody who listens gets every event, though the source is listened to once.
func TestSharedEvents(t *testing.T) {
	src := NewMachine(2, 0)
	s := smi.NewShared(src, smi.SharedOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	var mu sync.Mutex
	got := map[int][]string{}
	var wg sync.WaitGroup
	for i := range 3 {
		wg.Go(func() {
			err := s.Events(ctx, func(e smi.Event) {
				mu.Lock()
				defer mu.Unlock()
				got[i] = append(got[i], e.Message)
			})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("listener %d: %v", i, err)
			}
		})
	}
	heard := func(n int) func() bool {
		return func() bool {
			mu.Lock()
			defer mu.Unlock()
			return len(got[0]) >= n && len(got[1]) >= n && len(got[2]) >= n
		}
	}
	eventually(t, "all listen", func() bool {
		src.Emit(smi.Event{Time: Then, Kind: smi.EventECC, Message: "hello"})
		return heard(1)()
	})
	mu.Lock()
	clear(got)
	mu.Unlock()
	src.Emit(smi.Event{Time: Then, Kind: smi.EventECC, Message: "last"})
	eventually(t, "all heard", func() bool {
		mu.Lock()
		defer mu.Unlock()
		for i := range 3 {
			if n := len(got[i]); n == 0 || got[i][n-1] != "last" {
				return false
			}
		}
		return true
	})
	cancel()
	wg.Wait()

	// The source's failure ends everybody, and a new listener finds a new reading.
	again := make(chan error, 1)
	src.Fail(smi.ErrIO)
	go func() { again <- s.Events(t.Context(), func(smi.Event) {}) }()
	if err := <-again; !errors.Is(err, smi.ErrIO) {
		t.Errorf("a source that fails: %v", err)
	}
	src.Fail(nil)
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	src.Emit(smi.Event{Time: Then, Kind: smi.EventECC})
	if err := s.Events(ctx, func(smi.Event) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Errorf("after the failure: %v", err)
	}
}

func TestEventQueue(t *testing.T) {
	q := smi.NewEventQueue(3)
	for i := range 5 {
		q.Push(smi.Event{Time: Then.Add(time.Duration(i)), PID: uint32(i), Kind: smi.EventECC})
	}
	take := func(limit int) (pids []uint32) {
		t.Helper()
		es, err := q.Next(t.Context(), limit)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range es {
			if e.Kind == smi.EventMissed {
				if e.Count != 2 || e.Device != smi.NoCard || !e.Time.Equal(Then) || e.Message != "2 events were lost" {
					t.Errorf("%+v", e)
				}
				pids = append(pids, 99)
				continue
			}
			pids = append(pids, e.PID)
		}
		return pids
	}
	if got := take(2); !reflect.DeepEqual(got, []uint32{99, 2}) {
		t.Errorf("%v", got)
	}
	if got := take(9); !reflect.DeepEqual(got, []uint32{3, 4}) {
		t.Errorf("%v", got)
	}
	// A message about lost events that is lost itself stands for those.
	for range 3 {
		q.Push(smi.Missed(Then, 10))
	}
	q.Push(smi.Event{PID: 1})
	es, err := q.Next(t.Context(), 1)
	if err != nil || len(es) != 1 || es[0].Count != 10 {
		t.Errorf("%+v, %v", es, err)
	}
	q.Fail(smi.ErrIO)
	if es, err := q.Next(t.Context(), 9); err != nil || len(es) != 3 {
		t.Errorf("%+v, %v", es, err)
	}
	if es, err := q.Next(t.Context(), 9); !errors.Is(err, smi.ErrIO) || len(es) != 0 {
		t.Errorf("%+v, %v", es, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := smi.NewEventQueue(1).Next(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
