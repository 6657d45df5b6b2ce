package worker

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"runtime/debug"
	"sync"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/examples/kernels"
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/hipremote"
	"github.com/rocwire/rocwire/simgpu"
	"github.com/rocwire/rocwire/wire"
)

// fuzzPatience is how long a session may take to end once its client has gone.
const fuzzPatience = time.Minute

// FuzzSession gives a session on a simulated card a client's bytes, behind its handshake: whatever they are, the session ends when the client does, without a panic and
// with no other failure than a connection's.
func FuzzSession(f *testing.F) {
	b := recordSession(f)
	f.Add(b)
	f.Add(b[:len(b)/2])
	for n := 0; n < len(b); { // a session of each message, but for its number
		h, err := wire.ParseHeader(b[n:])
		if err != nil {
			f.Fatal(err)
		}
		m := bytes.Clone(b[n : n+wire.HeaderSize+int(h.Length)])
		n += len(m)
		binary.LittleEndian.PutUint32(m[8:], 1)
		f.Add(m)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		ours, theirs := socketPair(t)
		defer ours.Close()
		done := make(chan error, 1)
		go func() { done <- fuzzedSession(theirs, &hiprpc.Offer{}, nil) }()
		go func() {
			_, _ = ours.Write(b)
			_ = ours.(*net.UnixConn).CloseWrite()
		}()
		go func() { _, _ = io.Copy(io.Discard, ours) }()
		select {
		case err := <-done:
			if err != nil && !errors.Is(err, wire.ErrLost) && !errors.Is(err, wire.ErrProtocol) {
				t.Error(err)
			}
		case <-time.After(fuzzPatience):
			debug.SetTraceback("all") // a panic in a test shows its own goroutine only
			panic("the session does not end")
		}
	})
}

func socketPair(t testing.TB) (a, b net.Conn) {
	t.Helper()
	p, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	var ends [2]net.Conn
	for i, fd := range p {
		file := os.NewFile(uintptr(fd), "session")
		if ends[i], err = net.FileConn(file); err != nil {
			t.Fatal(err)
		}
		_ = file.Close()
	}
	return ends[0], ends[1]
}

// fuzzedSession serves a session on a card of its own until its client goes.
func fuzzedSession(sock net.Conn, offer *hiprpc.Offer, features []string) error {
	rt, err := simgpu.New(simgpu.Options{MemoryBytes: 16 << 20, Workers: 1, OnOutput: func(bool, []byte) {}})
	if err != nil {
		return err
	}
	defer rt.Close()
	conn, err := wire.NewServerConn(sock, wire.ServerOptions{})
	if err != nil {
		return err
	}
	s := newSession(rt, conn, slog.New(slog.DiscardHandler))
	s.account(256 << 20)
	within := s.limit()
	defer within.Close()
	s.handles.own = true
	w := wire.Welcome{Session: 1}
	if err := errors.Join(s.agree(&w, offer, features), conn.Welcome(w)); err != nil {
		return err
	}
	defer s.end()
	return conn.Serve(s)
}

// overheard is a connection of which what comes in is kept.
type overheard struct {
	net.Conn
	mu sync.Mutex
	b  []byte
}

func (o *overheard) Read(p []byte) (int, error) {
	n, err := o.Conn.Read(p)
	o.mu.Lock()
	o.b = append(o.b, p[:n]...)
	o.mu.Unlock()
	return n, err
}

// recordSession gives what a client sends behind its handshake that allocates, copies, launches a kernel, and uses a stream, an event and a host function.
func recordSession(t testing.TB) []byte {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var heard overheard
	done := make(chan error, 1)
	go func() {
		done <- func() (err error) {
			if heard.Conn, err = l.Accept(); err != nil {
				return err
			}
			if _, _, err := wire.ReadHello(heard.Conn, fuzzPatience); err != nil {
				return err
			}
			return fuzzedSession(&heard, &hiprpc.Offer{}, nil)
		}()
	}()
	c := hipremote.New(hipremote.Config{Host: "127.0.0.1", Port: fmt.Sprint(l.Addr().(*net.TCPAddr).Port), NoReserve: true, NoShare: true, Logf: t.Logf})
	if err := errors.Join(recorded(c), c.Close(), <-done); err != nil {
		t.Fatal(err)
	}
	return heard.b
}

// recorded is the program.
func recorded(rt hip.Runtime) error {
	th := hip.Thread{}
	image, err := kernels.Object("gfx942", "vector_add")
	if err != nil {
		return err
	}
	host := make([]byte, 256)
	p, e1 := rt.Malloc(th, 4096)
	s, e2 := rt.StreamCreateWithPriority(th, 1, 0)
	ev, e3 := rt.EventCreateWithFlags(th, 0)
	m, e4 := rt.ModuleLoadData(th, image)
	f, e5 := rt.ModuleGetFunction(th, m, "vector_add")
	var args []byte
	for i := range 3 {
		args = binary.LittleEndian.AppendUint64(args, uint64(p)+uint64(i)*256)
	}
	args = binary.LittleEndian.AppendUint32(args, 64)
	at := hip.Ptr(uintptr(unsafe.Pointer(&host[0])))
	for i, e := range []hip.Error{e1, e2, e3, e4, e5,
		rt.Memcpy(th, p, at, 256, hip.MemcpyHostToDevice),
		rt.MemsetAsync(th, p+256, 1, 256, s),
		rt.LaunchKernel(th, &hip.Launch{Function: f, Grid: hip.Dim3{X: 1, Y: 1, Z: 1}, Block: hip.Dim3{X: 64, Y: 1, Z: 1}, Stream: s, Args: args}),
		rt.EventRecord(th, ev, s),
		rt.LaunchHostFunc(th, s, func() {}),
		rt.StreamSynchronize(th, s),
		rt.Memcpy(th, p+1024, p+512, 256, hip.MemcpyDeviceToDevice),
		rt.Memcpy(th, at, p+1024, 256, hip.MemcpyDeviceToHost),
		rt.EventDestroy(th, ev), rt.StreamDestroy(th, s), rt.ModuleUnload(th, m), rt.Free(th, p),
	} {
		if e != hip.Success {
			return fmt.Errorf("call %d: %v", i, e)
		}
	}
	return nil
}
