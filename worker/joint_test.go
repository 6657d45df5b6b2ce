package worker_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipremote"
	"github.com/rocwire/rocwire/internal/dialing"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/worker"
)

// jointly is a configuration of a worker with a token for alice, with a quota, and one for ops, without.
func jointly(t *testing.T, quota string) (cfg worker.Config, alice, ops dialing.Settings) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "tokens")
	writeFile(t, file, "tokens:\n- {name: alice, token: "+aliceToken+", "+quota+"}\n- {name: ops, token: "+opsToken+"}\n", 0o600)
	cfg = config()
	cfg.AllowSet, cfg.Access.TokenFile = true, file
	return cfg, dialing.Settings{TokenFile: tokenAt(t, aliceToken)}, dialing.Settings{TokenFile: tokenAt(t, opsToken)}
}

func as(t *testing.T, w *worker.Server, who dialing.Settings) *hipremote.Client {
	t.Helper()
	return connectWith(t, w, hipremote.Config{Dialing: who})
}

// frees frees memory, and has waited until the worker has done so: hipFree does not.
func frees(t *testing.T, c *hipremote.Client, p hip.Ptr) {
	t.Helper()
	must(t, "Free", c.Free(main0, p))
	freeOf(t, c)
}

// freeOf is what hipMemGetInfo says.
func freeOf(t *testing.T, c *hipremote.Client) (free, total uint64) {
	t.Helper()
	free, total, e := c.MemGetInfo(main0)
	must(t, "MemGetInfo", e)
	return free, total
}

// TestJointMemoryOnBackends: the sessions of one token together have its memory and no more, however they allocate, and those of another token are not concerned.
func TestJointMemoryOnBackends(t *testing.T) {
	cfg, alice, ops := jointly(t, "memory: 256M")
	onBackends(t, cfg, func(t *testing.T, w *worker.Server, rocm bool) {
		const slack = 64 << 20 // what sessions keep for their next allocations
		a, b, other := as(t, w, alice), as(t, w, alice), as(t, w, ops)
		if free, total := freeOf(t, b); total != 256<<20 || free != total {
			t.Errorf("%d of %d bytes are free before anything is allocated", free, total)
		}
		p, e := a.Malloc(main0, 150<<20)
		must(t, "Malloc", e)
		if free, total := freeOf(t, b); total != 256<<20 || free > 106<<20 || free < 106<<20-slack {
			t.Errorf("%d of %d bytes are free for another session", free, total)
		}
		for what, alloc := range map[string]func(c *hipremote.Client) (hip.Ptr, hip.Error){
			"Malloc":      func(c *hipremote.Client) (hip.Ptr, hip.Error) { return c.Malloc(main0, 120<<20) },
			"MallocAsync": func(c *hipremote.Client) (hip.Ptr, hip.Error) { return c.MallocAsync(main0, 120<<20, 0) },
			"MemCreate": func(c *hipremote.Client) (hip.Ptr, hip.Error) {
				h, e := c.MemCreate(main0, 120<<20, &hip.MemAllocationProp{Type: hip.MemAllocationTypePinned, Location: hip.MemLocation{Type: hip.MemLocationTypeDevice}}, 0)
				if e == hip.Success {
					must(t, "MemRelease", c.MemRelease(main0, h))
				}
				return 0, e
			},
		} {
			if _, e := alloc(b); e != hip.ErrorOutOfMemory {
				t.Errorf("%s beyond what is left: %v", what, e)
			}
			q, e := alloc(other)
			must(t, what+" of another token", e)
			if q != 0 {
				frees(t, other, q)
			}
		}
		r, e := b.MallocAsync(main0, 40<<20, 0)
		must(t, "MallocAsync of what is left", e)
		frees(t, a, p)
		q, e := b.Malloc(main0, 140<<20)
		must(t, "Malloc of what another has freed", e)
		if _, e := a.Malloc(main0, 140<<20); e != hip.ErrorOutOfMemory {
			t.Errorf("beyond: %v", e)
		}
		frees(t, b, q)
		// What a pool of the other keeps it gives back when it is needed here.
		must(t, "FreeAsync", b.FreeAsync(main0, r, 0))
		must(t, "DeviceSynchronize", b.DeviceSynchronize(main0))
		p, e = a.Malloc(main0, 190<<20)
		must(t, "Malloc of what another's pool kept", e)
		frees(t, a, p)
		for _, s := range w.Sessions() {
			switch {
			case s.Client.User == "alice" && (rocm || len(s.Quotas) == 1 && s.Quotas[0].Memory.Or(0) == 256<<20 && s.Quotas[0].Together == "token alice"):
			case s.Client.User == "ops" && len(s.Quotas) == 0:
			default:
				t.Errorf("%+v", s)
			}
		}
	})
}

// TestJointInPart: of memory that a token has for all its sessions, and time that the worker gives each, it is said which is which.
func TestJointInPart(t *testing.T) {
	cfg, alice, _ := jointly(t, "memory: 256M")
	cfg.Quota = smi.Quota{Memory: smi.Some(smi.Bytes(1 << 20)), Compute: smi.Some(smi.Ratio(0.5))}
	w := serve(t, cards(1), cfg)
	freeOf(t, as(t, w, alice))
	want := []smi.SessionQuota{{Quota: memory(256 << 20), Together: "token alice"}, {Quota: smi.Quota{Compute: smi.Some(smi.Ratio(0.5))}}}
	if s := w.Sessions(); len(s) != 1 || !slices.Equal(s[0].Quotas, want) {
		t.Errorf("%+v, want %+v", s, want)
	}
}

// TestJointEndsOnBackends: what a session held that was killed in the middle is there for the others of its token, and what one holds whose client is away gives way.
func TestJointEndsOnBackends(t *testing.T) {
	cfg, alice, _ := jointly(t, "memory: 256M")
	cfg.Park = time.Hour
	onBackends(t, cfg, func(t *testing.T, w *worker.Server, rocm bool) {
		cut := func() *hipremote.Client {
			c, p := through(t, w, hipremote.Config{Reconnect: time.Hour, Logf: func(string, ...any) {}, Dialing: alice})
			_, e := c.Malloc(main0, 180<<20)
			must(t, "Malloc", e)
			p.Set(false, true)
			p.CutAll()
			eventually(t, "parked", func() bool { return parkedIDs(w)[fmt.Sprint(c.Session())] })
			return c
		}
		dies, lives := cut(), as(t, w, alice)
		// It is away, and counts: but what it has it would give way with.
		if free, total := freeOf(t, lives); free != total {
			t.Errorf("%d of %d bytes are free beside a session that is away", free, total)
		}
		for _, s := range w.Sessions() {
			if s.ID == fmt.Sprint(dies.Session()) {
				if err := syscall.Kill(int(s.PID), syscall.SIGKILL); err != nil {
					t.Fatal(err)
				}
			}
		}
		eventually(t, "the killed session's memory is there", func() bool {
			p, e := lives.Malloc(main0, 180<<20)
			return e == hip.Success && lives.Free(main0, p) == hip.Success
		})
		freeOf(t, lives)
		away := cut()
		p, e := lives.Malloc(main0, 40<<20)
		must(t, "Malloc beside it", e)
		if !parkedIDs(w)[fmt.Sprint(away.Session())] {
			t.Error("a session was ended for what there was room for")
		}
		q, e := lives.Malloc(main0, 150<<20)
		must(t, "Malloc of what it has", e)
		if parkedIDs(w)[fmt.Sprint(away.Session())] {
			t.Error("it did not give way")
		}
		frees(t, lives, p)
		frees(t, lives, q)
	})
}

// TestJointAtOnceOnBackends: sessions of one token that allocate all at once, for more than it has, never have more together than that.
func TestJointAtOnceOnBackends(t *testing.T) {
	const quota = 256 << 20
	cfg, alice, _ := jointly(t, "memory: 256M")
	onBackends(t, cfg, func(t *testing.T, w *worker.Server, rocm bool) {
		var live atomic.Int64
		var all sync.WaitGroup
		clients, got := make([]*hipremote.Client, 4), make([]int, 4)
		for i := range clients {
			clients[i] = as(t, w, alice)
		}
		for i, c := range clients {
			all.Go(func() {
				rnd := rand.New(rand.NewPCG(7, uint64(i)))
				type block struct {
					p    hip.Ptr
					size int64
				}
				var mine []block
				free := func() {
					b := mine[0]
					mine = mine[1:]
					live.Add(-b.size)
					if e := c.Free(main0, b.p); e != hip.Success {
						t.Errorf("Free: %v", e)
					}
				}
				for range 60 {
					if len(mine) > 0 && rnd.IntN(2) == 0 {
						free()
						continue
					}
					n := int64(rnd.IntN(96<<20) + 1)
					var p hip.Ptr
					var e hip.Error
					if rnd.IntN(3) == 0 {
						p, e = c.MallocAsync(main0, uint64(n), 0)
					} else {
						p, e = c.Malloc(main0, uint64(n))
					}
					if e == hip.ErrorOutOfMemory {
						continue
					} else if e != hip.Success {
						t.Errorf("Malloc: %v", e)
						return
					}
					got[i]++
					mine = append(mine, block{p, n})
					if all := live.Add(n); all > quota {
						t.Errorf("%d bytes at once", all)
					}
				}
				for len(mine) > 0 {
					free()
				}
				if _, _, e := c.MemGetInfo(main0); e != hip.Success { // the worker has freed it
					t.Errorf("MemGetInfo: %v", e)
				}
			})
		}
		all.Wait()
		for i, n := range got {
			if n == 0 {
				t.Errorf("session %d never got anything", i)
			}
		}
		for _, c := range clients { // nothing was lost: what others keep they give back
			p, e := c.Malloc(main0, 128<<20)
			must(t, "Malloc when all is freed", e)
			frees(t, c, p)
		}
	})
}

// TestJointComputeOnBackends: kernels of all sessions of a token together run its share of the card's time.
func TestJointComputeOnBackends(t *testing.T) {
	cfg, alice, ops := jointly(t, "compute: 20")
	onBackends(t, cfg, func(t *testing.T, w *worker.Server, _ bool) {
		type program struct {
			c      *hipremote.Client
			launch func() time.Duration // runs a kernel, and says how long that took on the card
		}
		start := func(who dialing.Settings) program {
			c := as(t, w, who)
			f := kernel(t, c, "spin", "spin")
			p, e := c.Malloc(main0, 1<<20)
			must(t, "Malloc", e)
			var around [2]hip.Event
			for i := range around {
				around[i], e = c.EventCreateWithFlags(main0, 0)
				must(t, "EventCreate", e)
			}
			return program{c, func() time.Duration {
				l := hip.Launch{Function: f, Grid: hip.Dim3{X: 1, Y: 1, Z: 1}, Block: hip.Dim3{X: 64, Y: 1, Z: 1}, Args: args(p, uint64(2_000_000), uint32(64)), Start: around[0], Stop: around[1]}
				if e := c.LaunchKernel(main0, &l); e != hip.Success {
					t.Errorf("launch: %v", e)
				}
				if e := c.DeviceSynchronize(main0); e != hip.Success {
					t.Errorf("DeviceSynchronize: %v", e)
				}
				ms, e := c.EventElapsedTime(main0, around[0], around[1])
				if e != hip.Success {
					t.Errorf("EventElapsedTime: %v", e)
				}
				return time.Duration(float64(ms) * float64(time.Millisecond))
			}}
		}
		var programs []program
		for range 4 {
			p := start(alice)
			p.launch() // the code is translated
			programs = append(programs, p)
		}
		programs[0].launch() // when that is paid
		from := time.Now()
		var used atomic.Int64
		var all sync.WaitGroup
		for _, p := range programs {
			all.Go(func() {
				for range 12 {
					used.Add(int64(p.launch()))
				}
			})
		}
		all.Wait()
		programs[0].launch() // it waits for what those ran over
		took := time.Since(from)
		// Each for itself they would have had 0.8 of it. What was saved before is worth 20 ms.
		if share := float64(used.Load()) / float64(took); used.Load() == 0 || share > 0.3 {
			t.Errorf("kernels ran %.2f of the time, %v of %v", share, time.Duration(used.Load()), took)
		} else {
			t.Logf("%.2f, %v of %v", share, time.Duration(used.Load()), took)
		}
		if start(ops).launch() <= 0 { // which has no share to keep to
			t.Error("a kernel of another token took no time")
		}
	})
}

// TestJointQuotaSet: a session that is given more has more, and with it the others of its token as much together; one that is given less has less.
func TestJointQuotaSet(t *testing.T) {
	cfg, alice, _ := jointly(t, "memory: 256M")
	w := serve(t, cards(2), cfg)
	a, b := as(t, w, alice), as(t, w, alice)
	p, e := a.Malloc(main0, 200<<20)
	must(t, "Malloc", e)
	on1, e := b.Malloc(hip.Thread{Device: 1}, 200<<20)
	must(t, "Malloc on another card", e)
	set := func(c *hipremote.Client, q smi.Quota) {
		t.Helper()
		if err := w.SetQuota(t.Context(), 0, fmt.Sprint(c.Session()), q); err != nil {
			t.Fatal(err)
		}
	}
	can := func(c *hipremote.Client, size uint64) bool {
		p, e := c.Malloc(main0, size)
		if e == hip.Success {
			frees(t, c, p)
		}
		return e == hip.Success
	}
	if can(b, 200<<20) {
		t.Error("beyond what is left")
	}
	set(b, memory(400<<20))
	eventually(t, "more for one session", func() bool { return can(b, 150<<20) })
	if can(b, 300<<20) {
		t.Error("beyond what both may have")
	}
	if can(a, 100<<20) {
		t.Error("the other has more than the token")
	}
	set(b, memory(32<<20))
	eventually(t, "less for one session", func() bool { return !can(b, 33<<20) })
	frees(t, a, p)
	if can(b, 33<<20) || !can(a, 150<<20) {
		t.Error("what is less for one session is for that one")
	}
	must(t, "Free", b.Free(hip.Thread{Device: 1}, on1))
}
