package worker_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rocwire/rocwire/calls/rpcstats"
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smiremote"
	"github.com/rocwire/rocwire/wire"
	"github.com/rocwire/rocwire/worker"
	"github.com/rocwire/rocwire/worker/admission"
)

// campaign is many bad clients of one worker, each kind with an address of its own on this machine.
type campaign struct {
	*testing.T
	addr string
	ctx  context.Context
	wg   sync.WaitGroup
	said sync.Map // why connections were refused
	did  [8]atomic.Int64
}

// dial connects from an address of this machine.
func (c *campaign) dial(from string) (net.Conn, error) {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	conn, err := d.DialContext(c.ctx, "tcp", c.addr)
	if err == nil {
		context.AfterFunc(c.ctx, func() { _ = conn.Close() })
	}
	return conn, err
}

// greet says hello, and reports whether that was welcome.
func (c *campaign) greet(conn net.Conn, purpose string) bool {
	payload, err := (&wire.Hello{Purpose: purpose}).Append(nil)
	if err != nil {
		c.Error(err)
		return false
	}
	b := append(wire.Header{Version: wire.Version, Op: wire.OpInit, Length: uint32(len(payload))}.Append(nil), payload...)
	if _, err := conn.Write(b); err != nil {
		return false
	}
	head := make([]byte, wire.HeaderSize+4)
	if _, err := io.ReadFull(conn, head); err != nil {
		return false
	}
	rest := make([]byte, binary.LittleEndian.Uint32(head[12:])-4)
	if _, err := io.ReadFull(conn, rest); err != nil {
		return false
	}
	if code := binary.LittleEndian.Uint32(head[wire.HeaderSize:]); code != 0 {
		_, reason, _ := bytes.Cut(rest, []byte("error"))
		c.said.Store(purpose+" "+string(reason), true)
		return false
	}
	return true
}

// every starts n clients that do something again and again, with a connection each.
func (c *campaign) every(kind, n int, from string, do func(net.Conn)) {
	for range n {
		c.wg.Go(func() {
			for c.ctx.Err() == nil {
				conn, err := c.dial(from)
				if err != nil {
					continue
				}
				c.did[kind].Add(1)
				do(conn)
				_ = conn.Close()
				time.Sleep(20 * time.Millisecond) // or the bad clients take the processor, which is no matter of limits
			}
		})
	}
}

// request is a frame.
func request(op uint16, id uint32, payload []byte) []byte {
	return append(wire.Header{Version: wire.Version, Op: op, ID: id, Length: uint32(len(payload))}.Append(nil), payload...)
}

// Many kinds of bad clients at once: an honest one works, management answers, and the operator's way in is free.
func TestCampaign(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "w.sock")
	w := serve(t, cards(1), worker.Config{
		Listen: "127.0.0.1", Socket: worker.Socket{Path: socket}, MaxSessions: 6, HelloTimeout: 5 * time.Second,
		Limits: admission.Limits{SessionsPerAddress: 3, Managers: 32, ManagersPerAddress: 8, Strangers: admission.Startups{Start: 40, Rate: 30, Full: 60}, StrangersPerAddress: 30},
	})
	ctx, stop := context.WithCancel(t.Context())
	c := &campaign{T: t, addr: w.Addr().String(), ctx: ctx}
	defer c.wg.Wait()
	defer stop()
	read := func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }

	c.every(0, 40, "127.0.0.2", read) // says nothing
	c.every(1, 4, "127.0.0.3", func(conn net.Conn) {
		_, _ = conn.Write(bytes.Repeat([]byte("garbage "), 1000))
		read(conn)
	})
	c.every(2, 6, "127.0.0.4", func(conn net.Conn) { // takes sessions, and lies about its calls
		if !c.greet(conn, worker.PurposeHIP) {
			return
		}
		for id := uint32(1); ; id++ {
			d := &rpcstats.Delta{Side: rpcstats.Client}
			for op := range hip.Ops() {
				d.Series = append(d.Series, rpcstats.Series{Op: op, Code: int32(id % 100), Hist: rpcstats.Hist{Zero: 1 << 50}})
			}
			if _, err := conn.Write(request(rpcstats.Op, id, d.AppendEncode(nil))); err != nil {
				return
			}
			if _, err := io.ReadFull(conn, make([]byte, wire.HeaderSize+4)); err != nil {
				return
			}
			time.Sleep(500 * time.Millisecond)
		}
	})
	c.every(3, 12, "127.0.0.5", func(conn net.Conn) { // takes management connections
		if c.greet(conn, smiremote.Purpose) {
			read(conn)
		}
	})
	c.every(4, 3, "127.0.0.6", func(conn net.Conn) { // sends 8 MiB where some bytes are due
		if c.greet(conn, smiremote.Purpose) {
			_, _ = conn.Write(request(0x0840, 1, make([]byte, wire.MaxPayload)))
			read(conn)
		}
	})
	c.every(5, 3, "127.0.0.7", func(conn net.Conn) { // asks and asks, and reads nothing
		if !c.greet(conn, smiremote.Purpose) {
			return
		}
		for id := uint32(1); ; id++ {
			if _, err := conn.Write(request([...]uint16{0x0846, 0x0855, 0x0840, 0x0845}[id%4], id, nil)); err != nil {
				return
			}
		}
	})
	c.every(6, 2, "127.0.0.8", func(conn net.Conn) { // comes and goes
		if c.greet(conn, smiremote.Purpose) {
			_, _ = conn.Write(bytes.Repeat(request(0x0855, 1, nil), 100))
		}
	})
	c.every(7, 1, "127.0.0.9", func(conn net.Conn) { // a Hello that never ends
		_, _ = conn.Write(wire.Header{Version: wire.Version, Op: wire.OpInit, Length: wire.MaxHello}.Append(nil))
		_, _ = conn.Write(make([]byte, 1000))
		read(conn)
	})
	reasons := func(say string) (found bool) {
		c.said.Range(func(why, _ any) bool {
			found = strings.Contains(why.(string), say)
			return !found
		})
		return found
	}
	eventually(t, "sessions are refused", func() bool { return reasons("all sessions that one address may have are taken") })
	eventually(t, "management connections are refused", func() bool { return reasons("all management connections that one address may have are taken") })

	operator := smiremote.NewClient(smiremote.Options{Address: "unix:" + socket})
	defer operator.Close()
	anybody := smiremote.NewClient(smiremote.Options{Address: c.addr})
	defer anybody.Close()
	for range 3 {
		hipClient := connect(t, w)
		const n = 1 << 20
		p, e := hipClient.Malloc(main0, n)
		must(t, "Malloc", e)
		must(t, "Memset", hipClient.Memset(main0, p, 0x5a, n))
		back := make([]byte, n)
		must(t, "Memcpy", hipClient.Memcpy(main0, at(back), p, n, hip.MemcpyDeviceToHost))
		if !bytes.Equal(back, bytes.Repeat([]byte{0x5a}, n)) {
			t.Fatal("an honest client's memory is not what it wrote")
		}
		for name, m := range map[string]*smiremote.Client{"operator": operator, "anybody": anybody} {
			if _, err := m.Snapshot(t.Context()); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if _, err := m.Calls(t.Context()); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		sessions, err := operator.Sessions(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range sessions.Sessions {
			if strings.HasPrefix(s.Client.Address, "127.0.0.4:") { // it may just be ending
				if err := operator.KillSession(t.Context(), s.ID); err != nil && !errors.Is(err, smi.ErrNotFound) && !errors.Is(err, smi.ErrBusy) {
					t.Errorf("session kill: %v", err)
				}
				break
			}
		}
		if err := hipClient.Close(); err != nil {
			t.Error(err)
		}
	}
	for i := range c.did {
		if c.did[i].Load() == 0 {
			t.Errorf("bad clients of kind %d have done nothing", i)
		}
	}
	stop()
	c.wg.Wait()
	eventually(t, "all that they held is released", func() bool { return len(w.Sessions()) == 0 })
	if n := len(w.Calls().Calls()); n > 2048+5 {
		t.Errorf("%d series are left", n)
	}
}
