package hostmem

import (
	"sync"
	"testing"

	"github.com/rocwire/rocwire/hip"
)

func TestAccount(t *testing.T) {
	a := New(64 << 20)
	room := uint64(64<<20) - Queue(64<<20) - Staging(64<<20)
	if !a.Take(room) || a.Take(1) || a.Fits(1) || !a.Fits(0) {
		t.Error("not exactly what there is can be taken")
	}
	if a.Take(^uint64(0)) {
		t.Error("it wraps")
	}
	a.Add(10) // what was there anyway
	if a.Fits(0) != true || a.Take(1) {
		t.Error("there is room beyond the limit")
	}
	a.Give(room + 10)
	if a.Held() != 0 || !a.Take(1) {
		t.Error("what was given back is not there")
	}
	defer func() {
		if recover() == nil {
			t.Error("more can be given than was taken")
		}
	}()
	a.Give(2)
}

func TestNone(t *testing.T) {
	a := New(0)
	if !a.Take(1<<62) || !a.Fits(1<<63) || a.Held() != 0 {
		t.Error("no limit is one")
	}
	a.Add(1)
	a.Give(2)
}

func TestConcurrent(t *testing.T) {
	a := New(64 << 20)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 1000 {
				if a.Take(4 << 20) {
					a.Give(4 << 20)
				}
			}
		})
	}
	wg.Wait()
	if a.Held() != 0 {
		t.Errorf("%d bytes are left", a.Held())
	}
}

func TestDefault(t *testing.T) {
	all := Default(0)
	if all < Least || all > machine() || Default(1<<60) != all {
		t.Errorf("without a quota: %d of %d bytes", all, machine())
	}
	if got := Default(64 << 20); got != min(64<<21+base, all) {
		t.Errorf("with 64 MiB of device memory: %d bytes", got)
	}
	for _, limit := range []uint64{Least, 64 << 20, 1 << 30, 1 << 40} {
		if q, s := Queue(limit), Staging(limit); q == 0 || s == 0 || q+s > limit/2 || q > mostQueue || s > mostStaged {
			t.Errorf("of %d bytes %d are for queues and %d for staging", limit, q, s)
		}
	}
	for k := range hip.HandleKinds {
		if Cost(k) == 0 {
			t.Errorf("%v costs nothing", k)
		}
	}
}
