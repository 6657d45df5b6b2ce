package hipremote

import (
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/internal/freeport"
	"github.com/rocwire/rocwire/wire"
)

// logLines collects what a client logs.
type logLines struct {
	mu    sync.Mutex
	lines []string
}

func (l *logLines) logf(format string, args ...any) {
	l.mu.Lock()
	l.lines = append(l.lines, fmt.Sprintf(format, args...))
	l.mu.Unlock()
}

func (l *logLines) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.lines...)
}

// welcome is a server's answer to every client.
func welcome(w wire.Welcome) func(*wire.Hello) wire.Welcome {
	return func(*wire.Hello) wire.Welcome { return w }
}

// choosing is the answer of a server that chooses a range of those offered.
func choosing(t *testing.T, choose func([]hip.Span) hip.Span) func(*wire.Hello) wire.Welcome {
	return func(hello *wire.Hello) (w wire.Welcome) {
		offer, err := hiprpc.ParseOffer(hello.Details)
		if err == nil {
			w.Details, err = (&hiprpc.Chosen{Range: choose(offer.Ranges)}).Append(nil)
		}
		if err != nil {
			t.Error(err)
		}
		return w
	}
}

func firstOffered(list []hip.Span) hip.Span { return list[0] }

// server answers one connection with a welcome, and what follows with h.
func server(t *testing.T, answer func(*wire.Hello) wire.Welcome, h func(s *wire.ServerConn, r *wire.Request)) (host, port string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		hello, _, err := wire.ReadHello(conn, time.Minute)
		if err != nil {
			return
		}
		s, err := wire.NewServerConn(conn, wire.ServerOptions{Protocol: hello.Protocol})
		if err != nil {
			return
		}
		if s.Welcome(answer(hello)) == nil {
			_ = s.Serve(wire.HandlerFunc(func(r *wire.Request) { h(s, r) }))
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		wg.Wait()
	})
	host, port, err = net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return host, port
}

func TestNobodyListens(t *testing.T) {
	host, port, _ := net.SplitHostPort(freeport.Nobody(t))
	var log logLines
	c := New(Config{Host: host, Port: port, Logf: log.logf})
	for range 3 {
		if _, e := c.GetDeviceCount(); e != hip.ErrorNotInitialized {
			t.Errorf("GetDeviceCount: %v", e)
		}
	}
	if e := c.MemsetAsync(hip.Thread{}, 0x1000, 0, 1, 0); e != hip.ErrorNotInitialized {
		t.Errorf("MemsetAsync: %v", e)
	}
	if lines := log.all(); len(lines) != 1 || !strings.Contains(lines[0], host) || !strings.Contains(lines[0], port) || !strings.Contains(lines[0], "refused") {
		t.Errorf("log: %q", lines)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

func TestConnectionLost(t *testing.T) {
	host, port := server(t, welcome(wire.Welcome{}), func(s *wire.ServerConn, r *wire.Request) {
		_ = r.Reply(0, []byte{1, 0, 0, 0})
		s.Close("")
	})
	var log logLines
	c := New(Config{Host: host, Port: port, Logf: log.logf})
	if n, e := c.GetDeviceCount(); e != hip.Success || n != 1 {
		t.Errorf("%d devices, %v", n, e)
	}
	for range 3 {
		if e := c.DeviceSynchronize(hip.Thread{}); e != hip.ErrorNotInitialized {
			t.Errorf("DeviceSynchronize: %v", e)
		}
	}
	if lines := log.all(); len(lines) != 1 || !strings.Contains(lines[0], host) || !strings.Contains(lines[0], port) {
		t.Errorf("log: %q", lines)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// TestWorkerViolates: what a worker may not say ends the connection with hipErrorInvalidValue.
func TestWorkerViolates(t *testing.T) {
	for name, h := range map[string]func(s *wire.ServerConn, r *wire.Request){
		"more bytes than asked for": func(_ *wire.ServerConn, r *wire.Request) { _ = r.ReplyBulk(0, nil, make([]byte, 100)) },
		"no results":                func(_ *wire.ServerConn, r *wire.Request) { _ = r.Reply(0, nil) },
	} {
		host, port := server(t, welcome(wire.Welcome{}), h)
		var log logLines
		c := New(Config{Host: host, Port: port, Logf: log.logf})
		if _, e := c.GetDeviceCount(); e != hip.ErrorInvalidValue {
			t.Errorf("%s: %v", name, e)
		}
		if len(log.all()) != 1 {
			t.Errorf("%s: log %q", name, log.all())
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	host, port := server(t, choosing(t, func([]hip.Span) hip.Span { return hip.Span{Base: 0x10000, Size: 1 << 30} }), func(*wire.ServerConn, *wire.Request) {})
	c := New(Config{Host: host, Port: port, Logf: t.Logf})
	if _, e := c.GetDeviceCount(); e != hip.ErrorInvalidValue {
		t.Errorf("a range that was not offered: %v", e)
	}
}

func TestRefusal(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		if _, _, err := wire.ReadHello(conn, time.Minute); err == nil {
			_ = wire.Refuse(conn, int32(hip.ErrorOutOfMemory), "all sessions are taken")
		}
	}()
	host, port, _ := net.SplitHostPort(l.Addr().String())
	var log logLines
	c := New(Config{Host: host, Port: port, Logf: log.logf})
	if _, e := c.GetDeviceCount(); e != hip.ErrorOutOfMemory {
		t.Errorf("GetDeviceCount: %v", e)
	}
	if lines := log.all(); len(lines) != 1 || !strings.Contains(lines[0], "all sessions are taken") {
		t.Errorf("log: %q", lines)
	}
}

// TestMallocWithinCredit: one grant, then allocations without a reply.
func TestMallocWithinCredit(t *testing.T) {
	var mu sync.Mutex
	count, waited := map[uint16]int{}, 0
	host, port := server(t, choosing(t, firstOffered), func(_ *wire.ServerConn, r *wire.Request) {
		mu.Lock()
		if count[r.Op]++; r.Op == hip.OpFree && !r.NoReply() {
			waited++
		}
		mu.Unlock()
		switch r.Op {
		case hiprpc.OpGrant:
			var p hiprpc.Place
			if !p.Decode(r.Fixed) || p.Size%hip.Granule != 0 {
				_ = r.Reply(int32(hip.ErrorInvalidValue), nil)
				return
			}
			var e wire.Enc
			e.U64(p.Size)
			_ = r.Reply(0, e.B)
		case hip.OpIpcGetMemHandle:
			_ = r.Reply(0, (&hiprpc.IpcGetMemHandleReply{}).Append(nil))
		default:
			if !r.NoReply() {
				_ = r.Reply(0, nil)
			}
		}
	})
	c := New(Config{Host: host, Port: port, Logf: t.Logf})
	seen := map[hip.Ptr]bool{}
	for range 100 {
		p, e := c.Malloc(hip.Thread{}, 10000)
		if e != hip.Success || seen[p] || uint64(p)%hip.Granule != 0 {
			t.Fatalf("Malloc: %v, %v", p, e)
		}
		seen[p] = true
	}
	for p := range seen {
		if e := c.Free(hip.Thread{}, p); e != hip.Success {
			t.Fatal(e)
		}
		if e := c.Free(hip.Thread{}, p); e != hip.ErrorInvalidValue {
			t.Errorf("freed twice: %v", e)
		}
	}
	if e := c.StreamSynchronize(hip.Thread{}, 0); e != hip.Success { // everything posted has arrived
		t.Fatal(e)
	}
	mu.Lock()
	defer mu.Unlock()
	if count[hiprpc.OpGrant] != 1 || count[hiprpc.OpMallocAt] != 100 || count[hip.OpFree] != 100 {
		t.Errorf("messages: %v", count)
	}
	if waited != 0 {
		t.Errorf("%d frees were waited for", waited)
	}
	mu.Unlock()
	// What others may have is freed when hipFree returns: they are told by ways that overtake this one.
	p, e := c.Malloc(hip.Thread{}, 10000)
	if e == hip.Success {
		_, e = c.IpcGetMemHandle(hip.Thread{}, p)
	}
	if e == hip.Success {
		e = c.Free(hip.Thread{}, p)
	}
	if mu.Lock(); e != hip.Success || waited != 1 {
		t.Errorf("memory that was shared: %v, %d frees were waited for", e, waited)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

func TestAsyncErrors(t *testing.T) {
	var a asyncErrors
	if e := a.take(0); e != hip.Success {
		t.Errorf("nothing: %v", e)
	}
	a.add(hiprpc.AsyncError{Seq: 1, Code: hip.ErrorInvalidValue})
	a.add(hiprpc.AsyncError{Seq: 2, Code: hip.ErrorInvalidHandle})
	if !a.first(hiprpc.Failure{Seq: 1}) || a.first(hiprpc.Failure{Seq: 1}) {
		t.Error("a failure that comes with a reply is returned once")
	}
	if e := a.take(0); e != hip.ErrorInvalidHandle {
		t.Errorf("the second failure: %v", e)
	}
	if e := a.take(0); e != hip.Success {
		t.Errorf("after all: %v", e)
	}
	a.add(hiprpc.AsyncError{Seq: 2, Code: hip.ErrorInvalidHandle}) // late: its reply was first
	if e := a.take(0); e != hip.Success {
		t.Errorf("a failure twice: %v", e)
	}
	a.add(hiprpc.AsyncError{Seq: 3, Code: hip.ErrorIllegalAddress, Sticky: true})
	for range 2 {
		if e := a.take(0); e != hip.ErrorIllegalAddress {
			t.Errorf("a dead context: %v", e)
		}
	}
	a.reset(0, 3)
	a.add(hiprpc.AsyncError{Seq: 3, Code: hip.ErrorIllegalAddress, Sticky: true}) // late: of before the reset
	if e := a.take(0); e != hip.Success {
		t.Errorf("after the reset: %v", e)
	}
	a.kill(0, 0, hip.ErrorIllegalAddress) // what was answered to calls that began before it
	a.local(0, 0, hip.ErrorInvalidValue)
	if e := a.take(0); e != hip.Success {
		t.Errorf("after late answers: %v", e)
	}
	a.local(0, 1, hip.ErrorInvalidValue)
	if e := a.take(0); e != hip.ErrorInvalidValue {
		t.Errorf("a failure after the reset: %v", e)
	}
	a.kill(0, 1, hip.ErrorIllegalAddress)
	if e := a.sticky(0); e != hip.ErrorIllegalAddress {
		t.Errorf("a fault after the reset: %v", e)
	}
	// All this is nothing to another device, and its reset nothing to this one.
	a.add(hiprpc.AsyncError{Seq: 4, Device: 1, Code: hip.ErrorInvalidHandle})
	if e := a.take(2); e != hip.Success {
		t.Errorf("another device: %v", e)
	}
	a.reset(2, 100)
	if e := a.take(1); e != hip.ErrorInvalidHandle {
		t.Errorf("the device that it happened on: %v", e)
	}
	a.reset(1, 100)
	if e := a.take(0); e != hip.ErrorIllegalAddress {
		t.Errorf("a dead context after the reset of others: %v", e)
	}
	a.reset(0, 100)
	if a.some.Load() {
		t.Error("something is left after all resets")
	}
}

func TestWindow(t *testing.T) {
	var w window
	w.init(10)
	if !w.take(4) || !w.take(6) {
		t.Fatal("no room")
	}
	got := make(chan bool)
	go func() { got <- w.take(1) }()
	w.give(4)
	if !<-got {
		t.Error("refused")
	}
	go func() { got <- w.take(20) }()
	w.give(6)
	w.give(1)
	if !<-got {
		t.Error("more than the limit does not fit even alone")
	}
	go func() { got <- w.take(1) }()
	w.end()
	if <-got {
		t.Error("room after the end")
	}
}

func TestFromEnv(t *testing.T) {
	for k, v := range map[string]string{"TF_WORKER_HOST": "gpu", "TF_WORKER_PORT": "99", "TF_CONNECT_TIMEOUT": "2.5", "TF_IO_TIMEOUT": "3m", "TF_DEBUG": "1",
		"ROCWIRE_HOST_MEMORY": "eager", "ROCWIRE_RESERVE": "0", "HIP_VISIBLE_DEVICES": "1", "OTEL_TRACES_SAMPLER": "traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0.01"} {
		t.Setenv(k, v)
	}
	c := FromEnv(os.LookupEnv)
	if c.Host != "gpu" || c.Port != "99" || c.ConnectTimeout != 2500*time.Millisecond || c.IOTimeout != 3*time.Minute || !c.Debug || !c.Eager || !c.NoReserve ||
		c.Devices != "1" || c.TraceEvery != 100 {
		t.Errorf("%+v", c)
	}
	for k := range map[string]string{"TF_WORKER_HOST": "", "TF_WORKER_PORT": "", "TF_CONNECT_TIMEOUT": "", "TF_IO_TIMEOUT": "", "TF_DEBUG": ""} {
		t.Setenv(k, "")
	}
	if c := FromEnv(os.LookupEnv); c.Host != DefaultHost || c.Port != DefaultPort || c.ConnectTimeout != DefaultConnectTimeout || c.IOTimeout != DefaultIOTimeout || c.Debug {
		t.Errorf("defaults: %+v", c)
	}
}
