package wire

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rocwire/rocwire/internal/cutproxy"
)

// Operations of a script's server, besides those of testServer.
const (
	opOnce = opTell + 1 + iota // u32 n: answers with how often n has been handled
	opKeep                     // its bulk is added to a sum, and the reply is the sum
)

// exactServer counts how often it has handled what.
type exactServer struct {
	testServer
	mu   sync.Mutex
	seen map[uint32]int
	sum  uint32
}

func newExactServer(t testing.TB) *exactServer {
	return &exactServer{testServer: testServer{t: t}, seen: map[uint32]int{}}
}

func (s *exactServer) Handle(r *Request) {
	switch r.Op {
	case opOnce:
		n := binary.LittleEndian.Uint32(r.Fixed)
		s.mu.Lock()
		s.seen[n]++
		k := s.seen[n]
		s.mu.Unlock()
		_ = r.Reply(0, le32(uint32(k)))
	case opKeep:
		b := make([]byte, r.BulkLen)
		if r.ReadBulk(b) == nil {
			s.sum = crc32.Update(s.sum, castagnoli, b)
			_ = r.Reply(0, le32(s.sum))
		}
	default:
		s.testServer.Handle(r)
	}
}

// script is a short session that checks every answer.
type script struct {
	c     *Client
	told  chan []byte
	n     uint32 // of opOnce
	posts uint32
	sum   uint32
	rng   *rand.Rand
}

func newScript(t testing.TB, opt Options) *script {
	t.Helper()
	x := &script{told: make(chan []byte, 100), rng: rand.New(rand.NewPCG(1, 2))}
	opt.OnNotify = func(op uint16, p []byte) { x.told <- p }
	if opt.Reconnect == 0 {
		opt.Reconnect = patience
	}
	c, err := dial(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { within(t, "Close", func() { _ = c.Close() }) })
	x.c = c
	return x
}

func (x *script) random(n int) []byte {
	b := make([]byte, n+7)
	for i := 0; i < n; i += 8 {
		binary.LittleEndian.PutUint64(b[i:], x.rng.Uint64())
	}
	return b[:n]
}

// once makes a call and checks that the server has handled it once.
func (x *script) once() error {
	m := GetMsg()
	defer PutMsg(m)
	x.n++
	m.Req = append(m.Req, le32(x.n)...)
	if err := x.c.Call(opOnce, m); err != nil {
		return err
	}
	if k := binary.LittleEndian.Uint32(m.Rep); k != 1 {
		return fmt.Errorf("call %d was handled %d times", x.n, k)
	}
	return nil
}

// echo sends bulk that comes back.
func (x *script) echo(op uint16, n int) error {
	m := GetMsg()
	defer PutMsg(m)
	m.Req = append(m.Req, x.random(5)...)
	m.Bulk, m.Dst = x.random(n), make([]byte, n)
	if err := x.c.Call(op, m); err != nil {
		return err
	}
	if !bytes.Equal(m.Rep, m.Req) || m.DstN != n || !bytes.Equal(m.Dst, m.Bulk) {
		return fmt.Errorf("an echo of %d bytes is another", n)
	}
	return nil
}

// keep posts bulk and spoils it at once.
func (x *script) keep(n int) error {
	b := x.random(n)
	x.sum = crc32.Update(x.sum, castagnoli, b)
	if err := x.c.Post(opKeep, nil, b); err != nil {
		return err
	}
	clear(b)
	return nil
}

// kept checks what the server has made of it.
func (x *script) kept() error {
	m := GetMsg()
	defer PutMsg(m)
	if err := x.c.Call(opKeep, m); err != nil {
		return err
	}
	if got := binary.LittleEndian.Uint32(m.Rep); got != x.sum {
		return fmt.Errorf("the server's sum is %#x, not %#x", got, x.sum)
	}
	return nil
}

func (x *script) post(n int) error {
	for range n {
		x.posts++
		if err := x.c.Post(opPost, le32(x.posts), nil); err != nil {
			return err
		}
	}
	m := GetMsg()
	defer PutMsg(m)
	if err := x.c.Call(opAck, m); err != nil {
		return err
	}
	if got := binary.LittleEndian.Uint32(m.Rep); got != x.posts {
		return fmt.Errorf("%d posts were handled, not %d", got, x.posts)
	}
	return nil
}

func (x *script) notice() error {
	m := GetMsg()
	defer PutMsg(m)
	m.Req = append(m.Req, x.random(9)...)
	if err := x.c.Call(opTell, m); err != nil {
		return err
	}
	select {
	case p := <-x.told:
		if !bytes.Equal(p, m.Req) {
			return fmt.Errorf("another notice: %x", p)
		}
	case <-time.After(patience):
		return fmt.Errorf("no notice")
	}
	if len(x.told) > 0 {
		return fmt.Errorf("a notice came twice")
	}
	return nil
}

// fetch gets bulk from another goroutine of the server's.
func (x *script) fetch(n int) error {
	m := GetMsg()
	defer PutMsg(m)
	m.Req, m.Dst = append(m.Req, le32(uint32(n))...), make([]byte, n)
	if err := x.c.Call(opFill, m); err != nil {
		return err
	}
	if m.DstN != n || !bytes.Equal(m.Dst, pattern(n)) {
		return fmt.Errorf("%d bytes are others", n)
	}
	return nil
}

func (x *script) run() error {
	for _, f := range []func() error{
		x.once, func() error { return x.post(3) }, x.notice, func() error { return x.keep(bulkCopy + 1) }, x.kept, func() error { return x.fetch(bulkCopy + 1) },
	} {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

// TestCutEverywhere cuts a session at every byte, in both directions.
func TestCutEverywhere(t *testing.T) {
	s := newLastingServer(t, patience, func() Handler { return newExactServer(t) })
	p := cutproxy.New(t, s.l.Addr().String())
	x := newScript(t, Options{Address: p.Addr()})
	before := p.Traffic()
	if err := x.run(); err != nil {
		t.Fatal(err)
	}
	after := p.Traffic()
	step := 1
	if raceEnabled || testing.Short() {
		step = 97
	}
	for dir := range 2 {
		cuts := p.Cuts()
		n := after[dir] - before[dir]
		for at := 0; at < n; at += step {
			p.Arm(dir, at, at/step%2 == 0)
			within(t, fmt.Sprintf("cut %d at byte %d", dir, at), func() {
				if err := x.run(); err != nil {
					t.Fatalf("cut %d at byte %d of %d: %v", dir, at, n, err)
				}
			})
		}
		p.Disarm()
		if got := p.Cuts() - cuts; got < n/step*9/10 {
			t.Errorf("only %d cuts for %d bytes", got, n)
		}
	}
	if n, refused := s.counts(); n == 0 || len(refused) > 0 {
		t.Errorf("%d resumptions, refused: %v", n, refused)
	}
	if err := x.run(); err != nil { // and the last cut has been noticed
		t.Error(err)
	}
	within(t, "Close", func() { _ = x.c.Close() })
	if err := s.end(1); err != nil {
		t.Error(err)
	}
}

// TestCutAtRandom cuts while several goroutines use the connection.
func TestCutAtRandom(t *testing.T) {
	s := newLastingServer(t, patience, func() Handler { return newExactServer(t) })
	p := cutproxy.New(t, s.l.Addr().String())
	x := newScript(t, Options{Address: p.Addr(), IOTimeout: patience})
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			y := &script{c: x.c, rng: rand.New(rand.NewPCG(uint64(g), 3)), n: uint32(g+1) << 24}
			for {
				select {
				case <-stop:
					return
				default:
				}
				err := y.once()
				if err == nil {
					err = y.echo(opSlow, y.rng.IntN(300<<10))
				}
				if err == nil && g == 0 { // larger than the window
					err = y.echo(opEcho, replayWindow+y.rng.IntN(replayWindow))
				}
				if err == nil && g == 1 { // who alone has the server's sum
					err = y.lend(1+y.rng.IntN(1<<20), 1+y.rng.IntN(4))
					for _, who := range []func([]byte) error{y.server, y.reclaim, y.reclaimAll} {
						if err == nil {
							err = y.leave(1+y.rng.IntN(1<<20), who)
						}
					}
					if err == nil {
						err = y.kept()
					}
					x.sum = y.sum
				}
				if err == nil {
					err = y.fetch(y.rng.IntN(3 << 20))
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		}()
	}
	cuts := 100
	if testing.Short() {
		cuts = 10
	}
	rng := rand.New(rand.NewPCG(7, 7))
	for i := range cuts {
		p.Arm(rng.IntN(2), rng.IntN(4<<20), i%2 == 0)
		within(t, fmt.Sprint("cut ", i), func() {
			for p.Armed() {
				time.Sleep(100 * time.Microsecond)
			}
		})
	}
	close(stop)
	within(t, "the goroutines", wg.Wait)
	if err := x.c.Err(); err != nil {
		t.Error(err)
	}
	if p.Cuts() != cuts {
		t.Errorf("%d cuts", p.Cuts())
	}
	if err := x.run(); err != nil {
		t.Error(err)
	}
	noneLent(t, &x.c.lasting.win)
}

// noneLent checks that a window has no memory of the user's when nothing is under way.
func noneLent(t *testing.T, w *window) {
	t.Helper()
	if n := lentBytes(w); n != 0 {
		t.Errorf("%d bytes of the user's memory are still in the window", n)
	}
}

// resumeAs sends a resumption as r and gives the answer.
func resumeAs(t *testing.T, address string, r *Resumption) *Welcome {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	w, err := exchange(t.Context(), conn, &Hello{Resume: r}, &sharing{})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestForeignResumption tries to take a session over without knowing its secret. The session does not notice.
func TestForeignResumption(t *testing.T) {
	s := newLastingServer(t, patience, func() Handler { return newExactServer(t) })
	p := cutproxy.New(t, s.l.Addr().String())
	x := newScript(t, Options{Address: p.Addr()})
	if err := x.run(); err != nil {
		t.Fatal(err)
	}
	p.Arm(cutproxy.ToServer, 5, false)
	if err := x.run(); err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	seen := *s.hellos[0].Resume
	s.mu.Unlock()
	wrong := Resumption{Session: 1, Attempt: 100, Received: seen.Received}
	wrong.Prove(make([]byte, secretSize))
	later := seen
	later.Attempt++
	further := seen
	further.Received += 5
	other := seen
	other.Session = 2
	ahead := Resumption{Session: 1, Attempt: 100, Received: 1 << 60}
	ahead.Prove(x.c.again.secret)
	conns := p.Conns()
	for name, r := range map[string]*Resumption{
		"wrong secret": &wrong, "replayed": &seen, "replayed with another attempt": &later, "replayed with another count": &further,
		"no such session": &other, "more than was sent": &ahead,
	} {
		if w := resumeAs(t, s.l.Addr().String(), r); w.Code != CodeNoSession || w.Error == "" || w.Secret != nil {
			t.Errorf("%s: %+v", name, w)
		}
	}
	if err := x.run(); err != nil {
		t.Error(err)
	}
	if p.Conns() != conns {
		t.Error("the session has noticed")
	}
}

// TestResumeUnbroken: the server learns from the client that the old connection is dead.
func TestResumeUnbroken(t *testing.T) {
	s := newLastingServer(t, patience, func() Handler { return newExactServer(t) })
	p := cutproxy.New(t, s.l.Addr().String())
	x := newScript(t, Options{Address: p.Addr(), IOTimeout: 200 * time.Millisecond})
	if err := x.run(); err != nil {
		t.Fatal(err)
	}
	p.Set(true, false) // swallows everything: the client hears nothing for too long
	done := make(chan error, 1)
	go func() { done <- x.run() }()
	for !x.c.isCut() {
		time.Sleep(time.Millisecond)
	}
	p.Set(false, false)
	within(t, "run", func() {
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	if n, _ := s.counts(); n == 0 {
		t.Error("not resumed")
	}
}

// TestWindowFull posts more than the window holds while the connection is cut.
func TestWindowFull(t *testing.T) {
	s := newLastingServer(t, patience, func() Handler { return newExactServer(t) })
	p := cutproxy.New(t, s.l.Addr().String())
	cut := make(chan error, 10)
	x := newScript(t, Options{Address: p.Addr(), OnCut: func(err error) { cut <- err }})
	if err := x.run(); err != nil {
		t.Fatal(err)
	}
	p.Set(false, true)
	p.CutAll()
	<-cut
	done := make(chan error, 1)
	go func() {
		for range replayWindow/(1<<20) + 4 {
			if err := x.keep(1 << 20); err != nil {
				done <- err
				return
			}
		}
		done <- x.kept()
	}()
	within(t, "a full window", func() {
		for x.c.lasting.win.size() < replayWindow {
			time.Sleep(time.Millisecond)
		}
	})
	select {
	case err := <-done:
		t.Fatal("more than the window was taken", err)
	case <-time.After(50 * time.Millisecond):
	}
	p.Set(false, false)
	within(t, "the rest", func() {
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// TestTimeOver: nobody answers, on either side.
func TestTimeOver(t *testing.T) {
	s := newLastingServer(t, 100*time.Millisecond, func() Handler { return newExactServer(t) })
	p := cutproxy.New(t, s.l.Addr().String())
	lost := make(chan error, 1)
	x := newScript(t, Options{Address: p.Addr(), Reconnect: 100 * time.Millisecond, OnLost: func(err error) { lost <- err }})
	if err := x.run(); err != nil {
		t.Fatal(err)
	}
	p.Set(false, true)
	p.CutAll()
	within(t, "a call", func() {
		err := x.run()
		wantErr(t, err, ErrLost)
		if err == nil || !strings.Contains(err.Error(), "could not be resumed") {
			t.Error(err)
		}
		if e := <-lost; e != err {
			t.Error(e)
		}
	})
	err := s.end(1)
	wantErr(t, err, ErrLost)
	if err == nil || !strings.Contains(err.Error(), "has not come back within 100ms") {
		t.Error(err)
	}
}

// TestServerRestarted: another server in the place of the one that had the session says so at once.
func TestServerRestarted(t *testing.T) {
	s := newLastingServer(t, patience, func() Handler { return newExactServer(t) })
	p := cutproxy.New(t, s.l.Addr().String())
	x := newScript(t, Options{Address: p.Addr(), Reconnect: time.Hour})
	if err := x.run(); err != nil {
		t.Fatal(err)
	}
	p.Redirect(newLastingServer(t, patience, func() Handler { return newExactServer(t) }).l.Addr().String())
	p.CutAll()
	within(t, "a call", func() {
		if err := x.run(); err == nil || !strings.Contains(err.Error(), "there is no such session") {
			t.Error(err)
		}
	})
}

// TestResumeLater: a server that has no room for a client just now is asked again, as long as there is time.
func TestResumeLater(t *testing.T) {
	s := newLastingServer(t, patience, func() Handler { return newExactServer(t) })
	p := cutproxy.New(t, s.l.Addr().String())
	lost := make(chan error, 1)
	x := newScript(t, Options{Address: p.Addr()})
	if err := x.run(); err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	s.full = 4
	s.mu.Unlock()
	p.CutAll()
	within(t, "a call", func() {
		if err := x.run(); err != nil {
			t.Error(err)
		}
	})
	s.mu.Lock()
	if s.full != 0 {
		t.Errorf("%d refusals are left", s.full)
	}
	s.full = 1 << 30
	s.mu.Unlock()
	y := newScript(t, Options{Address: p.Addr(), Reconnect: 200 * time.Millisecond, OnLost: func(err error) { lost <- err }})
	if err := y.run(); err != nil {
		t.Fatal(err)
	}
	p.CutAll()
	within(t, "the end", func() {
		if err := <-lost; err == nil || !strings.Contains(err.Error(), "not within 200ms") {
			t.Error(err)
		}
	})
}

// TestOldServer: one that has never heard of resumption begins a new session, which is of no use.
func TestOldServer(t *testing.T) {
	s := newLastingServer(t, patience, func() Handler { return newExactServer(t) })
	p := cutproxy.New(t, s.l.Addr().String())
	x := newScript(t, Options{Address: p.Addr(), Reconnect: time.Hour})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	done := make(chan error, 1)
	go func() { done <- serveOne(l, newExactServer(t)) }()
	p.Redirect(l.Addr().String())
	p.CutAll()
	within(t, "old server", func() {
		if err := x.run(); err == nil || !strings.Contains(err.Error(), "knows nothing of the session") {
			t.Error(err)
		}
		<-done
	})
}

// TestCloseWhileCut must not hang, whoever waits.
func TestCloseWhileCut(t *testing.T) {
	for _, full := range []bool{false, true} {
		s := newLastingServer(t, 50*time.Millisecond, func() Handler { return newExactServer(t) })
		p := cutproxy.New(t, s.l.Addr().String())
		cut := make(chan error, 1)
		x := newScript(t, Options{Address: p.Addr(), Reconnect: time.Hour, OnCut: func(err error) { cut <- err }})
		p.Set(false, true)
		p.CutAll()
		<-cut
		called := make(chan error, 1)
		go func() { called <- x.once() }()
		posted := make(chan error, 1)
		go func() {
			for full {
				if err := x.c.Post(opKeep, nil, make([]byte, 1<<20)); err != nil {
					break
				}
			}
			posted <- nil
		}()
		if full {
			within(t, "a full window", func() {
				for x.c.lasting.win.size() < replayWindow {
					time.Sleep(time.Millisecond)
				}
			})
		}
		within(t, "Close", func() {
			x.c.Leave()
			_ = x.c.Flush()
			_ = x.c.Close()
		})
		within(t, "call and post", func() {
			if err := <-called; err == nil {
				t.Error("a call was answered")
			}
			<-posted
		})
	}
}

// TestNotAskedFor: without the feature a cut is the end, as ever, and ACK is no operation.
func TestNotAskedFor(t *testing.T) {
	s := newLastingServer(t, patience, func() Handler { return newExactServer(t) })
	p := cutproxy.New(t, s.l.Addr().String())
	x := newScript(t, Options{Address: p.Addr(), Reconnect: -1})
	if err := x.run(); err != nil {
		t.Fatal(err)
	}
	p.CutAll()
	within(t, "call", func() { wantErr(t, x.run(), ErrLost) })
	wantErr(t, s.end(1), ErrLost)
}

// TestResumeSecured and the next: other transports are resumed like the plain one, with keys and sums of their own each time.
func TestResumeSecured(t *testing.T) {
	onTLS = true
	t.Cleanup(func() { onTLS = false }) // behind that of the server, which looks at it for every connection
	cutHere(t, Hello{})
}

func TestResumeChecked(t *testing.T) { cutHere(t, Hello{Features: []string{FeatureIntegrity}}) }

// cutHere cuts a session at some bytes.
func cutHere(t *testing.T, hello Hello) {
	s := newLastingServer(t, patience, func() Handler { return newExactServer(t) })
	p := cutproxy.New(t, s.l.Addr().String())
	x := newScript(t, Options{Address: p.Addr(), Hello: hello})
	if err := x.run(); err != nil {
		t.Fatal(err)
	}
	cuts := 0
	for at := 0; at < 9000; at += 331 {
		for dir := range 2 {
			p.Arm(dir, at, cuts%2 == 0)
			within(t, fmt.Sprintf("cut %d at byte %d", dir, at), func() {
				if err := x.run(); err != nil {
					t.Fatalf("cut %d at byte %d: %v", dir, at, err)
				}
			})
			cuts++
		}
	}
	if n := p.Cuts(); n < cuts*3/4 {
		t.Errorf("%d cuts of %d", n, cuts)
	}
	for range 3 { // long messages
		p.Arm(cutproxy.ToServer, 2<<20, true)
		within(t, "echo", func() {
			if err := x.echo(opEcho, 5<<20); err != nil {
				t.Fatal(err)
			}
		})
	}
	if _, checked := x.c.lasting.t.transport.(*secured); !checked {
		t.Errorf("it went on over a %T", x.c.lasting.t.transport)
	}
}
