package smiremote_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rocwire/rocwire/calls/rpcstats"
	"github.com/rocwire/rocwire/internal/freeport"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
	"github.com/rocwire/rocwire/smiremote"
	"github.com/rocwire/rocwire/smiremote/remotetest"
	"github.com/rocwire/rocwire/wire"
)

func dial(t *testing.T, w *remotetest.Worker) *smiremote.Client {
	c := smiremote.NewClient(smiremote.Options{Address: w.Addr, ConnectTimeout: time.Minute, IOTimeout: time.Minute})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func conforming() []smi.DeviceSnapshot {
	cards := smitest.Cards()
	cards[1].ProcessesErr = &smi.Failure{Code: smi.ErrNotSupported, Detail: "not supported"}
	return cards
}

func TestConforms(t *testing.T) {
	smitest.Run(t, func(t *testing.T) smi.Source {
		return dial(t, remotetest.Start(t, "", smiremote.HandlerOptions{Source: smitest.NewFake(conforming()...)}))
	})
}

func TestMachineConforms(t *testing.T) {
	smitest.Run(t, func(t *testing.T) smi.Source {
		return dial(t, remotetest.Start(t, "", smiremote.HandlerOptions{Source: smitest.NewFaulty(8, 3), AllowSet: true}))
	})
}

// Everything arrives as it was sent.
func TestSnapshotIsTheSame(t *testing.T) {
	src := smitest.NewFake(smitest.Cards()...)
	c := dial(t, remotetest.Start(t, "", smiremote.HandlerOptions{Source: src}))
	want, err := smi.TakeSnapshot(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want.Time, got.Time = time.Time{}, time.Time{}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	if c.Backend() != "test" {
		t.Errorf("backend %q", c.Backend())
	}
}

// owned is a source that knows whom its cards were given to, behind another one as a worker's is.
type owned struct{ *smitest.Fake }

func (owned) Owners() map[int][]smi.Owner {
	return map[int][]smi.Owner{
		0: {{Source: smi.OwnerKubelet, Pod: "train-0", Namespace: "ml", Container: "main"}, {Source: smi.OwnerSlurm, JobID: "42", JobUser: "ada", JobPartition: "gpu"}},
		9: {{Source: smi.OwnerSlurm, JobID: "43"}}, // of a card that is none
	}
}

// Whom a card was given to is known on the worker's machine alone, and told in snapshots of either form.
func TestOwnersArrive(t *testing.T) {
	src := owned{smitest.NewFake(smitest.Cards()...)}
	c := dial(t, remotetest.Start(t, "", smiremote.HandlerOptions{Source: smi.Shared(src)}))
	got, err := c.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if want := src.Owners()[0]; !reflect.DeepEqual(got.Devices[0].Owners, want) || got.Devices[1].Owners != nil {
		t.Errorf("owners %+v and %+v, want %+v and none", got.Devices[0].Owners, got.Devices[1].Owners, want)
	}
	got.Devices[0].Owners[0].Pod = "mine" // what was told belongs to who asked
	if again, err := c.Snapshot(t.Context()); err != nil || again.Devices[0].Owners[0].Pod != "train-0" {
		t.Errorf("asked again: %v", err)
	}
}

func TestSessionsAndCalls(t *testing.T) {
	rpc := rpcstats.NewTotals(rpcstats.Names{})
	rpc.Observe("hipMalloc", "client", "hipSuccess", 20e-6)
	rpc.Observe("hipMalloc", "client", "hipSuccess", 0)
	rpc.Observe("hipFree", "worker", "hipErrorInvalidValue", 2)
	rpc.AddSlow("3", rpcstats.Caller{Host: "node7", PID: 77}, []rpcstats.Slow{
		{Request: 1, Client: true, Age: time.Second, Total: 9, Queue: 2, Network: 3, Execution: 4}, {Request: 2, Total: 5, Network: -1, TraceID: "0af7651916cd43dd8448eb211c80319c", Kernel: "saxpy"},
	})
	c := dial(t, remotetest.Start(t, "", smiremote.HandlerOptions{
		Source: smitest.NewFake(smitest.Cards()...), Sessions: smitest.Clients{}, Calls: rpc,
	}))
	l, err := c.Sessions(t.Context())
	want := &smiremote.SessionList{Sessions: smitest.Clients{}.Sessions(), Totals: smitest.Clients{}.SessionTotals()}
	if err != nil || !reflect.DeepEqual(l, want) {
		t.Errorf("Sessions = %+v, %v\nwant %+v", l, err, want)
	}
	calls, err := c.Calls(t.Context())
	wantCalls := slices.Clone(rpc.Calls()) // it is shared
	for i := range wantCalls {
		wantCalls[i].Since = wantCalls[i].Since.UTC().Round(0)
	}
	if err != nil || !reflect.DeepEqual(calls, wantCalls) {
		t.Errorf("Calls = %+v, %v\nwant %+v", calls, err, wantCalls)
	}

	slow, err := c.SlowCalls(t.Context())
	wantSlow := rpc.SlowCalls()
	for i := range wantSlow {
		wantSlow[i].Start = wantSlow[i].Start.UTC().Round(0)
	}
	if err != nil || len(slow) != 2 || !reflect.DeepEqual(slow, wantSlow) {
		t.Errorf("SlowCalls = %+v, %v\nwant %+v", slow, err, wantSlow)
	}

	m := smiremote.NewMirror(c, time.Second)
	if m.Err() == nil {
		t.Error("a mirror knows something before it asked")
	}
	m.Update(t.Context())
	if m.Err() != nil || !reflect.DeepEqual(m.Sessions(), want.Sessions) || m.SessionTotals() != want.Totals || len(m.Calls()) != 2 || !reflect.DeepEqual(m.SlowCalls(), slow) {
		t.Errorf("mirror: %v, %+v", m.Err(), m.Sessions())
	}
	_ = c.Close()
	m.Update(t.Context())
	if m.Err() == nil || len(m.Sessions()) != 0 || len(m.Calls()) != 0 || len(m.SlowCalls()) != 0 {
		t.Errorf("mirror without a worker: %v, %+v", m.Err(), m.Sessions())
	}
}

func TestErrorsKeepTheirCode(t *testing.T) {
	src := smitest.NewFake(smitest.Cards()...)
	c := dial(t, remotetest.Start(t, "", smiremote.HandlerOptions{Source: src}))
	if _, err := c.Processes(t.Context(), 1); !errors.Is(err, smi.ErrNoPermission) || err.Error() != "no permission to read the processes" {
		t.Errorf("Processes(1): %v", err)
	}
	if _, err := c.Info(t.Context(), 2); !errors.Is(err, smi.ErrNotFound) || err.Error() != "no GPU 2: there are GPUs 0 to 1" {
		t.Errorf("Info(2): %v", err)
	}
	if _, err := c.Info(t.Context(), 1<<40); !errors.Is(err, smi.ErrNotFound) {
		t.Errorf("Info(1<<40): %v", err)
	}
	if _, err := c.Sessions(t.Context()); !errors.Is(err, smi.ErrNotSupported) {
		t.Errorf("Sessions without sessions: %v", err)
	}
	if _, err := c.Calls(t.Context()); !errors.Is(err, smi.ErrNotSupported) {
		t.Errorf("Calls without calls: %v", err)
	}
	if _, err := c.SlowCalls(t.Context()); !errors.Is(err, smi.ErrNotSupported) {
		t.Errorf("SlowCalls without calls: %v", err)
	}
	src.Fail(smi.Errorf(smi.ErrNoDriver, "evil\x1b[31m\ntext\xff"))
	if _, err := c.Devices(t.Context()); !errors.Is(err, smi.ErrNoDriver) || err.Error() != "evil?[31m?text?" {
		t.Errorf("Devices: %q", err)
	}
}

// The worker may come and go; who asks notices only while it is away.
func TestReconnects(t *testing.T) {
	src := smitest.NewFake(smitest.Cards()...)
	w := remotetest.Start(t, freeport.Later(t), smiremote.HandlerOptions{Source: src})
	c := dial(t, w)
	for range 3 {
		if _, err := c.Devices(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.Stop()
		if _, err := c.Devices(t.Context()); !errors.Is(err, smi.ErrUnavailable) || !strings.HasPrefix(err.Error(), "worker "+w.Addr+": ") {
			t.Fatalf("without a worker: %v", err)
		}
		w = remotetest.Start(t, w.Addr, smiremote.HandlerOptions{Source: src})
	}
	// A worker that is replaced between two questions is not noticed at all.
	if _, err := c.Devices(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.Stop()
	remotetest.Start(t, w.Addr, smiremote.HandlerOptions{Source: src})
	if _, err := c.Devices(t.Context()); err != nil {
		t.Errorf("after a restart: %v", err)
	}
}

// Many goroutines share a client while its worker is restarted again and again: what
// fails says that there is no worker, and in the end all works.
func TestRestartsUnderLoad(t *testing.T) {
	opt := smiremote.HandlerOptions{Source: smitest.NewMachine(2, 3)}
	w := remotetest.Start(t, freeport.Later(t), opt)
	c := dial(t, w)
	var stop atomic.Bool
	var good atomic.Int64
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for !stop.Load() {
				var err error
				if i%2 == 0 {
					_, err = c.Snapshot(t.Context())
				} else {
					_, err = c.Topology(t.Context())
				}
				switch {
				case err == nil:
					good.Add(1)
				case !errors.Is(err, smi.ErrUnavailable) && !errors.Is(err, smi.ErrTimeout):
					t.Errorf("during a restart: %v", err)
				}
			}
		})
	}
	for range 5 {
		before := good.Load()
		eventually(t, "the worker answers", func() bool { return good.Load() > before+20 })
		w.Stop()
		w = remotetest.Start(t, w.Addr, opt)
	}
	before := good.Load()
	eventually(t, "the last worker answers", func() bool { return good.Load() > before+20 })
	stop.Store(true)
	wg.Wait()
}

func TestUnixSocket(t *testing.T) {
	killed := make(chan string, 1)
	w := remotetest.Start(t, "unix:"+t.TempDir()+"/w", smiremote.HandlerOptions{
		Source: smitest.NewMachine(1, 1), Kill: func(id, by string) error { killed <- id + " by " + by; return nil },
	})
	c := dial(t, w)
	if s, err := c.Snapshot(t.Context()); err != nil || len(s.Devices) != 1 {
		t.Errorf("%+v, %v", s, err)
	}
	if err := c.KillSession(t.Context(), "3"); err != nil {
		t.Fatal(err)
	}
	if k := <-killed; k != fmt.Sprintf("3 by local process %d of uid %d", os.Getpid(), os.Getuid()) {
		t.Errorf("killed %q", k)
	}
}

func TestUnreachable(t *testing.T) {
	addr := freeport.Nobody(t)
	c := smiremote.NewClient(smiremote.Options{Address: addr})
	err := c.Connect(t.Context())
	if want := "worker " + addr + ": nobody listens there"; !errors.Is(err, smi.ErrUnavailable) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// A listener that is no worker is named as such.
func TestNoWorker(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"))
			_ = conn.Close()
		}
	}()
	c := smiremote.NewClient(smiremote.Options{Address: ln.Addr().String()})
	if err := c.Connect(t.Context()); !errors.Is(err, smi.ErrBadData) || !strings.Contains(err.Error(), "not a rocwire worker") {
		t.Errorf("got %v", err)
	}
}

func TestCancelledWhileWaiting(t *testing.T) {
	src := smitest.NewFake(smitest.Cards()...)
	release := src.Hang(0)
	defer release()
	c := dial(t, remotetest.Start(t, "", smiremote.HandlerOptions{Source: src}))
	if err := c.Connect(t.Context()); err != nil { // a connection that is not made in time is another error
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if _, err := c.Metrics(ctx, 0); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if m, err := c.Metrics(t.Context(), 1); err != nil || m == nil {
		t.Errorf("the other card: %v", err)
	}
}

// answers is how long a card has that does not hang, on a machine that does much else.
const answers = time.Second

// A card that hangs keeps neither the snapshot nor the other card from answering.
func TestHangingCard(t *testing.T) {
	src := smitest.NewFake(smitest.Cards()...)
	release := src.Hang(0)
	defer release()
	c := dial(t, remotetest.Start(t, "", smiremote.HandlerOptions{Source: src, Timeout: answers}))
	snap, err := c.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if f := snap.Devices[0].MetricsErr; f == nil || f.Code != smi.ErrTimeout || snap.Devices[0].Info == nil {
		t.Errorf("card 0: %+v", snap.Devices[0])
	}
	if snap.Devices[1].Metrics == nil {
		t.Errorf("card 1: %+v", snap.Devices[1])
	}
	if _, err := c.Metrics(t.Context(), 0); !errors.Is(err, smi.ErrTimeout) {
		t.Errorf("Metrics: %v", err)
	}
}

// Many questions at once are all answered, the ones about a card that hangs with an
// error.
func TestManyQuestions(t *testing.T) {
	src := smitest.NewFake(smitest.Cards()...)
	release := src.Hang(0)
	defer release()
	c := dial(t, remotetest.Start(t, "", smiremote.HandlerOptions{Source: src, Timeout: answers}))
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			if _, err := c.Metrics(t.Context(), 0); !errors.Is(err, smi.ErrTimeout) {
				t.Errorf("the card that hangs: %v", err)
			}
		})
		wg.Go(func() {
			if _, err := c.Info(t.Context(), 1); err != nil {
				t.Errorf("the other card: %v", err)
			}
		})
	}
	wg.Wait()
}

// What no client sends is refused; the connection goes on.
func TestBadRequests(t *testing.T) {
	w := remotetest.Start(t, "", smiremote.HandlerOptions{Source: smitest.NewFake(smitest.Cards()...)})
	conn, err := wire.Dial(t.Context(), wire.Options{Address: w.Addr, Hello: wire.Hello{Purpose: smiremote.Purpose}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, c := range []struct {
		name string
		op   uint16
		req  []byte
		bulk []byte
		code smi.Code
	}{
		{"arguments of a question without", 0x0841, []byte{1}, nil, smi.ErrInvalid},
		{"no index", 0x0842, nil, nil, smi.ErrInvalid},
		{"index of 8 bytes", 0x0843, make([]byte, 8), nil, smi.ErrInvalid},
		{"index -1", 0x0844, []byte{0xff, 0xff, 0xff, 0xff}, nil, smi.ErrNotFound},
		{"unknown operation", 0x0fff, nil, nil, smi.ErrNotSupported},
		{"bulk", 0x0841, nil, make([]byte, 1000), smi.ErrInvalid},
		{"a good one", 0x0841, nil, nil, 0},
	} {
		m := &wire.Msg{Req: c.req, Bulk: c.bulk}
		if err := conn.Call(c.op, m); err != nil || smi.Code(m.Code) != c.code {
			t.Errorf("%s: code %d, %v, want %d", c.name, m.Code, err, c.code)
		}
	}
}

func TestManyClients(t *testing.T) {
	w := remotetest.Start(t, "", smiremote.HandlerOptions{Source: smitest.NewFake(conforming()...)})
	var wg sync.WaitGroup
	for range 20 {
		c := dial(t, w)
		wg.Go(func() {
			for range 10 {
				if _, err := c.Snapshot(t.Context()); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}
