package worker_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smiremote"
	"github.com/rocwire/rocwire/worker"
)

func memory(n smi.Bytes) smi.Quota { return smi.Quota{Memory: smi.Some(n)} }

// TestQuotaMemory: a session gets what its quota allows and no more, whichever way it asks; another has its own.
func TestQuotaMemory(t *testing.T) {
	ctx := context.Background()
	w := serve(t, cards(2), worker.Config{AllowSet: true, Quota: memory(256 << 20)})
	c := connect(t, w)
	free, total, e := c.MemGetInfo(main0)
	must(t, "MemGetInfo", e)
	if total != 256<<20 || free != total {
		t.Errorf("%d of %d bytes are free", free, total)
	}
	if p, e := c.GetDevicePropertiesR0600(0); e != hip.Success || p.TotalGlobalMem != 256<<20 {
		t.Errorf("properties: %d bytes, %v", p.TotalGlobalMem, e)
	}
	a, e := c.Malloc(main0, 200<<20)
	must(t, "Malloc", e)
	if _, e := c.Malloc(main0, 100<<20); e != hip.ErrorOutOfMemory {
		t.Errorf("beyond the quota: %v", e)
	}
	if _, e := c.MallocAsync(main0, 100<<20, 0); e != hip.ErrorOutOfMemory {
		t.Errorf("beyond the quota, async: %v", e)
	}
	if free, _, e := c.MemGetInfo(main0); e != hip.Success || free > 56<<20 {
		t.Errorf("%d bytes are free, %v", free, e)
	}
	other := connect(t, w)
	b, e := other.Malloc(hip.Thread{Device: 1}, 250<<20)
	must(t, "Malloc of another session", e)

	// More for this one session, on this card.
	id := fmt.Sprint(c.Session())
	if err := w.SetQuota(ctx, 0, id, memory(512<<20)); err != nil {
		t.Fatal(err)
	}
	var d hip.Ptr
	eventually(t, "the new quota holds", func() bool {
		d, e = c.Malloc(main0, 300<<20)
		return e == hip.Success
	})
	if _, e := other.Malloc(main0, 300<<20); e != hip.ErrorOutOfMemory {
		t.Errorf("another session: %v", e)
	}
	quotas := w.Sessions()[0].Quotas
	if len(quotas) != 2 || quotas[0].Memory.Or(0) != 512<<20 || quotas[1].Memory.Or(0) != 256<<20 {
		t.Errorf("%+v", quotas)
	}

	// For all, below what is held: nothing is taken away, and nothing more is given.
	if err := w.SetQuota(ctx, 0, "", memory(64<<20)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the quota for all holds", func() bool {
		_, total, e := c.MemGetInfo(main0)
		return e == hip.Success && total == 64<<20
	})
	must(t, "Memset", c.Memset(main0, d, 1, 300<<20))
	must(t, "Free", c.Free(main0, d))
	must(t, "Free", c.Free(main0, a))
	eventually(t, "as much as the quota can be had", func() bool {
		a, e = c.Malloc(main0, 60<<20)
		return e == hip.Success
	})
	if _, e := c.Malloc(main0, 60<<20); e != hip.ErrorOutOfMemory {
		t.Errorf("beyond the lowered quota: %v", e)
	}
	must(t, "Free", other.Free(hip.Thread{Device: 1}, b))

	for _, bad := range []struct {
		card    int
		session string
		q       smi.Quota
		want    error
	}{
		{7, "", memory(1), smi.ErrNotFound}, {0, "999", memory(1), smi.ErrNotFound}, {0, "x", memory(1), smi.ErrNotFound},
		{0, "", smi.Quota{}, smi.ErrInvalid}, {0, "", smi.Quota{Compute: smi.Some(smi.Ratio(1.5))}, smi.ErrInvalid},
	} {
		if err := w.SetQuota(ctx, bad.card, bad.session, bad.q); !errors.Is(err, bad.want) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// TestQuotaOnBackends: a session's memory is held to its quota by every backend, and to one that is set meanwhile where the worker can tell the card by its
// management data.
func TestQuotaOnBackends(t *testing.T) {
	onBackends(t, worker.Config{AllowSet: true, Quota: memory(64 << 20)}, func(t *testing.T, w *worker.Server, rocm bool) {
		c := connect(t, w)
		free, total, e := c.MemGetInfo(main0)
		must(t, "MemGetInfo", e)
		if total != 64<<20 || free != total {
			t.Errorf("%d of %d bytes are free", free, total)
		}
		a, e := c.Malloc(main0, 48<<20)
		must(t, "Malloc", e)
		must(t, "Memset", c.Memset(main0, a, 3, 48<<20))
		if _, e := c.Malloc(main0, 32<<20); e != hip.ErrorOutOfMemory {
			t.Errorf("beyond the quota: %v", e)
		}
		if _, e := c.MallocAsync(main0, 32<<20, 0); e != hip.ErrorOutOfMemory {
			t.Errorf("beyond the quota, async: %v", e)
		}
		other := connect(t, w)
		b, e := other.Malloc(main0, 48<<20)
		must(t, "Malloc of another session", e)
		most := uint64(64 << 20)
		if !rocm {
			if err := w.SetQuota(t.Context(), 0, fmt.Sprint(c.Session()), memory(128<<20)); err != nil {
				t.Fatal(err)
			}
			eventually(t, "the new quota holds", func() bool {
				d, e := c.Malloc(main0, 72<<20)
				return e == hip.Success && c.Free(main0, d) == hip.Success
			})
			most = 128 << 20
		}
		if _, e := other.Malloc(main0, 32<<20); e != hip.ErrorOutOfMemory {
			t.Errorf("another session: %v", e)
		}
		must(t, "Free", c.Free(main0, a))
		must(t, "Free", other.Free(main0, b))
		if free, total, e := c.MemGetInfo(main0); e != hip.Success || total != most || free < most-16<<20 {
			t.Errorf("%d of %d bytes are free when all is given back: %v", free, total, e)
		}
	})
}

// TestQuotaMost: what the worker itself is held to, nobody gets more of: neither by the worker's flags nor by a quota that is set.
func TestQuotaMost(t *testing.T) {
	w := serve(t, cards(1), worker.Config{AllowSet: true, Quota: memory(256 << 20), Most: smi.Quota{Memory: smi.Some(smi.Bytes(64 << 20)), Compute: smi.Some(smi.Ratio(0.5))}})
	c := connect(t, w)
	for _, set := range []func() error{
		func() error { return nil },
		func() error { return w.SetQuota(t.Context(), 0, "", memory(128<<20)) },
		func() error {
			return w.SetQuota(t.Context(), 0, fmt.Sprint(c.Session()), smi.Quota{Memory: smi.Some(smi.Bytes(0)), Compute: smi.Some(smi.Ratio(0))})
		},
	} {
		if err := set(); err != nil {
			t.Fatal(err)
		}
		if _, total, e := c.MemGetInfo(main0); e != hip.Success || total != 64<<20 {
			t.Errorf("%d bytes in all, %v", total, e)
		}
		if _, e := c.Malloc(main0, 65<<20); e != hip.ErrorOutOfMemory {
			t.Errorf("beyond: %v", e)
		}
		if q := w.Sessions()[0].Quotas; len(q) != 1 || q[0].Memory.Or(0) != 64<<20 || q[0].Compute.Or(0) != 0.5 {
			t.Errorf("%+v", q)
		}
	}
	if err := w.SetQuota(t.Context(), 0, "", memory(32<<20)); err != nil { // less than the most is less
		t.Fatal(err)
	}
	eventually(t, "the smaller quota holds", func() bool {
		_, total, e := c.MemGetInfo(main0)
		return e == hip.Success && total == 32<<20
	})
}

// TestQuotaCompute: kernels of a session with a share of a card's time run that share of it, as the card itself counts.
func TestQuotaCompute(t *testing.T) {
	w := serve(t, cards(1), worker.Config{Quota: smi.Quota{Compute: smi.Some(smi.Ratio(0.25))}})
	c := connect(t, w)
	f := kernel(t, c, "spin", "spin")
	p, e := c.Malloc(main0, 1<<20)
	must(t, "Malloc", e)
	run := func() {
		must(t, "launch", launch(c, f, 0, p, uint64(200_000), uint32(64)))
		must(t, "DeviceSynchronize", c.DeviceSynchronize(main0))
	}
	run()
	busy := func() time.Duration {
		ps, err := w.Source().Processes(context.Background(), 0)
		if err != nil || len(ps) != 1 {
			t.Fatalf("%+v, %v", ps, err)
		}
		return time.Duration(ps[0].Busy.Or(0))
	}
	for busy() == 0 {
		run()
	}
	begin, from := time.Now(), busy()
	for busy()-from < 400*time.Millisecond {
		run()
	}
	used := busy() - from
	run() // it waits for what those ran over, which on a busy machine may be one long kernel
	if share := float64(used) / float64(time.Since(begin)); share > 0.35 {
		t.Errorf("its kernels ran %.2f of the time", share)
	}
}

// TestQuotaFromAfar: a worker takes quotas where it takes settings, and nowhere else.
func TestQuotaFromAfar(t *testing.T) {
	ctx := context.Background()
	for _, allowed := range []bool{true, false} {
		path := filepath.Join(t.TempDir(), "w.sock")
		w := serve(t, cards(1), worker.Config{AllowSet: allowed, Listen: "127.0.0.1", Socket: worker.Socket{Path: path}})
		m := smiremote.NewClient(smiremote.Options{Address: "unix:" + path})
		t.Cleanup(func() { _ = m.Close() })
		if i, err := m.Server(ctx); err != nil || i.Quotas != allowed {
			t.Errorf("%+v, %v", i, err)
		}
		c := connect(t, w)
		_, all, e := c.MemGetInfo(main0)
		must(t, "MemGetInfo", e)
		switch err := m.SetQuota(ctx, 0, fmt.Sprint(c.Session()), memory(128<<20)); {
		case allowed && err != nil, !allowed && !errors.Is(err, smi.ErrNoPermission):
			t.Errorf("allowed %v: %v", allowed, err)
		}
		want := all
		if allowed {
			want = 128 << 20
			l, err := m.Sessions(ctx)
			if err != nil || len(l.Sessions) != 1 || len(l.Sessions[0].Quotas) != 1 || l.Sessions[0].Quotas[0].Memory.Or(0) != 128<<20 {
				t.Errorf("%+v, %v", l, err)
			}
		}
		eventually(t, "the session has its quota", func() bool {
			_, total, e := c.MemGetInfo(main0)
			return e == hip.Success && total == want
		})
	}
}
