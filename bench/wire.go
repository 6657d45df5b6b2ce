package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/rocwire/rocwire/hipremote"
	"github.com/rocwire/rocwire/wire"
)

const (
	opEcho   = wire.OpUser + iota // answers with its fixed part
	opSink                        // reads its bulk into memory at the offset it names
	opSource                      // answers with bulk of the length it names
)

// serve is the server process of the wire rows: one connection on a listener it is given as descriptor 3.
func serve(n string) error {
	var bytes int
	if _, err := fmt.Sscan(n, &bytes); err != nil {
		return err
	}
	l, err := net.FileListener(os.NewFile(3, "listener"))
	if err != nil {
		return err
	}
	conn, err := l.Accept()
	if err != nil {
		return err
	}
	if conn, err = secured(conn, keysArgument()); err != nil {
		return err
	}
	hello, _, err := wire.ReadHello(conn, 5*time.Second)
	if err != nil {
		return err
	}
	s, features, err := serverOf(conn, hello)
	if err != nil {
		return err
	}
	if err := s.Welcome(wire.Welcome{Features: wire.GrantFeatures(hello.Features, features)}); err != nil {
		return err
	}
	memory := touched(bytes)
	return s.Serve(wire.HandlerFunc(func(r *wire.Request) {
		d := wire.NewDec(r.Fixed)
		switch at := d.U64(); r.Op {
		case opEcho:
			_ = r.Reply(0, r.Fixed)
		case opSink:
			if err := r.ReadBulk(memory[at : at+uint64(r.BulkLen)]); err == nil {
				_ = r.Reply(0, nil)
			}
		case opSource:
			n := d.U64()
			_ = r.ReplyBulk(0, nil, memory[at:at+n])
		}
	}))
}

// touched gives memory whose pages are there.
func touched(n int) []byte {
	b := make([]byte, n)
	for i := 0; i < n; i += 4096 {
		b[i] = 1
	}
	return b
}

// startLocal is startWire on loopback.
func startLocal() (*wire.Client, func(), error) {
	return startWire("127.0.0.1:0", "", func(opt wire.Options) (*wire.Client, error) { return wire.Dial(context.Background(), opt) })
}

// startWire starts the server process at an address, with TLS if there is a directory of keys, and connects.
func startWire(address, keys string, dial func(wire.Options) (*wire.Client, error)) (*wire.Client, func(), error) {
	lc := net.ListenConfig{Control: wire.ListenControl}
	l, err := lc.Listen(context.Background(), "tcp", address)
	if err != nil {
		return nil, nil, err
	}
	defer l.Close()
	f, err := l.(*net.TCPListener).File()
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	exe, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	cmd := exec.Command(exe, "serve", fmt.Sprint(*size), keys)
	cmd.Stderr, cmd.ExtraFiles = os.Stderr, []*os.File{f}
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	c, err := dial(wire.Options{Address: l.Addr().String(), NoShare: true, Reconnect: hipremote.DefaultReconnect})
	if err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return nil, nil, err
	}
	return c, func() { _ = c.Close(); _ = cmd.Wait() }, nil
}

// A small call: 32 bytes of parameters, 32 bytes of results.
const callBytes = 32

func wireCalls(t *table, f *floor, _ string) error {
	c, stop, err := startLocal()
	if err != nil {
		return err
	}
	defer stop()
	var floor50, floor99, here50, here99 []float64
	m := wire.GetMsg()
	m.Req = make([]byte, callBytes)
	times := make([]float64, *calls)
	for range *rounds {
		v, err := f.measure("pingpong", *calls, wire.HeaderSize+callBytes, wire.HeaderSize+4+callBytes)
		if err != nil {
			return err
		}
		floor50, floor99 = append(floor50, v[0]), append(floor99, v[1])
		for i := range times {
			start := time.Now()
			if err := c.Call(opEcho, m); err != nil {
				return err
			}
			times[i] = float64(time.Since(start))
		}
		slices.Sort(times)
		here50, here99 = append(here50, times[len(times)/2]), append(here99, times[len(times)*99/100])
	}
	t.row("wire: sync call p50, floor TCP ping-pong", floor50, here50, micros, 1.3, false)
	t.row("wire: sync call p99", floor99, here99, micros, 0, false)
	return nil
}

func wirePosts(t *table, _ *floor, _ string) error {
	c, stop, err := startLocal()
	if err != nil {
		return err
	}
	defer stop()
	const n = 1 << 20
	var issue, sustained []float64
	req := make([]byte, callBytes)
	m := wire.GetMsg()
	m.Req = append(m.Req, req...)
	for range *rounds {
		start := time.Now()
		for range n {
			if err := c.Post(opEcho, req, nil); err != nil {
				return err
			}
		}
		issued := time.Since(start)
		if err := c.Call(opEcho, m); err != nil { // behind all of them
			return err
		}
		issue = append(issue, float64(issued)/n)
		sustained = append(sustained, n/time.Since(start).Seconds())
	}
	t.plain("wire: async call, issue cost", fmt.Sprintf("%.2f µs", median(issue)/1e3), "≤ 0.5 µs: "+verdict(median(issue) <= 500))
	t.plain("wire: async calls, sustained to execution", fmt.Sprintf("%.2f M/s", median(sustained)/1e6), "≥ 1 M/s: "+verdict(median(sustained) >= 1e6))
	return nil
}

// wireBulk copies in pieces as a client does that lets other threads' calls in between.
func wireBulk(t *table, f *floor, _ string) error {
	c, stop, err := startLocal()
	if err != nil {
		return err
	}
	defer stop()
	memory := touched(*size)
	var bare, mem, to, from []float64
	for range *rounds + 1 {
		b, err := f.measure("bulk", *size, 3)
		if err != nil {
			return err
		}
		cp, err := f.measure("memcpy", *size, 3)
		if err != nil {
			return err
		}
		bare, mem = append(bare, b[0]), append(mem, cp[0])
		start := time.Now()
		if err := copyTo(c, memory, 0); err != nil {
			return err
		}
		to = append(to, float64(len(memory))/time.Since(start).Seconds())
		start = time.Now()
		if err := copyFrom(c, memory, 0); err != nil {
			return err
		}
		from = append(from, float64(len(memory))/time.Since(start).Seconds())
	}
	bare, mem, to, from = bare[1:], mem[1:], to[1:], from[1:] // the first round warms up
	mib := fmt.Sprintf("%d MiB", *size>>20)
	t.row("wire: "+mib+" to the server, floor bare socket", bare, to, rate, 0.9, true)
	t.row("wire: "+mib+" from the server", bare, from, rate, 0.9, true)
	t.row("wire: "+mib+" to the server, floor memcpy", mem, to, rate, 0, true)
	return nil
}

// copyTo copies to the server's memory, from offset there on.
func copyTo(c *wire.Client, memory []byte, offset int) error {
	var at [8]byte
	var loan wire.Loan
	defer c.Return(&loan)
	for n := 0; n < len(memory); n += wire.MaxBulk {
		p := memory[n:min(n+wire.MaxBulk, len(memory))]
		binary.LittleEndian.PutUint64(at[:], uint64(offset+n))
		if n+len(p) < len(memory) {
			m := wire.GetMsg()
			m.Req, m.Bulk, m.Loan = append(m.Req, at[:]...), p, &loan
			if err := c.Go(opSink, m, func(m *wire.Msg, _ error) { wire.PutMsg(m) }); err != nil {
				return err
			}
			continue
		}
		m := wire.GetMsg()
		m.Req, m.Bulk = append(m.Req, at[:]...), p
		err := c.Call(opSink, m)
		wire.PutMsg(m)
		return err
	}
	return nil
}

// copyFrom copies from the server's memory at an offset.
func copyFrom(c *wire.Client, memory []byte, offset int) error {
	m := wire.GetMsg()
	defer wire.PutMsg(m)
	e := wire.Enc{B: m.Req}
	e.U64(uint64(offset))
	e.U64(uint64(len(memory)))
	m.Req, m.Dst = e.B, memory
	return c.Call(opSource, m)
}
