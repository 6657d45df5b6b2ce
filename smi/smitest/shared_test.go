package smitest

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rocwire/rocwire/smi"
)

func TestSharedConforms(t *testing.T) {
	Run(t, func(*testing.T) smi.Source {
		cards := Cards()
		cards[1].ProcessesErr = &smi.Failure{Code: smi.ErrNotSupported}
		return smi.Shared(NewFake(cards...))
	})
}

// counting is a source that counts how often its metrics are read.
type counting struct {
	*Fake
	reads atomic.Int32
}

func (c *counting) Metrics(ctx context.Context, i int) (*smi.Metrics, error) {
	c.reads.Add(1)
	return c.Fake.Metrics(ctx, i)
}

// answers is how long a card has that does not hang. Where one hangs, time passes in the test alone: the others are never late.
const answers = time.Second

// A card that hangs is read once, however many ask, and nobody waits for ever; the
// other card is not concerned.
func TestSharedHangingCard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := &counting{Fake: NewFake(Cards()...)}
		release := src.Hang(0)
		defer release()
		s := smi.Shared(src)
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
				defer cancel()
				if _, err := s.Metrics(ctx, 0); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("the hanging card answered %v", err)
				}
			})
		}
		wg.Wait()
		if n := src.reads.Load(); n != 1 {
			t.Errorf("the hanging card was read %d times", n)
		}
		if m, err := s.Metrics(t.Context(), 1); err != nil || m == nil {
			t.Errorf("the other card: %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), answers)
		defer cancel()
		snap, err := smi.TakeSnapshot(ctx, s)
		if err != nil {
			t.Fatal(err)
		}
		if d := snap.Devices[0]; d.MetricsErr == nil || d.MetricsErr.Code != smi.ErrTimeout {
			t.Errorf("the hanging card in the snapshot: %+v", d)
		}
		if d := snap.Devices[1]; d.Metrics == nil || d.MetricsErr != nil {
			t.Errorf("the other card in the snapshot: %+v", d)
		}
		release()
		if _, err := s.Metrics(t.Context(), 0); err != nil {
			t.Errorf("after it came back: %v", err)
		}
	})
}

// A snapshot ends in time even if the source does not care about the context.
func TestSnapshotOfDeafSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := NewFake(Cards()...)
		release := src.Hang(0)
		defer release()
		ctx, cancel := context.WithTimeout(t.Context(), answers)
		defer cancel()
		snap, err := smi.TakeSnapshot(ctx, src)
		if err != nil || snap.Devices[0].MetricsErr == nil || snap.Devices[1].Metrics == nil {
			t.Errorf("%+v, %v", snap, err)
		}
	})
}

func TestWithSessions(t *testing.T) {
	cards := Cards()
	cards[0].Processes[0].Client, cards[0].Processes[0].Session = nil, ""
	s := smi.WithSessions(NewFake(cards...), Clients{})
	ps, err := s.Processes(t.Context(), 0)
	if err != nil || len(ps) != 2 {
		t.Fatal(ps, err)
	}
	if c := ps[0].Client; c == nil || c.Host != "train-3" || ps[0].Session != "17" {
		t.Errorf("the session's process: %+v", ps[0])
	}
	if ps[1].Client != nil {
		t.Errorf("the local process: %+v", ps[1])
	}
}
