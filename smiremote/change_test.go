package smiremote_test

import (
	"errors"
	"fmt"
	"net"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
	"github.com/rocwire/rocwire/smiremote"
	"github.com/rocwire/rocwire/smiremote/remotetest"
	"github.com/rocwire/rocwire/wire"
)

// What a worker knows besides its snapshot arrives as it was sent.
func TestDetailsAreTheSame(t *testing.T) {
	src := smitest.NewMachine(8, 2)
	c := dial(t, remotetest.Start(t, "", smiremote.HandlerOptions{Source: src}))
	ctx := t.Context()
	same := func(what string, got any, err error, want any, err2 error) {
		t.Helper()
		if err != nil || err2 != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v\nwant %+v, %v", what, got, err, want, err2)
		}
	}
	for i := range 8 {
		f, err := c.Firmware(ctx, i)
		f2, err2 := src.Firmware(ctx, i)
		same("Firmware", f, err, f2, err2)
		e, err := c.ECC(ctx, i)
		e2, err2 := src.ECC(ctx, i)
		same("ECC", e, err, e2, err2)
		b, err := c.BadPages(ctx, i)
		b2, err2 := src.BadPages(ctx, i)
		same("BadPages", b, err, b2, err2)
		x, err := c.XGMI(ctx, i)
		x2, err2 := src.XGMI(ctx, i)
		same("XGMI", x, err, x2, err2)
		p, err := c.Partitions(ctx, i)
		p2, err2 := src.Partitions(ctx, i)
		same("Partitions", p, err, p2, err2)
	}
	g, err := c.Topology(ctx)
	g2, err2 := src.Topology(ctx)
	same("Topology", g, err, g2, err2)
}

func TestSet(t *testing.T) {
	src := smitest.NewMachine(2, 0)
	change := smi.Setting{PowerCap: smi.Some(smi.Watts(500))}

	c := dial(t, remotetest.Start(t, "", smiremote.HandlerOptions{Source: src}))
	if err := c.Set(t.Context(), 0, change); !errors.Is(err, smi.ErrNoPermission) || err.Error() != "the worker was started without --smi-allow-set" {
		t.Errorf("a worker that takes no settings: %v", err)
	}
	if len(src.Changes()) != 0 {
		t.Fatalf("it made %+v", src.Changes())
	}

	c = dial(t, remotetest.Start(t, "", smiremote.HandlerOptions{Source: src, AllowSet: true}))
	clock := smi.Setting{Clock: &smi.ClockRange{Domain: smi.ClockGFX, Min: smi.Some(smi.MHz(500)), Max: smi.Some(smi.MHz(1000))}}
	want := []smitest.Change{{Index: 1, Setting: change}, {Index: 0, Setting: clock}, {Index: 1, Setting: smi.Setting{Fan: smi.Some(smi.Ratio(0))}}}
	for _, w := range want {
		if err := c.Set(t.Context(), w.Index, w.Setting); err != nil {
			t.Errorf("%+v: %v", w, err)
		}
	}
	if got := src.Changes(); !reflect.DeepEqual(got, want) {
		t.Errorf("made %+v, want %+v", got, want)
	}
	src.Refuse(smi.Errorf(smi.ErrBusy, "the card is busy"))
	if err := c.Set(t.Context(), 0, change); !errors.Is(err, smi.ErrBusy) || err.Error() != "the card is busy" {
		t.Errorf("refused by the card: %v", err)
	}
	if err := c.Set(t.Context(), 2, change); !errors.Is(err, smi.ErrNotFound) {
		t.Errorf("no card: %v", err)
	}
}

func TestInject(t *testing.T) {
	src := smitest.NewFaulty(2, 0)
	// A worker stands in front of the source with a source of its own.
	c := dial(t, remotetest.Start(t, "", smiremote.HandlerOptions{Source: smi.WithSessions(src, smitest.Clients{})}))
	fault := smi.Fault{Kind: smi.FaultLink, Width: smi.Some(4), Speed: smi.Some(smi.TransfersPerSecond(2.5e9))}
	if err := c.Inject(t.Context(), 1, fault); err != nil {
		t.Error(err)
	}
	if got := src.Told(); !reflect.DeepEqual(got, []smitest.Told{{Index: 1, Fault: fault}}) {
		t.Errorf("told %+v", got)
	}
	if err := c.Inject(t.Context(), 0, smi.Fault{Kind: "x"}); !errors.Is(err, smi.ErrInvalid) || !strings.Contains(err.Error(), smi.FaultThermal) {
		t.Errorf("an unknown fault: %v", err)
	}
	c = dial(t, remotetest.Start(t, "", smiremote.HandlerOptions{Source: smitest.NewMachine(1, 0), AllowSet: true}))
	if err := c.Inject(t.Context(), 0, fault); !errors.Is(err, smi.ErrNotSupported) || err.Error() != "only simulated cards can be told to fail" {
		t.Errorf("cards that are real: %v", err)
	}
}

func TestKillSession(t *testing.T) {
	var mu sync.Mutex
	var killed []string
	opt := smiremote.HandlerOptions{Source: smitest.NewMachine(1, 0), Kill: func(id, by string) error {
		mu.Lock()
		defer mu.Unlock()
		if id != "17" {
			return smi.Errorf(smi.ErrNotFound, "there is no session %s", id)
		}
		if _, _, err := net.SplitHostPort(by); err != nil {
			t.Errorf("by %q", by)
		}
		killed = append(killed, id)
		return nil
	}}
	c := dial(t, remotetest.Start(t, "", opt))
	if err := c.KillSession(t.Context(), "17"); err != nil {
		t.Error(err)
	}
	if err := c.KillSession(t.Context(), "18"); !errors.Is(err, smi.ErrNotFound) || err.Error() != "there is no session 18" {
		t.Errorf("no such session: %v", err)
	}
	if err := c.KillSession(t.Context(), ""); !errors.Is(err, smi.ErrInvalid) {
		t.Errorf("no session: %v", err)
	}
	if err := c.KillSession(t.Context(), strings.Repeat("1", 1<<20)); !errors.Is(err, smi.ErrNotFound) {
		t.Errorf("a long id: %v", err)
	}
	c = dial(t, remotetest.StartFor(t, smiremote.Visitor{From: "x", Set: true}, opt))
	if err := c.KillSession(t.Context(), "17"); !errors.Is(err, smi.ErrNoPermission) || !strings.Contains(err.Error(), `"kill"`) {
		t.Errorf("not allowed: %v", err)
	}
	opt.Kill = nil
	c = dial(t, remotetest.Start(t, "", opt))
	if err := c.KillSession(t.Context(), "17"); !errors.Is(err, smi.ErrNotSupported) {
		t.Errorf("without sessions: %v", err)
	}
	mu.Lock()
	defer mu.Unlock()
	if !slices.Equal(killed, []string{"17"}) {
		t.Errorf("killed %q", killed)
	}
}

// TestVisitors: what a visitor may not do is refused, whatever the worker lets others do, and whoever asks is told of to Done.
func TestVisitors(t *testing.T) {
	var mu sync.Mutex
	var told []string
	result := func(err error) string {
		if err == nil {
			return "ok"
		}
		return smi.CodeOf(err).Error()
	}
	opt := smiremote.HandlerOptions{
		Source: smitest.NewFaulty(2, 0), AllowSet: true, Kill: func(string, string) error { return nil },
		Done: func(v *smiremote.Visitor, c smiremote.Change, err error) {
			mu.Lock()
			told = append(told, fmt.Sprintf("%s %d %s %s %s", v.Name, c.Kind, c.What, c.Session, result(err)))
			mu.Unlock()
		},
	}
	c := dial(t, remotetest.StartFor(t, smiremote.Visitor{Name: "a", Set: true, Cards: []int{1}}, opt))
	setting := smi.Setting{PerfLevel: "auto"}
	if err := c.Set(t.Context(), 1, setting); err != nil {
		t.Error(err)
	}
	for what, err := range map[string]error{
		"another card": c.Set(t.Context(), 0, setting), "fault": c.Inject(t.Context(), 1, smi.Fault{Kind: smi.FaultThermal}), "kill": c.KillSession(t.Context(), "5"),
		"quota": c.SetQuota(t.Context(), 0, "", smi.Quota{Compute: smi.Some(smi.Ratio(0.5))}),
	} {
		if !errors.Is(err, smi.ErrNoPermission) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if i, err := c.Server(t.Context()); err != nil || !i.Set || i.Kill || i.Faults {
		t.Errorf("%+v, %v", i, err)
	}
	c = dial(t, remotetest.StartFor(t, smiremote.Visitor{Name: "b", Kill: true, Inject: true}, opt))
	if err := c.Set(t.Context(), 1, setting); !errors.Is(err, smi.ErrNoPermission) || !strings.Contains(err.Error(), `"set"`) {
		t.Errorf("without the right: %v", err)
	}
	if err := errors.Join(c.Inject(t.Context(), 1, smi.Fault{Kind: smi.FaultThermal}), c.KillSession(t.Context(), "5")); err != nil {
		t.Error(err)
	}
	mu.Lock()
	defer mu.Unlock()
	slices.Sort(told)
	want := []string{
		`a 0 card 0: {"performance_level":"auto"}  ` + "no permission", `a 0 card 1: {"performance_level":"auto"}  ` + "ok",
		`a 1 card 0: {"memory_bytes":null,"compute_ratio":0.5}  ` + "no permission", `a 2  5 ` + "no permission", `a 3 card 1: {"kind":"thermal"}  ` + "no permission",
		`b 0 card 1: {"performance_level":"auto"}  ` + "no permission", `b 2  5 ` + "ok", `b 3 card 1: {"kind":"thermal"}  ` + "ok",
	}
	if !slices.Equal(told, want) {
		t.Errorf("told\n%s\nwant\n%s", strings.Join(told, "\n"), strings.Join(want, "\n"))
	}
}

func TestServer(t *testing.T) {
	c := dial(t, remotetest.Start(t, "", smiremote.HandlerOptions{
		Source: smitest.NewFaulty(1, 0), Version: "1.2", Backend: "sim", AllowSet: true, Kill: func(string, string) error { return nil },
	}))
	i, err := c.Server(t.Context())
	if err != nil || i.Version != "1.2" || i.Backend != "sim" || i.PID == 0 || i.Start.IsZero() || i.Uptime <= 0 || !i.Set || !i.Kill || !i.Faults {
		t.Errorf("%+v, %v", i, err)
	}
	c = dial(t, remotetest.Start(t, "", smiremote.HandlerOptions{Source: smitest.NewMachine(1, 0)}))
	if i, err := c.Server(t.Context()); err != nil || i.Version != "test" || i.Backend != "test" || i.Set || i.Kill || i.Faults {
		t.Errorf("%+v, %v", i, err)
	}
}

// oldWorker answers as workers did before operation 0x0847.
func oldWorker(t *testing.T) string {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	src := smitest.NewFake(smitest.Cards()...)
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			hello, _, err := wire.ReadHello(conn, time.Minute)
			if err != nil {
				return
			}
			s, err := wire.NewServerConn(conn, wire.ServerOptions{Protocol: hello.Protocol})
			if err != nil || s.Welcome(wire.Welcome{Version: "0.9", Backend: "old"}) != nil {
				return
			}
			go func() {
				_ = s.Serve(wire.HandlerFunc(func(r *wire.Request) {
					switch {
					case r.Op == 0x0840:
						snap, _ := smi.TakeSnapshot(t.Context(), src)
						for i := range snap.Devices {
							snap.Devices[i].ECCErr = nil
						}
						b, _ := msgpack.Marshal(snap)
						_ = r.Reply(0, b)
					case len(r.Fixed) != 0:
						_ = r.Reply(int32(smi.ErrInvalid), []byte("operation 0x"+hex4(r.Op)+" with 4 bytes of arguments"))
					default:
						_ = r.Reply(int32(smi.ErrNotSupported), []byte("operation 0x"+hex4(r.Op)+" is unknown"))
					}
				}))
			}()
		}
	}()
	return ln.Addr().String()
}

func hex4(v uint16) string {
	const digits = "0123456789abcdef"
	return string([]byte{digits[v>>12], digits[v>>8&15], digits[v>>4&15], digits[v&15]})
}

// What an old worker does not know is "not supported", and what it knows still works.
func TestOldWorker(t *testing.T) {
	addr := oldWorker(t)
	c := smiremote.NewClient(smiremote.Options{Address: addr})
	defer c.Close()
	ctx := t.Context()
	for range 2 {
		s, err := c.Snapshot(ctx)
		if err != nil || len(s.Devices) != 2 || len(s.Devices[0].Processes) != 2 || s.Devices[0].ECCErr == nil {
			t.Errorf("%+v, %v", s, err)
		}
	}
	_, err := c.Firmware(ctx, 0)
	if want := "worker " + addr + " (version 0.9) is too old: it does not know firmware"; !errors.Is(err, smi.ErrNotSupported) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	for what, err := range map[string]error{
		"Set": c.Set(ctx, 0, smi.Setting{Reset: true}), "Inject": c.Inject(ctx, 0, smi.Fault{}), "KillSession": c.KillSession(ctx, "1"),
		"Events": c.Events(ctx, func(smi.Event) {}),
	} {
		if !errors.Is(err, smi.ErrNotSupported) || !strings.Contains(err.Error(), "too old") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if i, err := c.Server(ctx); err != nil || i.Version != "0.9" || i.Backend != "old" || !i.Start.IsZero() {
		t.Errorf("%+v, %v", i, err)
	}
}

// A worker of another major version is named as such.
func TestOtherVersion(t *testing.T) {
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
			_, _ = conn.Write(wire.Header{Version: 0x0300, Op: wire.OpInit, Length: 4, Flags: wire.FlagResponse}.Append(nil))
			_, _ = conn.Write(make([]byte, 4))
			_ = conn.Close()
		}
	}()
	c := smiremote.NewClient(smiremote.Options{Address: ln.Addr().String()})
	err = c.Connect(t.Context())
	if !errors.Is(err, smi.ErrBadData) || !strings.Contains(err.Error(), "version 0x0300") || !strings.HasPrefix(err.Error(), "worker "+ln.Addr().String()) {
		t.Errorf("got %v", err)
	}
}
