package worker

import (
	"errors"
	"log/slog"
	"math"
	"net"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rocwire/rocwire/calls/rpcstats"
	"github.com/rocwire/rocwire/calls/rpctrace"
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/wire"
	"github.com/rocwire/rocwire/worker/access"
	"github.com/rocwire/rocwire/worker/confine"
)

// controls are the two ends of a line between the parent and a session process.
func controls(t *testing.T) (parent, child *control) {
	t.Helper()
	parent, file, err := controlPair()
	if err != nil {
		t.Fatal(err)
	}
	if child, err = controlFrom(file); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = parent.close(), child.close() })
	return parent, child
}

func TestControlPassesADescriptor(t *testing.T) {
	ours, child := controls(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	st := start{Session: 7, Version: 0x0200, InitID: 9, Hello: []byte("hello")}
	if err := ours.send(st.encode(), int(w.Fd())); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, maxControl+1)
	msg, fd, err := child.receive(buf)
	if err != nil || fd < 0 {
		t.Fatalf("descriptor %d, %v", fd, err)
	}
	var got start
	if err := got.decode(msg[1:]); err != nil || msg[0] != msgStart || !reflect.DeepEqual(got, st) {
		t.Errorf("%+v, %v", got, err)
	}
	passed := os.NewFile(uintptr(fd), "passed")
	if _, err := passed.WriteString("through"); err != nil {
		t.Fatal(err)
	}
	if err := passed.Close(); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 16)
	if n, err := r.Read(b); err != nil || string(b[:n]) != "through" {
		t.Errorf("%q, %v", b[:n], err)
	}
	_ = r.Close()
	// Limits, and the end.
	if err := ours.send(nil, -1); !errors.Is(err, errControl) {
		t.Errorf("an empty message: %v", err)
	}
	if err := ours.send(make([]byte, maxControl+1), -1); !errors.Is(err, errControl) {
		t.Errorf("a message over the limit: %v", err)
	}
	if err := child.send([]byte{msgReady}, -1); err != nil {
		t.Error(err)
	}
	if msg, fd, err := ours.receive(buf); err != nil || fd != -1 || len(msg) != 1 {
		t.Errorf("%v, %d, %v", msg, fd, err)
	}
	if err := ours.close(); err != nil {
		t.Error(err)
	}
	if _, _, err := child.receive(buf); err == nil {
		t.Error("the other end is closed, and nothing says so")
	}
	_ = child.close()
}

func record() *sessionRecord {
	s := &totals{latency: rpcstats.NewTotals(rpcstats.Names{Op: hiprpc.OpName, Code: func(c int32) string { return hip.Error(c).Name() }})}
	return &sessionRecord{id: 1, start: time.Now(), stats: s, calls: s.latency.Reporter()}
}

func TestReport(t *testing.T) {
	rec := rpcstats.NewRecorder(rpcstats.Worker)
	for op := range uint16(2000) { // more than fits into one message
		for d := range 120 {
			rec.Record(0x100+op, int32(op%3), time.Duration(math.Exp2(0.29*float64(d))))
		}
	}
	r := record()
	pieces := splitDelta(rec.Take())
	if len(pieces) < 2 {
		t.Fatalf("%d pieces", len(pieces))
	}
	for i, d := range pieces {
		msg := encodeReport(progress{BytesIn: uint64(i), BytesOut: 2, Calls: 3, Untranslated: 4}, d)
		if len(msg) > maxControl {
			t.Fatalf("a report of %d bytes", len(msg))
		}
		if err := r.report(msg); err != nil {
			t.Fatal(err)
		}
	}
	var n uint64
	for _, c := range r.stats.latency.Calls() {
		n += c.Count()
	}
	if n != 2000*120 {
		t.Errorf("%d calls arrived of %d", n, 2000*120)
	}
	if tot := r.stats.snapshot(); tot.BytesIn.Or(99) != smi.Bytes(len(pieces)-1) || tot.Calls.Or(99) != 3 || tot.Untranslated.Or(99) != 4 {
		t.Errorf("totals: %+v", tot)
	}
	for name, p := range map[string]progress{
		"fall":       {BytesIn: 0, BytesOut: 1, Calls: 3, Untranslated: 4},
		"overflow":   {BytesIn: math.MaxUint64, BytesOut: 2, Calls: 3, Untranslated: 4},
		"too much":   {BytesIn: 1 << 50, BytesOut: 2, Calls: 3, Untranslated: 4},
		"too often":  {BytesIn: 50, BytesOut: 2, Calls: 1 << 40, Untranslated: 4},
		"slow code":  {BytesIn: 50, BytesOut: 2, Calls: 3, Untranslated: 1 << 40},
		"translated": {BytesIn: 50, BytesOut: 2, Calls: 3, Untranslated: 3},
		"back time":  {BytesIn: 50, BytesOut: 2, Calls: 3, Untranslated: 4, OpFor: -1},
	} {
		if err := r.report(encodeReport(p, nil)); !errors.Is(err, errControl) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := r.report(encodeReport(progress{BytesIn: 50, BytesOut: 2, Calls: 3, Untranslated: 4}, []byte{1, 2, 3})); !errors.Is(err, errControl) {
		t.Errorf("histograms that make no sense: %v", err)
	}
	if err := r.slow([]byte{msgSlow, 9}); !errors.Is(err, errControl) {
		t.Errorf("slow calls that make no sense: %v", err)
	}
	if err := r.traced(rpctrace.AppendRecords([]byte{msgSpans}, nil, 0)); !errors.Is(err, errControl) {
		t.Errorf("spans of a session that is not traced: %v", err)
	}
	if err := r.end(encodeEnd(strings.Repeat("x", 5000))); err != nil || len(r.endReason()) != 1<<10 {
		t.Errorf("end: %v, %d bytes", err, len(r.endReason()))
	}
}

func FuzzControl(f *testing.F) {
	f.Add(encodeReport(progress{BytesIn: 1, BytesOut: 2, Calls: 3, Op: 4, OpFor: 5}, nil))
	f.Add(encodeEnd("why"))
	f.Add([]byte{msgParked, 1, 0, 3, 0, 0, 0, 'w', 'h', 'y'})
	f.Add([]byte{msgJudged, 1, 0, 0, 0, 3, 0, 0, 0, 'w', 'h', 'y'})
	f.Add([]byte{msgReady, 0})
	f.Add((&start{Session: 1, Hello: []byte{0x80}}).encode())
	f.Add([]byte{msgReady})
	f.Add(rpcstats.AppendSlow([]byte{msgSlow}, []rpcstats.Slow{{Op: 5, Total: 9, Network: -1, Kernel: "k\x1b"}}))
	f.Add(rpctrace.AppendRecords([]byte{msgSpans}, []rpctrace.Record{{Kind: rpctrace.Kernel, Request: 3, Kernel: "k"}, {Kind: rpctrace.Worker, Alone: true}}, 7))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) == 0 {
			return
		}
		r := record()
		r.spans = spanSink{context: rpctrace.NewContext("", 1, 1), to: func(_ smi.Client, session string, list []rpctrace.Span) {
			if len(list) > len(b) || session != "1" {
				t.Errorf("%d spans of %d bytes, of session %s", len(list), len(b), session)
			}
		}}
		if _, err := r.comes(caller{}); err != nil {
			t.Fatal(err)
		}
		told := 0
		r.onPark = func(_ bool, text string) { told = len(text) }
		r.onJudged = func(_ caller, text string) { told = len(text) }
		p := &proc{session: r, ready: make(chan struct{}), up: func(confine.Entered) {}}
		err := p.message(b)
		if err == nil && !slices.Contains([]byte{msgReady, msgReport, msgSlow, msgSpans, msgParked, msgJudged, msgEnd}, b[0]) {
			t.Errorf("kind %d was accepted", b[0])
		}
		if len(r.endReason()) > 1<<10 || told > maxParkedText {
			t.Error("a text over its limit")
		}
		var st start
		if st.decode(b) == nil && len(st.Hello) > len(b) {
			t.Error("a Hello longer than its message")
		}
	})
}

func TestClientOf(t *testing.T) {
	h := &wire.Hello{Host: "a\x1b[31mb\n", PID: -5, Executable: strings.Repeat("ä", 1000), User: "u\x00"}
	c := clientOf(h, wire.Peer{Addr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 5}}, access.Identity{})
	if c.Host != "a?[31mb?" || c.PID != 0 || len(c.Executable) > 256 || c.User != "u?" || c.Address != "127.0.0.1:5" {
		t.Errorf("%+v", c)
	}
}

// A handle that is being destroyed is nobody else's, and one that was not destroyed is there again.
func TestEnding(t *testing.T) {
	s := newSession(hip.Unimplemented{}, &notices{}, slog.New(slog.DiscardHandler))
	s.handles.Add(hip.HandleEvent, 20, 0)
	e, ok := s.ending(nil, hip.HandleEvent, 20)
	if !ok || s.handles.check(hip.HandleEvent, 20) != hip.ErrorInvalidHandle {
		t.Error("an event that is being destroyed can be used")
	}
	if s.restore(e); s.handles.check(hip.HandleEvent, 20) != hip.Success {
		t.Error("an event that was not destroyed cannot be used")
	}
	s.handles.own = true
	if e, ok = s.ending(nil, hip.HandleEvent, 30); !ok {
		t.Error("the runtime is not asked about a handle that it checks itself")
	}
	if s.restore(e); s.handles.Check(hip.HandleEvent, 30) == hip.Success {
		t.Error("a wrong handle became one")
	}
}

// sized is a runtime with one allocation of 4096 bytes, at 4096.
type sized struct{ hip.Unimplemented }

func (sized) MemGetAddressRange(hip.Thread, hip.Ptr) (hip.Ptr, uint64, hip.Error) {
	return 4096, 4096, hip.Success
}

// A real library takes any array for one, and reads what it is told: a graph's copies are judged at its launch.
func TestGraphCopies(t *testing.T) {
	s := newSession(sized{}, &notices{}, slog.New(slog.DiscardHandler))
	s.handles.Add(hip.HandleArray, 20, 0)
	whole := func(b hip.DrvMEMCPY3D) hip.Error {
		g := &sessionGraph{touched: map[uint32][]area{}}
		if code := s.admitCopy(g, 0, &hip.GraphCopy{General: &b}); code != hip.Success {
			t.Fatal(code)
		}
		if b.DstArray == 20 && b.Depth == 9 {
			s.handles.Take(hip.HandleArray, 20)
		}
		for _, a := range g.touched[0] {
			if code := s.whole(hip.Thread{}, &a); code != hip.Success {
				return code
			}
		}
		return hip.Success
	}
	b := hip.DrvMEMCPY3D{SrcMemoryType: hip.MemoryTypeDevice, SrcDevice: 4096, SrcHeight: 1, DstMemoryType: hip.MemoryTypeArray, DstArray: 20, WidthInBytes: 512, Height: 1, Depth: 8}
	if code := whole(b); code != hip.Success { // no pitch: all of the memory
		t.Error(code)
	}
	b.Depth = 10
	if whole(b) == hip.Success {
		t.Error("without a pitch, slices are read behind the memory")
	}
	b.WidthInBytes, b.Depth = 256, 9
	if whole(b) == hip.Success {
		t.Error("a graph is launched with an array that is gone")
	}
}

// notices are what a session has told its client.
type notices []hiprpc.AsyncError

func (n *notices) Notify(_ uint16, payload []byte) error {
	var e hiprpc.AsyncError
	if !e.Decode(payload) {
		return errors.New("a notice that cannot be read")
	}
	*n = append(*n, e)
	return nil
}

// TestLateFailures: what is known only after a reset of what was before it is of no interest, and does not end what began since.
func TestLateFailures(t *testing.T) {
	var told notices
	s := newSession(hip.Unimplemented{}, &told, slog.New(slog.DiscardHandler))
	s.fault(0, hip.OpMemsetAsync, 0, 5, hip.ErrorInvalidValue, "")
	s.fault(0, 0, 0, hip.StreamNull, hip.ErrorIllegalAddress, "")
	if len(told) != 2 || told[0].Sticky || !told[1].Sticky {
		t.Fatalf("before the reset: %+v", told)
	}
	if seq := s.fails.reset(0); seq != told[1].Seq {
		t.Errorf("the last failure before the reset was %d, and not %d", seq, told[1].Seq)
	}
	after := s.hold(&wire.Request{Op: hip.OpMemcpy, Tag: s.fails.life.Load()})
	s.fault(0, hip.OpMemsetAsync, 0, 6, hip.ErrorInvalidValue, "")
	s.fault(0, 0, 0, hip.StreamNull, hip.ErrorIllegalAddress, "")
	s.pending.fail(s, 0, 0, hip.ErrorIllegalAddress)
	if _, ok := s.heard(0, hip.StreamNull); ok || len(told) != 2 {
		t.Errorf("late failures were told: %+v", told)
	}
	if !after.take() {
		t.Error("a call made after the reset failed of what was before it")
	}
	s.fault(1, 0, 0, hip.StreamNull, hip.ErrorLaunchFailure, "")
	if len(told) != 3 || told[2].Seq <= told[1].Seq || told[2].Code != hip.ErrorLaunchFailure {
		t.Errorf("after the reset: %+v", told)
	}
}

func TestStaging(t *testing.T) {
	s := newStaging(20 << 20)
	a, b := s.take(0, 8<<20), s.take(0, 8<<20)
	got := make(chan []byte)
	go func() { got <- s.take(0, 8<<20) }()
	s.give(a)
	if c := <-got; len(c) != 8<<20 || cap(c) != stagingUnit {
		t.Errorf("%d bytes of %d", len(c), cap(c))
	}
	go func() { got <- s.take(0, 8<<20) }()
	s.end()
	if c := <-got; c != nil {
		t.Error("memory after the end")
	}
	s.give(b)
}

func TestPlaceable(t *testing.T) {
	const base, size = 0x100000000000, 1 << 40
	s := &session{span: hip.Span{Base: base, Size: size}}
	for _, c := range []struct {
		addr, size uint64
		want       bool
	}{
		{base, 4096, true}, {base + size/2 - 4096, 4096, true}, {base, size / 2, true},
		{base + size/2, 4096, false}, {base + size/2 - 4096, 8192, false}, {base - 4096, 4096, false}, {base - 4096, 8192, false},
		{base, 0, false}, {base + 1, 4096, false}, {base, 4097, false}, {base, 1 << 63, false}, {0, 4096, false}, {math.MaxUint64 - 4095, 4096, false},
	} {
		if got := s.placeable(hiprpc.Place{Addr: hip.Ptr(c.addr), Size: c.size}); got != c.want {
			t.Errorf("placeable(%#x, %#x) = %v", c.addr, c.size, got)
		}
	}
	if (&session{}).placeable(hiprpc.Place{Addr: base, Size: 4096}) {
		t.Error("placeable without a range")
	}
}

func TestExtentOf(t *testing.T) {
	for _, c := range []struct {
		pitch, width, height, want uint64
		ok                         bool
	}{
		{0, 10, 1, 10, true}, {16, 10, 3, 42, true}, {10, 10, 3, 30, true}, {9, 10, 2, 0, false}, {1 << 60, 10, 3, 0, false}, {math.MaxUint64, 1, 2, 0, false},
	} {
		if got, ok := extentOf(c.pitch, c.width, c.height); got != c.want || ok != c.ok {
			t.Errorf("extentOf(%d, %d, %d) = %d, %v", c.pitch, c.width, c.height, got, ok)
		}
	}
}
