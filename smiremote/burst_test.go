package smiremote_test

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rocwire/rocwire/calls/rpcstats"
	"github.com/rocwire/rocwire/smi/smitest"
	"github.com/rocwire/rocwire/smiremote"
	"github.com/rocwire/rocwire/smiremote/remotetest"
	"github.com/rocwire/rocwire/wire"
)

// slowly tells of calls, and takes its time.
type slowly struct{ asked atomic.Int64 }

func (s *slowly) Calls() []rpcstats.CallTotal { s.slow(); return nil }

func (s *slowly) SlowCalls() []rpcstats.SlowCall {
	s.slow()
	return []rpcstats.SlowCall{{Op: "hipMalloc", Total: time.Second}}
}

func (s *slowly) slow() {
	s.asked.Add(1)
	time.Sleep(time.Millisecond)
}

const opSlow, opCalls = 0x0855, 0x0846

func raw(t *testing.T, addr string) *wire.Client {
	t.Helper()
	c, err := wire.Dial(context.Background(), wire.Options{Address: addr, Hello: wire.Hello{Purpose: smiremote.Purpose}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// A burst of questions is answered from what is known, and none of it is worked on when its client is gone.
func TestBurstOfQuestions(t *testing.T) {
	calls := &slowly{}
	w := remotetest.Start(t, "", smiremote.HandlerOptions{Source: smitest.NewFake(smitest.Cards()...), Calls: calls})
	const burst = 25_000 // half a megabyte of them
	for _, send := range map[string]func(c *wire.Client, op uint16) error{
		"with replies": func(c *wire.Client, op uint16) error { return c.Go(op, &wire.Msg{}, func(*wire.Msg, error) {}) },
		"without":      func(c *wire.Client, op uint16) error { return c.Post(op, nil, nil) },
	} {
		c := raw(t, w.Addr)
		for i := range burst {
			if err := send(c, [...]uint16{opSlow, opCalls}[i%2]); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.Flush(); err != nil {
			t.Fatal(err)
		}
		_ = c.Close()
	}
	other := dial(t, w)
	if list, err := other.SlowCalls(t.Context()); err != nil || len(list) != 1 {
		t.Errorf("another client: %v, %v", list, err)
	}
	w.Stop() // waits for all that is under way
	if n := calls.asked.Load(); n > burst/50 {
		t.Errorf("%d questions were worked on", n)
	}
}

// One connection that asks for more than it reads takes nothing from the others.
func TestGreedyConnection(t *testing.T) {
	calls := &slowly{}
	w := remotetest.Start(t, "", smiremote.HandlerOptions{Source: smitest.NewFake(smitest.Cards()...), Calls: calls, Fresh: -1})
	for range 20 {
		sock, err := net.Dial("tcp", w.Addr)
		if err != nil {
			t.Fatal(err)
		}
		defer sock.Close()
		greedy := raw(t, w.Addr)
		for range 500 {
			if err := greedy.Go(opSlow, &wire.Msg{}, func(*wire.Msg, error) {}); err != nil {
				t.Fatal(err)
			}
		}
	}
	before := calls.asked.Load()
	c := dial(t, w)
	if _, err := c.SlowCalls(t.Context()); err != nil {
		t.Error(err)
	}
	if n := calls.asked.Load() - before; n > 2000 {
		t.Errorf("it was answered after %d questions of others", n)
	}
}
