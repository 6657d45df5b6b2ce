package worker

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/internal/mono"
	"github.com/rocwire/rocwire/worker/quota/joint"
)

// brokerOf gives a broker whose parent answers as is said.
func brokerOf(t *testing.T, answer func(q *shareRequest) shareReply) *broker {
	t.Helper()
	parent, child := controls(t)
	b := newBroker(child)
	go func() {
		for parent.next(func(msg []byte, _ int) error {
			var q shareRequest
			if err := q.decode(msg[1:]); err != nil {
				return err
			}
			a := answer(&q)
			return parent.order(a.encode())
		}) == nil {
		}
	}()
	go func() {
		for child.next(func(msg []byte, _ int) error {
			a := shareReply{Shared: hip.Shared{FD: -1}}
			if err := a.decode(msg[1:]); err != nil {
				return err
			}
			b.answer(a.ID, a)
			return nil
		}) == nil {
		}
	}()
	return b
}

// TestWithdrawIsDone: what was withdrawn cannot be had any more when Withdraw returns, though another process is at once told of it. Where nobody answers any
// more, it does not wait.
func TestWithdrawIsDone(t *testing.T) {
	var done atomic.Bool
	b := brokerOf(t, func(q *shareRequest) shareReply {
		time.Sleep(10 * time.Millisecond)
		done.Store(q.Kind == shareWithdraw)
		return shareReply{ID: q.ID}
	})
	if b.Withdraw(hip.ShareToken{1}); !done.Load() {
		t.Error("it returns before it is done")
	}
	silent := brokerOf(t, func(*shareRequest) shareReply { select {} })
	silent.stop()
	silent.Withdraw(hip.ShareToken{1})
}

// TestSpareIsNotAskedForEachTime: a program that asks again and again what is free does not keep the parent busy, and hears of memory that others have given
// way with for it.
func TestSpareIsNotAskedForEachTime(t *testing.T) {
	var asked atomic.Int64
	b := brokerOf(t, func(q *shareRequest) shareReply { // each answer is another
		a := shareReply{ID: q.ID}
		if q.Kind == shareSpare {
			a.Shared.Size = uint64(asked.Add(1))
		}
		return a
	})
	b.cards = []joint.Card{{}}
	start := mono.Now()
	for range 1000 {
		if b.Spare(0) == 0 {
			t.Fatal("no answer")
		}
	}
	if n, most := asked.Load(), 1+(mono.Now()-start)/spareTime; n > most {
		t.Errorf("asked %d times in %v", n, time.Duration(mono.Now()-start))
	}
	last := b.Spare(0)
	if !b.Room(0, 1) {
		t.Fatal("no room")
	}
	if n := b.Spare(0); n <= last {
		t.Errorf("%d is what was before others gave way, %d", n, last)
	}
}
