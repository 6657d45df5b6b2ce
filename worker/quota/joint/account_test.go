package joint

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/worker/quota"
)

func same(l quota.Limits) func(uint64) quota.Limits {
	return func(uint64) quota.Limits { return l }
}

var (
	one = Card{At: 1}
	two = Card{At: 1, UUID: [16]byte{2}} // another part of the same card
)

// TestMemory: what sessions of one account hold together stays within it, card by card, and is free when it is given back or its session leaves.
func TestMemory(t *testing.T) {
	var all Accounts
	limits := same(quota.Limits{Memory: 64 << 20})
	a, b, other := all.Join("x", limits), all.Join("x", limits), all.Join("y", limits)
	take := func(h *Holder, c Card, size, least, want uint64) {
		t.Helper()
		if got := h.Take(c, size, least); got != want {
			t.Errorf("%d bytes, want %d", got, want)
		}
	}
	take(a, one, 40<<20, 40<<20, 40<<20)
	take(b, one, 40<<20, 40<<20, 0)
	take(b, one, 40<<20, 8<<20, 24<<20)
	take(a, one, hip.Granule, hip.Granule, 0)
	take(a, one, hip.Granule, 0, 0)
	take(a, two, 64<<20, 64<<20, 64<<20)
	take(other, one, 64<<20, 64<<20, 64<<20)
	if !a.With(b) || a.With(other) || a.With(nil) || (*Holder)(nil).With(nil) {
		t.Error("who shares an account")
	}
	if a.Left(one) != 0 || a.Held(one) != 40<<20 || b.Held(one) != 24<<20 {
		t.Errorf("%d left, %d and %d held", a.Left(one), a.Held(one), b.Held(one))
	}
	b.Give(one, 1<<40) // more than it has: what is a's stays
	take(b, one, 25<<20, 25<<20, 0)
	take(b, one, 24<<20, 24<<20, 24<<20)
	b.Add(one, 8<<20) // beyond
	b.Give(one, 8<<20)
	take(b, one, hip.Granule, hip.Granule, 0)
	a.Leave()
	a.Leave()
	take(b, one, 40<<20, 40<<20, 40<<20)
	take(a, one, hip.Granule, hip.Granule, 0) // it has left
	a.Give(one, 1<<20)
	a.Add(one, 1<<20)
	b.Add(one, math.MaxUint64)
	b.Add(one, math.MaxUint64)
	b.Give(one, math.MaxUint64)
	if n := b.Left(one); n != 64<<20 {
		t.Errorf("%d bytes are left", n)
	}
	for i := range 2 * maxCards {
		b.Take(Card{At: uint64(i)}, 1, 1)
	}
	if len(b.held) != maxCards {
		t.Errorf("a session named %d cards", len(b.held))
	}
	b.Leave()
	other.Leave()
	if len(all.all) != 0 {
		t.Errorf("%d accounts are left", len(all.all))
	}
	(*Holder)(nil).Leave()
}

// TestGenerous: an account has what the most generous of its holders lets it have, as long as that is there.
func TestGenerous(t *testing.T) {
	var all Accounts
	a := all.Join("x", same(quota.Limits{Memory: 8 << 20, Compute: 0.1}))
	b := all.Join("x", func(at uint64) quota.Limits {
		if at == 1 {
			return quota.Limits{Memory: 16 << 20}
		}
		return quota.Limits{Memory: 4 << 20}
	})
	if n := a.Left(one); n != 16<<20 {
		t.Errorf("%d bytes", n)
	}
	if n := a.Left(Card{At: 7}); n != 8<<20 {
		t.Errorf("another card: %d bytes", n)
	}
	if granted, later := a.Draw(one); granted != untimed || later != 0 {
		t.Errorf("without a limit of time: %v, %v", granted, later)
	}
	b.SetLimits(same(quota.Limits{}))
	if n := a.Left(one); n != math.MaxUint64 {
		t.Errorf("without a limit: %d bytes", n)
	}
	b.Leave()
	if n := a.Left(one); n != 8<<20 {
		t.Errorf("when it has left: %d bytes", n)
	}
}

// TestAtOnce: sessions that ask at once for more than there is never have more together, and what they hold is what the account says.
func TestAtOnce(t *testing.T) {
	const limit, sessions = 256 << 20, 8
	var all Accounts
	watch := all.Join("x", same(quota.Limits{Memory: limit}))
	done := make(chan struct{})
	var wg sync.WaitGroup
	for i := range sessions {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(1, uint64(i)))
			for range 20 {
				h, mine := all.Join("x", same(quota.Limits{Memory: limit})), uint64(0)
				for range 200 {
					n := uint64(rnd.IntN(64<<20)) &^ (hip.Granule - 1)
					if rnd.IntN(2) == 0 {
						mine += h.Take(one, n, n/2)
					} else {
						n = min(n, mine)
						h.Give(one, n)
						mine -= n
					}
				}
				if h.Held(one) != mine {
					t.Errorf("it holds %d, and is said to hold %d", mine, h.Held(one))
				}
				h.Leave()
			}
		})
	}
	go func() { wg.Wait(); close(done) }()
	for {
		all.mu.Lock()
		if b := watch.of.cards[one]; b != nil && b.held > limit {
			t.Errorf("%d bytes are held", b.held)
		}
		all.mu.Unlock()
		select {
		case <-done:
			if n := watch.Left(one); n != limit {
				t.Errorf("%d bytes are left when all have left", n)
			}
			return
		default:
		}
	}
}

// clocked are accounts with a clock of the test's.
func clocked() (all *Accounts, pass func(time.Duration)) {
	now := time.Unix(1000, 0)
	return &Accounts{now: func() time.Time { return now }}, func(d time.Duration) { now = now.Add(d) }
}

// TestTime: kernels of several sessions together run their account's share of the time, whichever of them draws.
func TestTime(t *testing.T) {
	all, pass := clocked()
	limits := same(quota.Limits{Compute: 0.2})
	var holders []*Holder
	for range 4 {
		holders = append(holders, all.Join("x", limits))
	}
	const kernel = 4 * time.Millisecond
	var ran, waited time.Duration
	for i := 0; ran < time.Second; i++ {
		h := holders[i%3] // one of them does nothing
		for {
			granted, later := h.Draw(one)
			if later == 0 {
				if granted < kernel {
					h.Spend(one, kernel-granted)
				}
				break
			}
			pass(later)
			waited += later
		}
		ran += kernel
	}
	if waited < 4900*time.Millisecond || waited > 5100*time.Millisecond {
		t.Errorf("a second of kernels at a share of 0.2 took %v", waited)
	}
	pass(time.Hour)
	saved := time.Duration(0)
	for {
		granted, _ := holders[3].Draw(one)
		if granted == 0 {
			break
		}
		saved += granted
	}
	if most := time.Duration(0.2 * float64(quota.Burst)); saved < most-time.Microsecond || saved > most {
		t.Errorf("an idle hour is worth %v", saved)
	}
}

// TestDebt: what kernels ran too long is paid by whoever comes next, also when all sessions have left meanwhile; and forgotten when it is paid.
func TestDebt(t *testing.T) {
	all, pass := clocked()
	limits := same(quota.Limits{Compute: 0.5})
	a := all.Join("x", limits)
	if _, later := a.Draw(one); later != 0 {
		t.Fatalf("it waits for %v before anything has run", later)
	}
	pass(time.Second)
	a.Draw(one)
	a.Spend(one, 10*time.Second)
	a.Leave()
	b := all.Join("x", limits)
	if _, later := b.Draw(one); later < 19*time.Second || later > 20*time.Second {
		t.Errorf("the next session waits for %v", later)
	}
	if _, later := b.Draw(two); later != 0 {
		t.Errorf("on another card it waits for %v", later)
	}
	pass(20 * time.Second)
	if _, later := b.Draw(one); later != 0 {
		t.Errorf("paid, it waits for %v", later)
	}
	// A session can say what it likes: no more than so many kernels have run as long as it is there.
	for range 10 {
		b.Spend(one, math.MaxInt64)
	}
	if _, later := b.Draw(one); later > 2*quota.MaxOutstanding*22*time.Second {
		t.Errorf("a lie costs %v", later)
	}
	pass(time.Hour)
	b.Draw(one)
	b.Leave()
	if len(all.all) != 0 {
		t.Error("an account that owes nothing is kept")
	}
}

// TestForgotten: an account that owes time is forgotten once it is paid.
func TestForgotten(t *testing.T) {
	var all Accounts
	for i := range 3 {
		h := all.Join(fmt.Sprint(i), same(quota.Limits{Compute: 0.5}))
		h.Draw(one)
		h.Spend(one, 20*time.Millisecond)
		h.Leave()
	}
	for {
		all.mu.Lock()
		n := len(all.all)
		all.mu.Unlock()
		if n == 0 {
			break
		}
		time.Sleep(time.Millisecond)
	}
}
