package session

import (
	"encoding/binary"
	"errors"
	"log/slog"
	"math"
	"net"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/examples/kernels"
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipv1"
	"github.com/rocwire/rocwire/simgpu"
)

// pair is a session on a simulated card, and a client of it.
type pair struct {
	*hipv1.Client
	t     testing.TB
	conn  net.Conn // the client's
	sess  *Session
	ended chan error // how the session has ended
}

// sockets is a connection's ends.
func sockets(t testing.TB) (a, b net.Conn) {
	t.Helper()
	p, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	var ends [2]net.Conn
	for i, fd := range p {
		f := os.NewFile(uintptr(fd), "session")
		if ends[i], err = net.FileConn(f); err != nil {
			t.Fatal(err)
		}
		_ = f.Close()
	}
	return ends[0], ends[1]
}

// ledger counts what a session has.
type ledger struct{ held, limit uint64 }

func (l *ledger) Take(n uint64) bool {
	if n > l.limit-l.held {
		return false
	}
	l.held += n
	return true
}

func (l *ledger) Give(n uint64) {
	if n > l.held {
		panic("more is given than was taken")
	}
	l.held -= n
}

func start(t testing.TB, change func(*Config)) *pair {
	t.Helper()
	rt, err := simgpu.New(simgpu.Options{Arch: "gfx942", MemoryBytes: 256 << 20, Cards: 2, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := sockets(t)
	c := Config{
		Conn: theirs, Runtime: rt, Placer: rt, Log: slog.New(slog.DiscardHandler), Memory: &ledger{limit: 64 << 20}, Cost: func(hip.HandleKind) uint64 { return 1 << 10 },
		ModuleCost: 1 << 10, GraphCost: 1 << 10, PlaceCost: 1 << 10,
		Cards: func(op hipv1.Op, _ []byte) (int32, []byte) { return hipv1.SMINotInitialised, nil },
	}
	if change != nil {
		change(&c)
	}
	p := &pair{Client: hipv1.NewClient(ours, time.Minute), t: t, conn: ours, sess: New(c), ended: make(chan error, 1)}
	go func() {
		err := p.sess.Serve(nil)
		_ = theirs.Close()
		p.ended <- err
	}()
	t.Cleanup(func() {
		_ = p.Close()
		<-p.ended
		p.ended <- nil
		_ = rt.Close()
	})
	return p
}

// ask is a call that succeeds.
func (p *pair) ask(op hipv1.Op, req any, tail []byte, resp any) []byte {
	p.t.Helper()
	rest, err := p.Call(op, req, tail, resp)
	if err != nil {
		p.t.Fatalf("%v: %v", op, err)
	}
	return rest
}

// fails is a call that does not.
func (p *pair) fails(want hip.Error, op hipv1.Op, req any, tail []byte) {
	p.t.Helper()
	if _, err := p.Call(op, req, tail, nil); !errors.Is(err, want) {
		p.t.Errorf("%v: %v, want %v", op, err, want)
	}
}

// post is a call without a reply.
func (p *pair) post(op hipv1.Op, req any, tail []byte) {
	p.t.Helper()
	if err := p.Post(op, req, tail); err != nil {
		p.t.Fatalf("%v: %v", op, err)
	}
}

// sync waits for everything, which must have gone well.
func (p *pair) sync() {
	p.t.Helper()
	p.ask(hipv1.OpDeviceSynchronize, nil, nil, nil)
}

func vectorAdd(t testing.TB) []byte {
	t.Helper()
	b, err := kernels.Object("gfx942", "vector_add")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func floats(n int, f func(i int) float32) []byte {
	b := make([]byte, 0, 4*n)
	for i := range n {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f(i)))
	}
	return b
}

// names are what a client of April's dialect invents.
const (
	vmodule = 0xBF0000000000
	vfunc   = 0xAF0000000000
	vstream = 0x5F0000000000
)

func name1024(s string) (b [1024]byte) {
	hipv1.PutText(b[:], s)
	return b
}
