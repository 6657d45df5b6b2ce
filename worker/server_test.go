package worker_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rocwire/rocwire/calls/rpcstats"
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/hipremote"
	"github.com/rocwire/rocwire/simgpu"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smiremote"
	"github.com/rocwire/rocwire/wire"
	"github.com/rocwire/rocwire/worker"
	"github.com/rocwire/rocwire/worker/simbackend"
	"github.com/rocwire/rocwire/worker/workertest"
)

func cards(n int) simbackend.Options { return simbackend.Options{Cards: n} }

func config() worker.Config { return worker.Config{} }

// client is the test binary as a client process: it holds memory, does what it is told in an endless loop, and waits to be killed.
func client(args []string) {
	die := func(what string, e hip.Error) {
		if e != hip.Success {
			os.Stderr.WriteString(what + ": " + e.Error() + "\n")
			os.Exit(1)
		}
	}
	c := hipremote.New(hipremote.Config{Host: "127.0.0.1", Port: args[0]})
	const size = 64 << 20
	p, e := c.Malloc(main0, size)
	die("Malloc", e)
	host := make([]byte, size)
	switch args[1] {
	case "to":
		die("Memcpy", c.Memcpy(main0, p, at(host), size, hip.MemcpyHostToDevice))
		os.Stdout.WriteString("busy\n")
		for {
			die("Memcpy", c.MemcpyAsync(main0, p, at(host), size, hip.MemcpyHostToDevice, 0))
		}
	case "from":
		die("Memcpy", c.Memcpy(main0, at(host), p, size, hip.MemcpyDeviceToHost))
		os.Stdout.WriteString("busy\n")
		for {
			die("Memcpy", c.Memcpy(main0, at(host), p, size, hip.MemcpyDeviceToHost))
		}
	case "kernel":
		die("launch", launch(c, kernel(exiter{}, c, "spin", "spin_forever"), 0, p))
		os.Stdout.WriteString("busy\n")
		die("sync", c.DeviceSynchronize(main0))
	case "kernel-and-copy": // the line itself stands still: more is queued behind the kernel than is staged
		die("launch", launch(c, kernel(exiter{}, c, "spin", "spin_forever"), 0, p))
		for i := 0; ; i++ {
			if i == (192<<20)/(32<<10) {
				os.Stdout.WriteString("busy\n")
			}
			die("Memcpy", c.MemcpyAsync(main0, p, at(host), 32<<10, hip.MemcpyHostToDevice, 0))
		}
	case "exit":
		os.Stdout.WriteString("busy\n")
	}
}

type exiter struct{}

func (exiter) Helper()                   {}
func (exiter) Fatal(...any)              { os.Exit(1) }
func (exiter) Fatalf(f string, _ ...any) { os.Stderr.WriteString(f + "\n"); os.Exit(1) }

// TestKilledClient: whatever a client is doing when it is killed, everything it held is free afterwards.
func TestKilledClient(t *testing.T) {
	w := serve(t, cards(1), config())
	src := w.Source()
	for _, how := range []string{"to", "from", "kernel", "kernel-and-copy", "exit"} {
		t.Run(how, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "__client", strconv.Itoa(w.Addr().Port), how)
			cmd.Stderr = os.Stderr
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(out, make([]byte, len("busy\n"))); err != nil {
				t.Fatal(err)
			}
			var pid int
			if how != "exit" {
				s := w.Sessions()
				if len(s) != 1 || s[0].Client.PID != uint32(cmd.Process.Pid) || !strings.HasSuffix(s[0].Client.Executable, ".test") {
					t.Fatalf("sessions: %+v", s)
				}
				pid = int(s[0].PID)
				ps, err := src.Processes(context.Background(), 0)
				if err != nil || len(ps) != 1 || ps[0].Client == nil || ps[0].Client.PID != uint32(cmd.Process.Pid) || ps[0].VRAM.Or(0) < 64<<20 {
					t.Fatalf("processes: %+v, %v", ps, err)
				}
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
			_ = cmd.Wait() // killed
			eventually(t, "the session has ended", func() bool { return len(w.Sessions()) == 0 })
			eventually(t, "its memory is free", func() bool {
				m, err := src.Metrics(context.Background(), 0)
				if err != nil {
					t.Fatal(err)
				}
				return m.VRAM.Used.Or(1) == 0
			})
			if pid != 0 && !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
				t.Errorf("session process %d is still there", pid)
			}
			ps, err := src.Processes(context.Background(), 0)
			if err != nil || len(ps) != 0 {
				t.Errorf("processes after the end: %+v, %v", ps, err)
			}
		})
	}
}

// TestKilledSessionProcess: the client hears that its connection is lost; nobody else notices, and the card is free.
func TestKilledSessionProcess(t *testing.T) {
	w := serve(t, cards(1), config())
	a, b := connect(t, w), connect(t, w)
	if _, e := a.Malloc(main0, 1<<20); e != hip.Success {
		t.Fatal(e)
	}
	victim := w.Sessions()[0].PID
	q, e := b.Malloc(main0, 1<<20)
	must(t, "Malloc", e)
	if err := syscall.Kill(int(victim), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "one session is left", func() bool { return len(w.Sessions()) == 1 })
	if e := a.DeviceSynchronize(main0); e != hip.ErrorNotInitialized {
		t.Errorf("DeviceSynchronize on the dead session: %v", e)
	}
	must(t, "Memset", b.Memset(main0, q, 1, 1<<20))
	if _, e := connect(t, w).GetDeviceCount(); e != hip.Success {
		t.Errorf("a new client: %v", e)
	}
}

func TestStrangers(t *testing.T) {
	w := serve(t, cards(1), worker.Config{HelloTimeout: 2 * time.Second}) // in which those who say something get a processor
	dial := func() net.Conn {
		c, err := net.Dial("tcp", w.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	// Who says nothing is dropped, and blocks nobody meanwhile.
	silent := make([]net.Conn, 20)
	for i := range silent {
		silent[i] = dial()
	}
	slow := dial()
	if _, err := slow.Write([]byte("RP")); err != nil {
		t.Fatal(err)
	}
	if n, e := connect(t, w).GetDeviceCount(); e != hip.Success || n != 1 {
		t.Errorf("%d devices, %v", n, e)
	}
	for _, c := range append(silent, slow) {
		if b, err := io.ReadAll(c); err != nil || len(b) != 0 {
			t.Errorf("a silent client read %d bytes, %v", len(b), err)
		}
	}
	// Who says something else is told what is wrong.
	init := wire.Header{Version: wire.Version, Op: wire.OpInit}
	for name, b := range map[string][]byte{
		"http":          []byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
		"wrong magic":   bytes.Repeat([]byte{0xff}, 64),
		"wrong version": wire.Header{Version: 0x0300, Op: wire.OpInit}.Append(nil),
		"not INIT":      wire.Header{Version: wire.Version, Op: 0x0200}.Append(nil),
		"huge":          wire.Header{Version: wire.Version, Op: wire.OpInit, Length: 1 << 31}.Append(nil),
		"no Hello":      append(wire.Header{Version: wire.Version, Op: wire.OpInit, Length: 3}.Append(nil), 0xc1, 0xc1, 0xc1),
		"empty Hello":   init.Append(nil),
	} {
		c := dial()
		if _, err := c.Write(b); err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(c)
		if err != nil && !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%s: %v", name, err)
		}
		if len(answer) < wire.HeaderSize {
			t.Errorf("%s: answered with %d bytes", name, len(answer))
			continue
		}
		if h, err := wire.ParseHeader(answer); err != nil || h.Op != wire.OpInit || h.Flags&wire.FlagError == 0 {
			t.Errorf("%s: answered with %+v, %v", name, h, err)
		}
	}
	for _, purpose := range []string{"", "else", strings.Repeat("x", 5000)} {
		_, err := wire.Dial(context.Background(), wire.Options{Address: w.Addr().String(), Hello: wire.Hello{Purpose: purpose}})
		if !errors.Is(err, wire.ErrRefused) {
			t.Errorf("purpose %.10q: %v", purpose, err)
		}
	}
	_, err := wire.Dial(context.Background(), wire.Options{Address: w.Addr().String(), Hello: wire.Hello{Purpose: "hip", Details: []byte{0xc1}}})
	if we := (*wire.Error)(nil); !errors.As(err, &we) || we.Kind != wire.ErrRefused || we.Code != int32(hip.ErrorInvalidValue) {
		t.Errorf("an offer that is none: %v", err)
	}
}

// TestGarbageInASession: bytes that make no sense, come twice or in another order, end that session, are recorded, and do nothing else.
func TestGarbageInASession(t *testing.T) {
	w, _, record := parking(t, nil)
	good := connect(t, w)
	p, e := good.Malloc(main0, 4096)
	must(t, "Malloc", e)
	ends := 0
	call := func(id uint32) []byte {
		return wire.Header{Version: wire.Version, Op: hip.OpGetDeviceCount, ID: id}.Append(nil)
	}
	for name, b := range map[string][]byte{
		"wrong magic":     bytes.Repeat([]byte{0xAA}, 40),
		"id out of order": wire.Header{Version: wire.Version, Op: hip.OpGetDeviceCount, ID: 7}.Append(nil),
		"replayed":        slices.Concat(call(1), call(1)),
		"reordered":       slices.Concat(call(1), call(3), call(2)),
		"too long":        wire.Header{Version: wire.Version, Op: hip.OpMemcpy, ID: 1, Length: wire.MaxPayload + 1}.Append(nil),
		"truncated":       append(wire.Header{Version: wire.Version, Op: hip.OpMemcpy, ID: 1, Length: 100}.Append(nil), 1, 2, 3),
	} {
		c, err := net.Dial("tcp", w.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		hello, err := (&wire.Hello{Purpose: "hip"}).Append(make([]byte, wire.HeaderSize))
		if err != nil {
			t.Fatal(err)
		}
		wire.Header{Version: wire.Version, Op: wire.OpInit, Length: uint32(len(hello) - wire.HeaderSize)}.Append(hello[:0])
		if _, err := c.Write(append(hello, b...)); err != nil {
			t.Fatal(err)
		}
		if name == "truncated" {
			if err := c.(*net.TCPConn).CloseWrite(); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := io.ReadAll(c); err != nil && !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%s: %v", name, err)
		}
		_ = c.Close()
		eventually(t, name+": its session has ended", func() bool { return len(w.Sessions()) == 1 })
		if name == "truncated" {
			continue // which a client that is killed may leave, too
		}
		ends++
		eventually(t, name+": it is recorded why", func() bool { return strings.Count(record(), `"what":"protocol violation`) == ends })
	}
	must(t, "Memset of the other session", good.Memset(main0, p, 1, 4096))
}

// TestBadRequests: messages that are well-formed frames but no valid calls are answered with an error.
func TestBadRequests(t *testing.T) {
	w := serve(t, cards(1), config())
	c, err := wire.Dial(context.Background(), wire.Options{Address: w.Addr().String(), Hello: wire.Hello{Purpose: "hip"}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if chosen, err := hiprpc.ParseChosen(c.Welcome().Details); err != nil || chosen.Range.Size != 0 {
		t.Errorf("a range was chosen that nobody offered: %+v, %v", chosen, err)
	}
	reqs := [][]byte{nil, {1}, make([]byte, 20), bytes.Repeat([]byte{0xff}, 200)}
	dst := make([]byte, 1<<20)
	for op := uint16(0x100); op < 0x1200; op++ {
		for i, req := range reqs {
			if testing.Short() && i != int(op)%len(reqs) {
				continue
			}
			m := &wire.Msg{Req: req, Dst: dst}
			if err := c.Call(op, m); err != nil {
				t.Fatalf("operation %#x with %d bytes: %v", op, len(req), err)
			}
			if hip.OpName(op) == "" && m.Code != int32(hip.ErrorNotSupported) && op < 0x1100 && op != rpcstats.Op && op != rpcstats.OpSlow {
				t.Errorf("operation %#x, which does not exist: %v", op, hip.Error(m.Code))
			}
		}
	}
	if err := c.Err(); err != nil {
		t.Error(err)
	}
}

func TestListen(t *testing.T) {
	w := serve(t, cards(1), config())
	b, err := simbackend.New(cards(1), testLog())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := worker.New(worker.Config{Port: w.Addr().Port, Backend: b}); !errors.Is(err, worker.ErrPortInUse) {
		t.Errorf("a port in use: %v", err)
	}
	for _, host := range []string{"0.0.0.0", "::", "192.0.2.1", "::ffff:192.0.2.1"} {
		if _, err := worker.New(worker.Config{Listen: host, Backend: b}); !errors.Is(err, wire.ErrNotLoopback) {
			t.Errorf("listening on %s: %v", host, err)
		}
	}
}

func TestSessionLimit(t *testing.T) {
	w := serve(t, cards(1), worker.Config{MaxSessions: 1})
	a := connect(t, w)
	if _, e := a.GetDeviceCount(); e != hip.Success {
		t.Fatal(e)
	}
	said := ""
	b := hipremote.New(hipremote.Config{Host: "127.0.0.1", Port: strconv.Itoa(w.Addr().Port), Logf: func(f string, a ...any) { said += fmt.Sprintf(f, a...) + "\n" }})
	if _, e := b.GetDeviceCount(); e != hip.ErrorNotInitialized {
		t.Errorf("one session too many: %v", e)
	}
	if !strings.Contains(said, "all sessions are taken (1, --max-sessions)") {
		t.Errorf("its user is told %q", said)
	}
	if x := shake(t, "tcp", w.Addr().String(), &wire.Hello{}); x.w.Code == 0 || !x.w.Later {
		t.Errorf("it is not told to come again: %+v", x.w)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	eventually(t, "there is room again", func() bool { _, e := connect(t, w).GetDeviceCount(); return e == hip.Success })
}

// TestVisibleDevices: the worker chooses among its cards, the client among those.
func TestVisibleDevices(t *testing.T) {
	w := serve(t, simbackend.Options{Cards: 4, Visible: []int{3, 1, 2}}, config())
	for list, want := range map[string][]int{
		"": {3, 1, 2}, "1": {1}, "2,0": {2, 3}, "0,9,1": {3}, "-1": nil, "1,1": {1}, simgpu.UUID("", 2) + ",0": {2, 3}, simgpu.UUID("", 0): nil,
		"2,0;": {2, 3}, "2,0;1": {3}, "-1;0": nil, simgpu.UUID("", 1) + ";": {1}, simgpu.UUID("", 1) + ";1": nil,
	} {
		rocr, list, both := strings.Cut(list, ";")
		if !both {
			rocr, list = "", rocr
		}
		c := hipremote.New(hipremote.Config{Host: "127.0.0.1", Port: strconv.Itoa(w.Addr().Port), ROCrDevices: rocr, Devices: list, Logf: t.Logf})
		n, e := c.GetDeviceCount()
		if want == nil {
			if e != hip.ErrorNoDevice {
				t.Errorf("%q: %d devices, %v", list, n, e)
			}
			continue
		}
		if e != hip.Success || int(n) != len(want) {
			t.Errorf("%q: %d devices, %v", list, n, e)
			continue
		}
		for i, card := range want {
			if _, e := c.Malloc(hip.Thread{Device: int32(i)}, 16<<20); e != hip.Success {
				t.Errorf("%q: Malloc on device %d: %v", list, i, e)
			}
			m, err := w.Source().Metrics(context.Background(), card)
			if err != nil || m.VRAM.Used.Or(0) < 16<<20 {
				t.Errorf("%q: card %d, device %d, uses %d bytes, %v", list, card, i, m.VRAM.Used.Or(0), err)
			}
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		eventually(t, "the session is gone", func() bool { return len(w.Sessions()) == 0 })
	}
}

// TestManagement: what smi-remote asks, and that the session's figures and its client's latencies arrive.
func TestManagement(t *testing.T) {
	w := serve(t, cards(2), config())
	c := connect(t, w)
	p, e := c.Malloc(main0, 32<<20)
	must(t, "Malloc", e)
	must(t, "Memset", c.Memset(main0, p, 1, 32<<20))
	must(t, "StreamSynchronize", c.StreamSynchronize(main0, 0))
	m := smiremote.NewClient(smiremote.Options{Address: w.Addr().String()})
	if err := m.Connect(context.Background()); err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	devices, err := m.Devices(context.Background())
	if err != nil || len(devices) != 2 {
		t.Fatalf("devices: %v, %v", devices, err)
	}
	ps, err := m.Processes(context.Background(), 0)
	if err != nil || len(ps) != 1 || ps[0].Client == nil {
		t.Fatalf("processes: %+v, %v", ps, err)
	}
	if cl := ps[0].Client; cl.PID != uint32(os.Getpid()) || cl.User == "" || cl.Executable == "" || cl.Host == "" || ps[0].VRAM.Or(0) < 32<<20 {
		t.Errorf("process: %+v of %+v", ps[0], cl)
	}
	eventually(t, "both sides' latencies are known", func() bool {
		sides := map[string]bool{}
		for _, x := range w.Calls().Calls() {
			if x.Op == "hipStreamSynchronize" && x.Code == "hipSuccess" {
				sides[x.Side] = true
			}
		}
		return sides["client"] && sides["worker"]
	})
	eventually(t, "the session's bytes are known", func() bool {
		s := w.Sessions()
		return len(s) == 1 && s[0].BytesIn.Or(0) > 0 && s[0].BytesOut.Or(0) > 0 && s[0].Calls.Or(0) > 0
	})
	if tot := w.SessionTotals(); tot.Started.Or(0) != 1 {
		t.Errorf("totals: %+v", tot)
	}
	var _ smi.Source = m
}

// TestCopiesAreAccounted: the card's figures know of copies, those from socket to device memory included.
func TestCopiesAreAccounted(t *testing.T) {
	w := serve(t, cards(1), config())
	c := connect(t, w)
	const size = 32 << 20
	p, e := c.Malloc(main0, size)
	must(t, "Malloc", e)
	host := make([]byte, size)
	var last smi.Duration
	for _, f := range []func() hip.Error{
		func() hip.Error { return c.Memcpy(main0, p, at(host), size, hip.MemcpyHostToDevice) },
		func() hip.Error { return c.Memcpy(main0, at(host), p, size, hip.MemcpyDeviceToHost) },
		func() hip.Error { return c.Memcpy(main0, at(host), p, 1000, hip.MemcpyDeviceToHost) },
	} {
		must(t, "Memcpy", f())
		eventually(t, "the copy is accounted", func() bool {
			ps, err := w.Source().Processes(context.Background(), 0)
			if err != nil || len(ps) != 1 {
				t.Fatalf("%+v, %v", ps, err)
			}
			busy := ps[0].SDMA.Or(0)
			if busy <= last {
				return false
			}
			last = busy
			return true
		})
	}
}

// TestStop: Close ends clients, management clients and silent ones.
func TestStop(t *testing.T) {
	b, err := simbackend.New(cards(1), testLog())
	if err != nil {
		t.Fatal(err)
	}
	w, err := worker.New(worker.Config{Backend: b, Command: []string{os.Args[0], workertest.SessionCommand}, Log: testLog()})
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- w.Serve() }()
	silent, err := net.Dial("tcp", w.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	m := smiremote.NewClient(smiremote.Options{Address: w.Addr().String()})
	if err := m.Connect(context.Background()); err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	c := connect(t, w)
	p, e := c.Malloc(main0, 4096)
	must(t, "Malloc", e)
	must(t, "launch", launch(c, kernel(t, c, "spin", "spin_forever"), 0, p))
	w.Close()
	if err := <-served; err != nil {
		t.Error(err)
	}
	if e := c.DeviceSynchronize(main0); e != hip.ErrorNotInitialized {
		t.Errorf("a call after the end: %v", e)
	}
	if n := len(w.Sessions()); n != 0 {
		t.Errorf("%d sessions after the end", n)
	}
	if err := b.Source.Close(); err != nil {
		t.Error(err)
	}
}
