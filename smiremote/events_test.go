package smiremote_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/rocwire/rocwire/internal/freeport"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
	"github.com/rocwire/rocwire/smiremote"
	"github.com/rocwire/rocwire/smiremote/remotetest"
	"github.com/rocwire/rocwire/wire"
)

// listener collects events.
type listener struct {
	mu   sync.Mutex
	got  []smi.Event
	done chan error
	stop context.CancelFunc
}

func listen(t *testing.T, src smi.Source) *listener {
	ctx, cancel := context.WithCancel(t.Context())
	l := &listener{done: make(chan error, 1), stop: cancel}
	go func() {
		l.done <- src.Events(ctx, func(e smi.Event) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.got = append(l.got, e)
		})
	}()
	t.Cleanup(cancel)
	return l
}

func (l *listener) count(kind string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.got {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !f(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not in time: %s", what)
		}
	}
}

// listening makes sure that events reach all listeners.
func listening(t *testing.T, src *smitest.Fake, all ...*listener) {
	t.Helper()
	eventually(t, "all listen", func() bool {
		src.Emit(smi.Event{Time: smitest.Then, Kind: smi.EventFound})
		for _, l := range all {
			if l.count(smi.EventFound) == 0 {
				return false
			}
		}
		return true
	})
}

// Several listeners of several clients all get all events, in order.
func TestEvents(t *testing.T) {
	src := smitest.NewMachine(2, 0)
	w := remotetest.Start(t, "", smiremote.HandlerOptions{Source: src})
	c := dial(t, w)
	all := []*listener{listen(t, c), listen(t, c), listen(t, dial(t, w))}
	listening(t, src, all...)
	const n = 500
	for i := range n {
		src.Emit(smi.Event{Time: smitest.Then, Device: 1, Kind: smi.EventVMFault, PID: uint32(i), Message: "a\x1bb"})
	}
	for i, l := range all {
		eventually(t, "the events arrive", func() bool { return l.count(smi.EventVMFault) == n })
		next := uint32(0)
		for _, e := range l.got {
			if e.Kind != smi.EventVMFault {
				continue
			}
			if e.PID != next || e.Device != 1 || e.Message != "a?b" || !e.Time.Equal(smitest.Then) {
				t.Fatalf("listener %d: %+v, want number %d", i, e, next)
			}
			next++
		}
		if l.count(smi.EventMissed) != 0 {
			t.Errorf("listener %d missed something", i)
		}
		l.stop()
		if err := <-l.done; !errors.Is(err, context.Canceled) {
			t.Errorf("listener %d: %v", i, err)
		}
	}
	// A listener that has gone leaves room for others.
	for i := range 40 {
		l := listen(t, c)
		listening(t, src, l)
		l.stop()
		if err := <-l.done; !errors.Is(err, context.Canceled) {
			t.Fatalf("listener %d: %v", i, err)
		}
	}
}

// Who does not ask in time is told how much was lost, and nobody waits for it.
func TestSlowListener(t *testing.T) {
	src := smitest.NewMachine(1, 0)
	w := remotetest.Start(t, "", smiremote.HandlerOptions{Source: src})
	conn, err := wire.Dial(t.Context(), wire.Options{Address: w.Addr, Hello: wire.Hello{Purpose: smiremote.Purpose}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	m := &wire.Msg{}
	if err := conn.Call(0x0852, m); err != nil || m.Code != 0 {
		t.Fatal(m.Code, err)
	}
	var id uint32
	if err := msgpack.Unmarshal(m.Rep, &id); err != nil {
		t.Fatal(err)
	}
	m.Req = binary.LittleEndian.AppendUint32(nil, id)
	next := func() []smi.Event {
		t.Helper()
		if err := conn.Call(0x0853, m); err != nil || m.Code != 0 {
			t.Fatal(m.Code, err)
		}
		var es []smi.Event
		if err := msgpack.Unmarshal(m.Rep, &es); err != nil {
			t.Fatal(err)
		}
		if len(es) == 0 || len(es) > 256 {
			t.Fatalf("%d events in one reply", len(es))
		}
		return es
	}
	fast := listen(t, dial(t, w))
	listening(t, src, fast)
	const n = 10_000
	go func() {
		for i := range n {
			src.Emit(smi.Event{Time: smitest.Then, Kind: smi.EventVMFault, PID: uint32(i)})
		}
	}()
	missed := func(es []smi.Event) (n int) {
		for _, e := range es {
			if e.Kind == smi.EventMissed {
				n += int(e.Count)
			}
		}
		return n
	}
	eventually(t, "the fast listener has them", func() bool {
		fast.mu.Lock()
		defer fast.mu.Unlock()
		got, last := 0, uint32(0)
		for _, e := range fast.got {
			if e.Kind == smi.EventVMFault {
				got, last = got+1, e.PID
			}
		}
		// Events from before may be among those it missed.
		return last == n-1 && got+missed(fast.got) >= n
	})
	got, lost := 0, 0
	for last := uint32(0); last != n-1; {
		for _, e := range next() {
			if e.Kind == smi.EventVMFault {
				got, last = got+1, e.PID
			}
			lost += missed([]smi.Event{e})
		}
	}
	if lost == 0 || got > 1<<11 { // some may have been on their way
		t.Errorf("the slow one got %d and lost %d", got, lost)
	}

	// A second request for the same subscription, and bad ones.
	waiting := make(chan int32, 1)
	if err := conn.Go(0x0853, &wire.Msg{Req: m.Req}, func(m *wire.Msg, err error) { waiting <- m.Code }); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		op   uint16
		req  []byte
		code smi.Code
	}{
		"a second request":         {0x0853, m.Req, smi.ErrBusy},
		"no subscription":          {0x0853, []byte{0xff, 0, 0, 0}, smi.ErrNotFound},
		"a short one":              {0x0853, []byte{1}, smi.ErrInvalid},
		"the end of none":          {0x0854, []byte{0xff, 0, 0, 0}, smi.ErrNotFound},
		"the end of a short one":   {0x0854, nil, smi.ErrInvalid},
		"an argument that is long": {0x0850, make([]byte, 5000), smi.ErrInvalid},
	} {
		m := &wire.Msg{Req: c.req}
		if err := conn.Call(c.op, m); err != nil || smi.Code(m.Code) != c.code {
			t.Errorf("%s: %d, %v", name, m.Code, err)
		}
	}
	end := &wire.Msg{Req: m.Req}
	if err := conn.Call(0x0854, end); err != nil || end.Code != 0 {
		t.Error(end.Code, err)
	}
	if code := <-waiting; smi.Code(code) != smi.ErrUnavailable {
		t.Errorf("the request that waited: %d", code)
	}
	for i := range 17 {
		m := &wire.Msg{}
		if err := conn.Call(0x0852, m); err != nil || (m.Code == 0) != (i < 16) {
			t.Errorf("subscription %d: %d, %v", i, m.Code, err)
		}
	}
}

// leaver says when nobody listens any more.
type leaver struct {
	*smitest.Fake
	left chan struct{}
}

func (l *leaver) Events(ctx context.Context, each func(smi.Event)) error {
	err := l.Fake.Events(ctx, each)
	l.left <- struct{}{}
	return err
}

// A subscription ends with its connection, and the worker then listens no longer.
func TestEventsEndWithTheConnection(t *testing.T) {
	src := &leaver{smitest.NewMachine(1, 0), make(chan struct{}, 1)}
	w := remotetest.Start(t, "", smiremote.HandlerOptions{Source: src})
	conn, err := wire.Dial(t.Context(), wire.Options{Address: w.Addr, Hello: wire.Hello{Purpose: smiremote.Purpose}})
	if err != nil {
		t.Fatal(err)
	}
	m := &wire.Msg{}
	if err := conn.Call(0x0852, m); err != nil || m.Code != 0 {
		t.Fatal(m.Code, err)
	}
	_ = conn.Close()
	<-src.left
}

// A worker that is restarted is listened to again, if it is back at once; otherwise
// the listener gets to know.
func TestEventsReconnect(t *testing.T) {
	src := smitest.NewMachine(1, 0)
	opt := smiremote.HandlerOptions{Source: src}
	w := remotetest.Start(t, freeport.Later(t), opt)
	c := dial(t, w)
	l := listen(t, c)
	listening(t, src, l)
	w.Stop()
	err := <-l.done
	if want := "worker " + w.Addr + ": "; !errors.Is(err, smi.ErrUnavailable) || fmt.Sprint(err)[:len(want)] != want {
		t.Fatalf("without a worker: %v", err)
	}
	w = remotetest.Start(t, w.Addr, opt)
	l = listen(t, c)
	listening(t, src, l)
	// Only the connection is lost.
	w.Drop()
	eventually(t, "the gap is told", func() bool { return l.count(smi.EventMissed) == 1 })
	before := l.count(smi.EventFound)
	eventually(t, "events come again", func() bool {
		src.Emit(smi.Event{Time: smitest.Then, Kind: smi.EventFound})
		return l.count(smi.EventFound) > before
	})
	src.Fail(smi.ErrIO)
	w.Drop()
	if err := <-l.done; !errors.Is(err, smi.ErrIO) {
		t.Errorf("a source that fails: %v", err)
	}
}
