package worker_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/rocwire/rocwire/examples/kernels"
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipv1"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/worker"
	"github.com/rocwire/rocwire/worker/simbackend"
)

// v1 is a client of the earlier protocol, in April's dialect.
type v1 struct {
	*hipv1.Client
	t    *testing.T
	conn net.Conn
}

func dialV1(t *testing.T, w *worker.Server) *v1 {
	t.Helper()
	conn, err := net.Dial("tcp", w.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c := &v1{hipv1.NewClient(conn, 2*time.Minute), t, conn}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func (c *v1) ask(op hipv1.Op, req any, tail []byte, resp any) []byte {
	c.t.Helper()
	rest, err := c.Call(op, req, tail, resp)
	if err != nil {
		c.t.Fatalf("%v: %v", op, err)
	}
	return rest
}

func (c *v1) post(op hipv1.Op, req any, tail []byte) {
	c.t.Helper()
	if err := c.Post(op, req, tail); err != nil {
		c.t.Fatalf("%v: %v", op, err)
	}
}

const v1Base = 0x7F0000000000

// hello runs vector_add at addresses of the client's own.
func (c *v1) hello() {
	c.t.Helper()
	co, err := kernels.Object("gfx942", "vector_add")
	if err != nil {
		c.t.Fatal(err)
	}
	const n, module, function = 1000, 0xBF0000000000, 0xAF0000000000
	a, b, sum := make([]byte, 4*n), make([]byte, 4*n), make([]byte, 4*n)
	for i := range n {
		binary.LittleEndian.PutUint32(a[4*i:], math.Float32bits(float32(i)))
		binary.LittleEndian.PutUint32(b[4*i:], math.Float32bits(float32(2*i)))
		binary.LittleEndian.PutUint32(sum[4*i:], math.Float32bits(float32(3*i)))
	}
	var seg []byte
	for i := range uint64(3) {
		c.post(hipv1.OpMallocVaddr, &hipv1.MallocVaddrRequest{Vaddr: v1Base + i*0x1000, Size: 4 * n}, nil)
		seg = binary.LittleEndian.AppendUint64(seg, v1Base+i*0x1000)
	}
	seg = binary.LittleEndian.AppendUint64(seg, n)
	c.post(hipv1.OpMemcpy, &hipv1.MemcpyRequest{Dst: v1Base, Size: 4 * n, Kind: 1}, a)
	c.post(hipv1.OpMemcpy, &hipv1.MemcpyRequest{Dst: v1Base + 0x1000, Size: 4 * n, Kind: 1}, b)
	c.post(hipv1.OpModuleLoadData, &hipv1.ModuleLoadRequest{DataSize: uint64(len(co)), Vhandle: module}, co)
	q := &hipv1.ModuleGetFunctionRequest{Module: module, Vhandle: function}
	hipv1.PutText(q.FunctionName[:], "vector_add")
	c.ask(hipv1.OpModuleGetFunction, q, nil, new(hipv1.ModuleGetFunctionReply))
	l := &hipv1.LaunchKernelRequest{Function: function, GridDimX: 4, GridDimY: 1, GridDimZ: 1, BlockDimX: 256, BlockDimY: 1, BlockDimZ: 1, NumArgs: 1, LaunchFlags: 1}
	c.post(hipv1.OpLaunchKernel, l, append(binary.LittleEndian.AppendUint64(nil, uint64(len(seg))), seg...))
	if got := c.ask(hipv1.OpMemcpy, &hipv1.MemcpyRequest{Src: v1Base + 0x2000, Size: 4 * n, Kind: 2}, nil, nil); !bytes.Equal(got, sum) {
		c.t.Error("the sum is wrong")
	}
}

// session is the one that the worker has, once it has one.
func theSession(t *testing.T, w *worker.Server) (s smi.Session) {
	t.Helper()
	eventually(t, "there is a session", func() bool {
		all := w.Sessions()
		if len(all) == 1 {
			s = all[0]
		}
		return len(all) == 1
	})
	return s
}

func noSessions(t *testing.T, w *worker.Server) {
	t.Helper()
	eventually(t, "no session is left", func() bool { return len(w.Sessions()) == 0 })
}

// A program of the earlier protocol gets a session like any other, beside those of ours, and is accounted for.
func TestV1(t *testing.T) {
	w := serve(t, simbackend.Options{Arch: "gfx942", Cards: 2}, worker.Config{})
	c := dialV1(t, w)
	if rest := c.ask(hipv1.OpInit, nil, nil, nil); len(rest) != 0 {
		t.Errorf("INIT was answered with %d bytes beside the code", len(rest))
	}
	c.hello()
	own := connect(t, w)
	if n, e := own.GetDeviceCount(); e != hip.Success || n != 2 {
		t.Errorf("a client of ours: %d devices, %v", n, e)
	}
	_ = own.Close()
	eventually(t, "ours has gone", func() bool { return len(w.Sessions()) == 1 })
	s := theSession(t, w)
	if !strings.HasPrefix(s.Client.Address, "127.0.0.1:") || s.Client.User != "" || s.Client.Host != "" {
		t.Errorf("%+v", s.Client)
	}
	eventually(t, "its calls and memory are accounted for", func() bool {
		s := theSession(t, w)
		return s.Calls.Or(0) >= 9 && s.BytesIn.Or(0) > 8000 && s.BytesOut.Or(0) > 4000 && s.VRAM.Or(0) >= 3*4096
	})
	eventually(t, "its calls are in the statistics", func() bool {
		for _, r := range w.Calls().Calls() {
			if r.Op == "hipModuleLaunchKernel" {
				return true
			}
		}
		return false
	})
	c.ask(hipv1.OpShutdown, nil, nil, nil)
	noSessions(t, w)
}

// Questions about cards come first, in between or behind, on the same connection.
func TestV1Cards(t *testing.T) {
	w := serve(t, simbackend.Options{Arch: "gfx942", Cards: 2}, worker.Config{})
	c := dialV1(t, w)
	look := func() {
		t.Helper()
		var n hipv1.SMIProcessorCountReply
		c.ask(hipv1.OpSMIGetProcessorCount, nil, nil, &n)
		var m hipv1.SMIGPUMetricsReply
		c.ask(hipv1.OpSMIGetGPUMetrics, &hipv1.SMIProcessorRequest{ProcessorIndex: 1}, nil, &m)
		var a hipv1.SMIASICInfoReply
		c.ask(hipv1.OpSMIGetASICInfo, &hipv1.SMIProcessorRequest{}, nil, &a)
		if n.ProcessorCount != 2 || m.VRAMTotal != 1<<30 || m.AverageSocketPower == 0 || !bytes.HasPrefix(a.MarketName[:], []byte("AMD Instinct")) {
			t.Errorf("%d cards, %+v, %q", n.ProcessorCount, m, a.MarketName[:40])
		}
		if _, err := c.Call(hipv1.OpSMIGetGPUMetrics, &hipv1.SMIProcessorRequest{ProcessorIndex: 2}, nil, nil); !errors.Is(err, hipv1.CodeError(hipv1.SMIBadMetrics)) {
			t.Errorf("a card that is not there: %v", err)
		}
		if _, err := c.Call(hipv1.OpSMIGetPowerInfo, nil, nil, nil); !errors.Is(err, hipv1.CodeError(hipv1.SMIBadIndex)) {
			t.Errorf("no card: %v", err)
		}
	}
	c.ask(hipv1.OpSMIInit, &hipv1.SMIInitRequest{InitFlags: 2}, nil, nil)
	look()
	if len(w.Sessions()) != 0 {
		t.Error("who only asks has a session")
	}
	c.ask(hipv1.OpInit, []byte("/hip_shm_1\x00"), nil, nil)
	theSession(t, w)
	look()
	c.hello()
	look()
	_ = c.Close()
	noSessions(t, w)
}

// A session of theirs is ended like any other, keeps to its quota, and counts among those that there may be.
func TestV1Limits(t *testing.T) {
	w := serve(t, simbackend.Options{}, worker.Config{MaxSessions: 1, Quota: smi.Quota{Memory: smi.Some(smi.Bytes(1 << 20))}})
	c := dialV1(t, w)
	c.ask(hipv1.OpInit, nil, nil, nil)
	c.post(hipv1.OpMallocVaddr, &hipv1.MallocVaddrRequest{Vaddr: v1Base, Size: 2 << 20}, nil)
	if _, err := c.Call(hipv1.OpDeviceSynchronize, nil, nil, nil); !errors.Is(err, hip.ErrorOutOfMemory) {
		t.Errorf("more than the quota: %v", err)
	}
	c.post(hipv1.OpMallocVaddr, &hipv1.MallocVaddrRequest{Vaddr: v1Base, Size: 1 << 20}, nil)
	c.ask(hipv1.OpDeviceSynchronize, nil, nil, nil)
	other := dialV1(t, w)
	if _, err := other.Call(hipv1.OpInit, nil, nil, nil); !errors.Is(err, hip.ErrorNotInitialized) {
		t.Errorf("one client too many: %v", err)
	}
	if err := w.KillSession(theSession(t, w).ID, "a test"); err != nil {
		t.Fatal(err)
	}
	noSessions(t, w)
	if _, err := c.Call(hipv1.OpDeviceSynchronize, nil, nil, nil); err == nil {
		t.Error("a session that was ended answers")
	}
}

// A session process that ends because the worker wants it to has not failed.
func TestV1Ended(t *testing.T) {
	said, log, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	stderr := os.Stderr
	t.Cleanup(func() { os.Stderr = stderr }) // when the worker has ended
	os.Stderr = log                          // where session processes' output goes
	w := serve(t, simbackend.Options{}, worker.Config{})
	c := dialV1(t, w)
	c.ask(hipv1.OpInit, nil, nil, nil)
	if err := w.KillSession(theSession(t, w).ID, "a test"); err != nil {
		t.Fatal(err)
	}
	log.Close()
	if b, err := io.ReadAll(said); err != nil || len(b) != 0 {
		t.Errorf("it said %q, %v", b, err)
	}
}

// Names of one session mean nothing in another.
func TestV1Strangers(t *testing.T) {
	w := serve(t, simbackend.Options{}, worker.Config{})
	a, b := dialV1(t, w), dialV1(t, w)
	a.ask(hipv1.OpInit, nil, nil, nil)
	b.ask(hipv1.OpInit, nil, nil, nil)
	a.hello()
	var e hipv1.EventCreateReply
	a.ask(hipv1.OpEventCreate, &hipv1.EventCreateRequest{}, nil, &e)
	for _, x := range []struct {
		op   hipv1.Op
		req  any
		want hip.Error
	}{
		{hipv1.OpMemcpy, &hipv1.MemcpyRequest{Src: v1Base, Size: 16, Kind: 2}, hip.ErrorInvalidValue},
		{hipv1.OpFree, &hipv1.FreeRequest{DevicePtr: v1Base}, hip.ErrorInvalidValue},
		{hipv1.OpEventSynchronize, &hipv1.EventRequest{Event: e.Event}, hip.ErrorInvalidHandle},
		{hipv1.OpModuleUnload, &hipv1.ModuleUnloadRequest{Module: 0xBF0000000000}, hip.ErrorInvalidHandle},
		{hipv1.OpStreamSynchronize, &hipv1.StreamRequest{Stream: 0x5F0000000000}, hip.ErrorContextIsDestroyed},
	} {
		if _, err := b.Call(x.op, x.req, nil, nil); !errors.Is(err, x.want) {
			t.Errorf("%v: %v, want %v", x.op, err, x.want)
		}
	}
	a.ask(hipv1.OpEventSynchronize, &hipv1.EventRequest{Event: e.Event}, nil, nil)
}

// What is no message ends its session, after an answer, and nobody else's.
func TestV1Hostile(t *testing.T) {
	w := serve(t, simbackend.Options{}, worker.Config{})
	good := dialV1(t, w)
	good.ask(hipv1.OpInit, nil, nil, nil)
	for name, f := range map[string]func(c *v1) error{
		"an argument at 0xfffffff0": func(c *v1) error {
			tail := binary.LittleEndian.AppendUint32(nil, 8)
			tail = binary.LittleEndian.AppendUint32(tail, 0xFFFFFFF0)
			_, err := c.Call(hipv1.OpLaunchKernel, &hipv1.LaunchKernelRequest{NumArgs: 1, LaunchFlags: 1}, append(tail, make([]byte, 8)...), nil)
			return err
		},
		"a code object longer than the payload": func(c *v1) error {
			_, err := c.Call(hipv1.OpModuleLoadData, &hipv1.ModuleLoadRequest{DataSize: 1 << 30}, []byte("\x7fELF"), nil)
			return err
		},
		"a copy of more than it brings": func(c *v1) error {
			_, err := c.Call(hipv1.OpMemcpy, &hipv1.MemcpyRequest{Dst: v1Base, Size: 1 << 30, Kind: 1}, []byte("four"), nil)
			return err
		},
		"a request that is cut": func(c *v1) error {
			_, err := c.Call(hipv1.OpFree, uint32(0), nil, nil)
			return err
		},
	} {
		c := dialV1(t, w)
		c.ask(hipv1.OpInit, nil, nil, nil)
		if err := f(c); !errors.Is(err, hip.ErrorInvalidValue) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := c.Call(hipv1.OpDeviceSynchronize, nil, nil, nil); err == nil {
			t.Errorf("%s: the session lives", name)
		}
	}
	garbage := dialV1(t, w)
	garbage.ask(hipv1.OpInit, nil, nil, nil)
	_, _ = garbage.conn.Write([]byte(strings.Repeat("garbage ", 10)))
	if n, err := io.Copy(io.Discard, garbage.conn); n != 0 || err != nil {
		t.Errorf("garbage was answered with %d bytes, %v", n, err)
	}
	if _, err := good.Call(0x0730, nil, nil, nil); !errors.Is(err, hip.ErrorNotSupported) {
		t.Errorf("an operation that is not served: %v", err)
	}
	good.hello()
	eventually(t, "only the good one is left", func() bool { return len(w.Sessions()) == 1 })
}

// A worker that takes TLS takes nothing else, unless it is told to: who cannot speak it is told so in words that it knows.
func TestV1WithoutTLS(t *testing.T) {
	d := keysAt(t)
	for _, allow := range []bool{false, true} {
		w := serve(t, simbackend.Options{}, worker.Config{TLS: serverTLS(d), AllowV1: allow})
		c := dialV1(t, w)
		_, err := c.Call(hipv1.OpInit, nil, nil, nil)
		if allow && err != nil || !allow && !errors.Is(err, hip.ErrorNotInitialized) {
			t.Errorf("allowed %v: %v", allow, err)
		}
	}
}
