package wire

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
	mrand "math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// mix makes random calls of all kinds and verifies every reply.
func mix(t *testing.T, c *Client, seed uint64, n int) {
	r := mrand.New(mrand.NewPCG(seed, 1))
	size := func() int {
		switch r.IntN(10) {
		case 0:
			return r.IntN(300 << 10)
		case 1:
			return bulkCopy - 2 + r.IntN(5)
		case 2, 3:
			return 0
		}
		return r.IntN(200)
	}
	var left sync.WaitGroup
	for i := range n {
		req := []byte(fmt.Sprintf("%d/%d", seed, i))
		switch kind := r.IntN(8); kind {
		case 0, 1, 2, 3: // echo, at once or later, of small or large bulk
			m := GetMsg()
			m.Req = append(m.Req, req...)
			m.Bulk = pattern(size())
			m.Dst = make([]byte, len(m.Bulk)+r.IntN(2))
			op := uint16(opEcho + kind%2)
			if err := c.Call(op, m); err != nil {
				t.Error(err)
				return
			}
			if !bytes.Equal(m.Rep, req) || m.DstN != len(m.Bulk) || !bytes.Equal(m.Dst[:m.DstN], m.Bulk) {
				t.Errorf("call %s: results %q, bulk %d of %d", req, m.Rep, m.DstN, len(m.Bulk))
			}
			PutMsg(m)
		case 4, 5: // the same without waiting
			m := &Msg{Req: req, Bulk: pattern(size())}
			m.Dst = make([]byte, len(m.Bulk))
			left.Add(1)
			if err := c.Go(opSlow, m, func(m *Msg, err error) {
				defer left.Done()
				if err != nil || !bytes.Equal(m.Rep, m.Req) || !bytes.Equal(m.Dst, m.Bulk) {
					t.Errorf("go %s: %v, results %q, bulk %d of %d", m.Req, err, m.Rep, m.DstN, len(m.Bulk))
				}
			}); err != nil {
				t.Error(err)
				left.Done()
				return
			}
		case 6: // posted, with a counter that the handler ignores for this op
			if err := c.Post(opTell, req, nil); err != nil {
				t.Error(err)
			}
		case 7:
			m := &Msg{Req: le32(uint32(size())), Dst: make([]byte, 300<<10)}
			if err := c.Call(opFill, m); err != nil {
				t.Error(err)
				return
			}
			d := NewDec(m.Req)
			if n := int(d.U32()); m.DstN != n || !bytes.Equal(m.Dst[:n], pattern(n)) {
				t.Errorf("fill %d: %d", n, m.DstN)
			}
		}
	}
	left.Wait()
}

func TestConcurrent(t *testing.T) {
	n := 100
	if testing.Short() {
		n = 20
	}
	var told atomic.Int32
	c := start(t, &testServer{t: t}, Options{OnNotify: func(uint16, []byte) { told.Add(1) }})
	within(t, "calls", func() {
		var wg sync.WaitGroup
		for g := range 64 {
			wg.Go(func() { mix(t, c, uint64(g), n) })
		}
		wg.Wait()
	})
	if told.Load() == 0 {
		t.Error("no notice came")
	}
}

func TestUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	c := startOn(t, l, &testServer{t: t}, Options{Address: "unix:" + path})
	within(t, "calls", func() { mix(t, c, 1, 300) })
}

// A connection that is no descriptor is a stream.
func TestTLS(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"gpu7"}, NotAfter: time.Now().Add(time.Hour)},
		&x509.Certificate{SerialNumber: big.NewInt(1)}, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{cert}, PrivateKey: key}}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	done := make(chan error, 1)
	go func() { done <- serveOne(l, &testServer{t: t}) }()
	parsed, err := x509.ParseCertificate(cert)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(parsed)
	conn, err := tls.Dial("tcp", l.Addr().String(), &tls.Config{ServerName: "gpu7", RootCAs: roots})
	if err != nil {
		t.Fatal(err)
	}
	c, err := NewClient(context.Background(), conn, Options{Address: l.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	within(t, "calls", func() {
		mix(t, c, 2, 100)
		m := &Msg{Bulk: pattern(3 * MaxPayload), Dst: make([]byte, 3*MaxPayload)}
		if err := c.Call(opEcho, m); err != nil || !bytes.Equal(m.Bulk, m.Dst) {
			t.Error(m.DstN, err)
		}
	})
	_ = c.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// What a goroutine posts arrives in order and before what it calls afterwards, and what it posts alone arrives without a flush.
func TestOrder(t *testing.T) {
	c := start(t, &testServer{t: t}, Options{})
	n := uint32(0)
	ack := func() {
		m := GetMsg()
		defer PutMsg(m)
		if err := c.Call(opAck, m); err != nil {
			t.Fatal(err)
		}
		if d := NewDec(m.Rep); d.U32() != n {
			t.Fatalf("%d posts, %x have arrived", n, m.Rep)
		}
	}
	r := mrand.New(mrand.NewPCG(1, 2))
	for range 200 {
		for range r.IntN(300) {
			n++
			if err := c.Post(opPost, le32(n), nil); err != nil {
				t.Fatal(err)
			}
		}
		if r.IntN(4) == 0 {
			n++
			if err := c.Post(opPost, le32(n), make([]byte, r.IntN(3*bulkCopy))); err != nil {
				t.Fatal(err)
			}
		}
		ack()
	}
}

func TestPostLeavesAlone(t *testing.T) {
	got := make(chan uint16, 1)
	c := start(t, HandlerFunc(func(r *Request) { got <- r.Op }), Options{})
	for range 5 {
		if err := c.Post(opPost, nil, nil); err != nil {
			t.Fatal(err)
		}
		within(t, "posted request", func() { <-got })
		time.Sleep(3 * time.Millisecond) // let the keeper fall asleep
	}
}

// Thousands of requests with bulk one way while their large replies come the other way: neither side may wait for the other.
func TestBothDirectionsSaturated(t *testing.T) {
	n := 2000
	if testing.Short() {
		n = 500
	}
	for _, op := range []uint16{opEcho, opSlow} { // replies from Handle and from goroutines
		c := start(t, &testServer{t: t}, Options{})
		within(t, "saturated connection", func() {
			var left sync.WaitGroup
			bulk := pattern(64 << 10)
			memory := make([]byte, len(bulk)) // all write the same into it, one at a time
			for range n {
				left.Add(1)
				if err := c.Go(op, &Msg{Bulk: bulk, Dst: memory}, func(m *Msg, err error) {
					if err != nil || m.DstN != len(bulk) {
						t.Error(m.DstN, err)
					}
					left.Done()
				}); err != nil {
					t.Error(err)
				}
			}
			left.Wait()
			if !bytes.Equal(bulk, memory) {
				t.Error("wrong bulk")
			}
		})
	}
}

// The same with many small messages, where a few goroutines only post and nobody reads for long.
func TestSmallSaturated(t *testing.T) {
	c := start(t, &testServer{t: t}, Options{OnNotify: func(uint16, []byte) {}})
	within(t, "saturated connection", func() {
		var left, wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				req := pattern(100)
				for i := range 5000 {
					if i%2 == 0 {
						if err := c.Post(opTell, req, nil); err != nil {
							t.Error(err)
						}
						continue
					}
					left.Add(1)
					if err := c.Go(opEcho, &Msg{Req: req}, func(m *Msg, err error) {
						if err != nil || !bytes.Equal(m.Rep, m.Req) {
							t.Error(err)
						}
						left.Done()
					}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		left.Wait()
		if err := c.Call(opEcho, &Msg{}); err != nil { // behind all that was posted: SHUTDOWN is not sent where there is no room for it
			t.Error(err)
		}
	})
}

// Connections that end at any moment leave no descriptor behind, and every call returns.
func TestEndsAnytime(t *testing.T) {
	for i := range 30 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		before := descriptors(t)
		done := make(chan error, 1)
		var conn atomic.Pointer[ServerConn]
		h := &testServer{t: t}
		go func() {
			done <- serveOne(l, HandlerFunc(func(r *Request) { conn.Store(r.Conn()); h.Handle(r) }))
		}()
		c, err := dial(Options{Address: l.Addr().String()})
		if err != nil {
			t.Fatal(err)
		}
		_ = l.Close() // nobody is there who could be asked why the connection ended, for which a client takes its time
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				m := &Msg{Bulk: pattern(50000), Dst: make([]byte, 50000)}
				for {
					if err := c.Call(opSlow, m); err != nil {
						if !errors.Is(err, ErrLost) && !errors.Is(err, ErrClosed) {
							t.Error(err)
						}
						return
					}
				}
			})
		}
		time.Sleep(time.Duration(i%10) * time.Millisecond)
		within(t, "end", func() {
			if s := conn.Load(); s != nil && i%3 == 0 {
				s.Close("test")
			} else if i%3 == 1 && s != nil {
				s.t.shutdown()
			} else {
				_ = c.Close()
			}
			wg.Wait()
			<-done
			_ = c.Close()
		})
		within(t, "descriptors", func() {
			for descriptors(t) > before-1 {
				time.Sleep(time.Millisecond)
			}
		})
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	e, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(e)
}

// Neither calls nor posts nor the server's side of them allocate.
func TestNoAllocations(t *testing.T) {
	c := start(t, &testServer{t: t}, Options{})
	m := GetMsg()
	m.Req = append(m.Req, "request"...)
	call := func() {
		if err := c.Call(opEcho, m); err != nil {
			t.Fatal(err)
		}
	}
	call()
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	if n := testing.AllocsPerRun(1000, call); n >= 0.5 {
		t.Errorf("%v allocations per call", n)
	}
	if n := testing.AllocsPerRun(1000, func() { _ = c.Post(0x7777, m.Req, nil) }); n >= 0.5 {
		t.Errorf("%v allocations per post", n)
	}
}
