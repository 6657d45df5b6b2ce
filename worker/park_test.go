package worker_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/hipremote"
	"github.com/rocwire/rocwire/internal/cutproxy"
	"github.com/rocwire/rocwire/wire"
	"github.com/rocwire/rocwire/worker"
	"github.com/rocwire/rocwire/worker/audit"
)

// lines collects what is logged.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) logf(format string, args ...any) { fmt.Fprintf(l, format+"\n", args...) }

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (l *lines) has(s string) bool { return strings.Contains(l.String(), s) }

func (l *lines) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// through makes a client that comes through a proxy.
func through(t *testing.T, w *worker.Server, cfg hipremote.Config) (*hipremote.Client, *cutproxy.Proxy) {
	t.Helper()
	p := cutproxy.New(t, w.Addr().String())
	host, port, err := net.SplitHostPort(p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	cfg.Host, cfg.Port, cfg.NoShare = host, port, true
	if cfg.ConnectTimeout == 0 {
		cfg.ConnectTimeout = time.Minute
	}
	if cfg.IOTimeout == 0 {
		cfg.IOTimeout = time.Minute
	}
	if cfg.Logf == nil {
		cfg.Logf = t.Logf
	}
	c := hipremote.New(cfg)
	t.Cleanup(func() { _ = c.Close() })
	return c, p
}

// TestParked: a session goes on when its connection was cut, wherever, with its memory and what it is doing.
func TestParked(t *testing.T) {
	log := &lines{}
	cfg := config()
	cfg.Park, cfg.Log = time.Minute, log.logger()
	w := serve(t, cards(1), cfg)
	c, p := through(t, w, hipremote.Config{Reconnect: time.Minute, Logf: log.logf})
	const size = 3 << 20
	a, e := c.Malloc(main0, size)
	must(t, "Malloc", e)
	rng := rand.New(rand.NewPCG(1, 2))
	want, got := make([]byte, size), make([]byte, size)
	for i := 0; i < size; i += 8 {
		binary.LittleEndian.PutUint64(want[i:], rng.Uint64())
	}
	must(t, "Memcpy", c.Memcpy(main0, a, at(want), size, hip.MemcpyHostToDevice))
	for i := range 30 {
		p.Arm(i%2, rng.IntN(2<<20), i%4 < 2)
		for p.Armed() {
			from, n := uint64(rng.IntN(size/2)), uint64(1+rng.IntN(size/2))
			for k := range want[from : from+n] {
				want[from+uint64(k)] += byte(i + 1)
			}
			must(t, "Memcpy", c.Memcpy(main0, a+hip.Ptr(from), at(want[from:]), n, hip.MemcpyHostToDevice))
			from = uint64(rng.IntN(size - 100))
			clear(want[from : from+100])
			must(t, "MemsetAsync", c.MemsetAsync(main0, a+hip.Ptr(from), 0, 100, 0))
			must(t, "Memcpy", c.Memcpy(main0, at(got), a, size, hip.MemcpyDeviceToHost))
			if !bytes.Equal(got, want) {
				t.Fatalf("cut %d: what comes back is something else", i)
			}
		}
	}
	if s := w.Sessions(); len(s) != 1 || s[0].ID != fmt.Sprint(c.Session()) {
		t.Errorf("sessions: %+v", s)
	}
	eventually(t, "the log tells", func() bool {
		return log.has("session parked") && log.has("session resumed") && log.has("trying to go on for 1m0s") && log.has("connected again after")
	})
	must(t, "Free", c.Free(main0, a))
	_ = c.Close()
	eventually(t, "the session is gone", func() bool { return len(w.Sessions()) == 0 })
}

// TestParkedIsShown, and ends when its time is over, with all it held.
func TestParkedIsShown(t *testing.T) {
	log, client := &lines{}, &lines{}
	cfg := config()
	cfg.Park, cfg.Log = 2*time.Second, log.logger()
	w := serve(t, cards(1), cfg)
	c, p := through(t, w, hipremote.Config{Reconnect: 500 * time.Millisecond, Logf: client.logf})
	_, e := c.Malloc(main0, 300<<20)
	must(t, "Malloc", e)
	if w.Sessions()[0].Parked {
		t.Error("parked while it is connected")
	}
	p.Set(false, true)
	p.CutAll()
	eventually(t, "parked", func() bool { s := w.Sessions(); return len(s) == 1 && s[0].Parked })
	if e := c.DeviceSynchronize(main0); e != hip.ErrorNotInitialized {
		t.Errorf("a call: %v", e)
	}
	eventually(t, "why, in the client's log", func() bool { return client.has("it could not be resumed: not within 500ms") })
	eventually(t, "its end", func() bool { return len(w.Sessions()) == 0 })
	eventually(t, "why, in the log", func() bool { return log.has("has not come back within 2s") })
	other := connect(t, w)
	_, e = other.Malloc(main0, 800<<20)
	must(t, "Malloc of what it held", e)
}

// TestTooLate: a client that comes back when the session has not waited so long, or has given way, is told that.
func TestTooLate(t *testing.T) {
	for what, c := range map[string]struct {
		park time.Duration
		end  func(t *testing.T, w *worker.Server)
		told string
	}{
		"time over": {time.Second, func(*testing.T, *worker.Server) {}, "it has ended: the client has not come back within 1s"},
		"gave way": {time.Hour, func(t *testing.T, w *worker.Server) {
			_, e := connect(t, w).Malloc(main0, 900<<20)
			must(t, "Malloc", e)
		}, "the worker has ended it: it gave way while its client was away"},
		"killed": {time.Hour, func(t *testing.T, w *worker.Server) {
			if err := w.KillSession(w.Sessions()[0].ID, "the test"); err != nil {
				t.Error(err)
			}
		}, "the worker has ended it: ended on demand"},
	} {
		t.Run(what, func(t *testing.T) {
			w, client := serve(t, cards(1), worker.Config{Park: c.park}), &lines{}
			rt, p := through(t, w, hipremote.Config{Reconnect: time.Hour, Logf: client.logf})
			_, e := rt.Malloc(main0, 300<<20)
			must(t, "Malloc", e)
			p.Set(false, true)
			p.CutAll()
			id := fmt.Sprint(rt.Session())
			eventually(t, "parked, or over", func() bool { parked, there := parkedIDs(w)[id]; return parked || !there })
			c.end(t, w)
			eventually(t, "its end", func() bool { _, there := parkedIDs(w)[id]; return !there })
			p.Set(false, false)
			if e := rt.DeviceSynchronize(main0); e != hip.ErrorNotInitialized {
				t.Errorf("a call: %v", e)
			}
			eventually(t, "why, in the client's log", func() bool { return client.has("there is no such session: " + c.told) })
		})
	}
}

// TestNoPark: where sessions do not wait a cut is their end, as it is for a client that does not try.
func TestNoPark(t *testing.T) {
	for park, reconnect := range map[time.Duration]time.Duration{0: time.Minute, time.Minute: 0} {
		cfg := config()
		cfg.Park = park
		w := serve(t, cards(1), cfg)
		c, p := through(t, w, hipremote.Config{Reconnect: reconnect})
		_, e := c.Malloc(main0, 4096)
		must(t, "Malloc", e)
		p.CutAll()
		if e := c.DeviceSynchronize(main0); e != hip.ErrorNotInitialized {
			t.Errorf("a call: %v", e)
		}
		eventually(t, "its end", func() bool { return len(w.Sessions()) == 0 })
	}
}

// TestVanished: nothing gets through for longer than the client waits for a sign of life. It goes on over a new connection while the worker takes the old
// one for alive.
func TestVanished(t *testing.T) {
	cfg := config()
	cfg.Park = time.Minute
	w := serve(t, cards(1), cfg)
	c, p := through(t, w, hipremote.Config{Reconnect: time.Minute, IOTimeout: 400 * time.Millisecond})
	a, e := c.Malloc(main0, 1<<20)
	must(t, "Malloc", e)
	must(t, "Memset", c.Memset(main0, a, 7, 1<<20))
	p.Set(true, false)
	done := make(chan hip.Error, 1)
	got := make([]byte, 1<<20)
	go func() { done <- c.Memcpy(main0, at(got), a, 1<<20, hip.MemcpyDeviceToHost) }()
	time.Sleep(time.Second)
	p.Set(false, false)
	must(t, "Memcpy", <-done)
	if !bytes.Equal(got, bytes.Repeat([]byte{7}, 1<<20)) {
		t.Error("what comes back is something else")
	}
}

// TestWorkerRestarted: a worker that knows nothing of the session says so, and the client does not wait any longer.
func TestWorkerRestarted(t *testing.T) {
	cfg := config()
	cfg.Park = time.Minute
	w, other := serve(t, cards(1), cfg), serve(t, cards(1), cfg)
	log := &lines{}
	c, p := through(t, w, hipremote.Config{Reconnect: time.Hour, Logf: log.logf})
	_, e := c.Malloc(main0, 4096)
	must(t, "Malloc", e)
	p.Redirect(other.Addr().String())
	p.CutAll()
	if e := c.DeviceSynchronize(main0); e != hip.ErrorNotInitialized {
		t.Errorf("a call: %v", e)
	}
	eventually(t, "why, in the log", func() bool { return log.has("there is no such session") })
}

// TestSessionProcessDies: a client whose session's process has died of a signal learns that, and that it was a signal, whatever its connection goes through.
func TestSessionProcessDies(t *testing.T) {
	dies := func(t *testing.T, w *worker.Server, c *hipremote.Client, log *lines) {
		_, e := c.Malloc(main0, 4096)
		must(t, "Malloc", e)
		if err := syscall.Kill(int(w.Sessions()[0].PID), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		eventually(t, "an error", func() bool { return c.DeviceSynchronize(main0) != hip.Success })
		eventually(t, "why, in the log", func() bool { return log.has("its process died (signal: killed)") })
		eventually(t, "the session is gone", func() bool { return len(w.Sessions()) == 0 })
	}
	t.Run("network", func(t *testing.T) {
		cfg := config()
		cfg.Park = time.Minute
		w, log := serve(t, cards(1), cfg), &lines{}
		c, _ := through(t, w, hipremote.Config{Reconnect: time.Hour, Logf: log.logf})
		dies(t, w, c, log)
	})
	for name, noShare := range map[string]bool{"shared memory": false, "no way back": true} {
		t.Run(name, func(t *testing.T) {
			w, log := serve(t, cards(1), config()), &lines{}
			dies(t, w, connectWith(t, w, hipremote.Config{NoShare: noShare, Logf: log.logf}), log)
		})
	}
	t.Run("rocm", func(t *testing.T) {
		w, log := serveROCm(t, config()), &lines{}
		dies(t, w, connectWith(t, w, hipremote.Config{Logf: log.logf}), log)
	})
	t.Run("Unix socket", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "w.sock")
		w, log := socketAt(t, worker.Socket{Path: path}), &lines{}
		c := hipremote.New(hipremote.Config{Host: "unix:" + path, Logf: log.logf})
		t.Cleanup(func() { c.Close() })
		dies(t, w, c, log)
	})
}

// TestCloseWhileParked does not wait for a worker that cannot be reached.
func TestCloseWhileParked(t *testing.T) {
	cfg := config()
	cfg.Park = time.Second
	w := serve(t, cards(1), cfg)
	c, p := through(t, w, hipremote.Config{Reconnect: time.Hour})
	a, e := c.Malloc(main0, 1<<20)
	must(t, "Malloc", e)
	p.Set(false, true)
	p.CutAll()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 3 { // posted, and gone
			_ = c.MemsetAsync(main0, a, 1, 1<<20, 0)
		}
		_ = c.Close()
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("Close hangs")
	}
	eventually(t, "the session is gone", func() bool { return len(w.Sessions()) == 0 })
}

// raw is a HIP session whose secret the test knows.
type raw struct {
	net.Conn
	w wire.Welcome
}

// shake does a handshake by hand.
func shake(t *testing.T, network, address string, hello *wire.Hello) *raw {
	t.Helper()
	c, err := net.Dial(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	offer := hiprpc.Offer{}
	if hello.Details, err = offer.Append(nil); err != nil {
		t.Fatal(err)
	}
	hello.Purpose = "hip"
	b, err := hello.Append(make([]byte, wire.HeaderSize))
	if err != nil {
		t.Fatal(err)
	}
	wire.Header{Version: wire.Version, Op: wire.OpInit, Length: uint32(len(b) - wire.HeaderSize)}.Append(b[:0])
	if _, err := c.Write(b); err != nil {
		t.Fatal(err)
	}
	head := make([]byte, wire.HeaderSize)
	if _, err := io.ReadFull(c, head); err != nil {
		t.Fatal(err)
	}
	h, err := wire.ParseHeader(head)
	if err != nil {
		t.Fatal(err)
	}
	p := make([]byte, h.Length)
	if _, err := io.ReadFull(c, p); err != nil {
		t.Fatal(err)
	}
	r := &raw{Conn: c}
	if err := wire.ParseMap(p[4:], &r.w); err != nil {
		t.Fatal(err)
	}
	r.w.Code = int32(binary.LittleEndian.Uint32(p))
	return r
}

// TestResumeAsAnother: whoever knows the secret is not let in as somebody else, nor twice, and nobody without.
func TestResumeAsAnother(t *testing.T) {
	socket := t.TempDir() + "/s"
	w, _, record := parking(t, func(c *worker.Config) {
		c.Park, c.Listen, c.Socket.Path = time.Minute, "127.0.0.1", socket
	})
	tcp := w.Addr().String()
	first := shake(t, "tcp", tcp, &wire.Hello{Features: []string{wire.FeatureResume}})
	if len(first.w.Secret) != 32 {
		t.Fatalf("%+v", first.w)
	}
	resume := func(attempt uint64, secret []byte) *wire.Hello {
		r := &wire.Resumption{Session: first.w.Session, Attempt: attempt}
		r.Prove(secret)
		return &wire.Hello{Resume: r}
	}
	for name, x := range map[string]*raw{
		"through the socket": shake(t, "unix", socket, resume(1, first.w.Secret)),
		"wrong secret":       shake(t, "tcp", tcp, resume(1, make([]byte, 32))),
	} {
		if x.w.Code != wire.CodeNoSession {
			t.Errorf("%s: %+v", name, x.w)
		}
	}
	if x := shake(t, "tcp", tcp, resume(1, first.w.Secret)); x.w.Code != 0 || x.w.Session != first.w.Session || x.w.Secret != nil {
		t.Errorf("%+v", x.w)
	}
	if x := shake(t, "tcp", tcp, resume(1, first.w.Secret)); x.w.Code != wire.CodeNoSession {
		t.Errorf("twice: %+v", x.w)
	}
	x := shake(t, "tcp", tcp, resume(2, first.w.Secret))
	if x.w.Code != 0 {
		t.Errorf("%+v", x.w)
	}
	eventually(t, "the address it has come back from", func() bool {
		s := w.Sessions()
		return len(s) == 1 && s[0].Client.Address == x.LocalAddr().String()
	})
	if _, err := x.Write(wire.Header{Version: wire.Version, Op: wire.OpShutdown, ID: 1, Flags: wire.FlagNoReply}.Append(nil)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the session is gone", func() bool { return len(w.Sessions()) == 0 })
	eventually(t, "all is recorded", func() bool {
		got := map[string]int{}
		for l := range strings.Lines(record()) {
			var e audit.Event
			if err := json.Unmarshal([]byte(l), &e); err != nil {
				t.Fatalf("%q: %v", l, err)
			}
			if e.From == "" {
				t.Errorf("from nowhere: %s", l)
			}
			if e.Kind == audit.Refuse || e.Kind == audit.Resume {
				got[string(e.Kind)+" "+e.Method+" "+e.Session+": "+e.Result]++
			}
		}
		id := fmt.Sprint(first.w.Session)
		return got["refused socket : there is no such session"] == 1 && got["refused local "+id+": the proof is wrong, or was used before"] == 2 && got["resumed local "+id+": ok"] == 2
	})
	if x := shake(t, "tcp", tcp, resume(3, first.w.Secret)); x.w.Code != wire.CodeNoSession {
		t.Errorf("after the end: %+v", x.w)
	}
	if c := connect(t, w); c != nil {
		_, e := c.GetDeviceCount()
		must(t, "GetDeviceCount", e)
	}
}
