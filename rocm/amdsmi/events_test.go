package amdsmi

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rocwire/rocwire/smi"
)

// happen makes the stub tell events.
func (s *stub) happen(t *testing.T, lines string) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(s.dir, "events"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(lines); err != nil {
		t.Fatal(err)
	}
}

// count is how often the library was told something.
func (s *stub) count(prefix string) (n int) {
	for _, l := range s.log() {
		if strings.HasPrefix(l, prefix) {
			n++
		}
	}
	return n
}

// await waits for what must come; the test's own deadline ends it.
func await(ok func() bool) {
	for !ok() {
		time.Sleep(time.Millisecond)
	}
}

func TestEvents(t *testing.T) {
	eachABI(t, func(t *testing.T, s *stub) {
		src := s.open(t)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		type reader struct {
			events chan smi.Event
			end    chan error
		}
		var readers []reader
		for range 2 {
			r := reader{make(chan smi.Event, 100), make(chan error, 1)}
			readers = append(readers, r)
			go func() { r.end <- src.Events(ctx, func(e smi.Event) { r.events <- e }) }()
		}
		await(func() bool { return s.count("event_mask") >= 3 })
		await(func() bool {
			p := &src.(*Source).lib.pump
			p.mu.Lock()
			defer p.mu.Unlock()
			return len(p.subs) == 2
		})
		// A fault, an event this ABI has under that number, one of no known kind, one of
		// no known card, and a throttling.
		s.happen(t, "0 1 4d2:python3\n2 5 \n0 99 x\n9 1 1:x\n1 2 c:3\n")
		fifth := smi.EventMigrateStart
		if s.abi == 25 {
			fifth = smi.EventRingHang
		}
		want := []smi.Event{
			{Device: 0, Kind: smi.EventVMFault, PID: 1234, Message: "4d2:python3"}, {Device: 2, Kind: fifth},
			{Device: 1, Kind: smi.EventThermalThrottle, Message: "c:3"},
		}
		for _, r := range readers {
			for _, w := range want {
				got := <-r.events
				if got.Time.IsZero() {
					t.Error("an event without a time")
				}
				if got.Time = w.Time; got != w {
					t.Errorf("%+v, want %+v", got, w)
				}
			}
		}
		cancel()
		for _, r := range readers {
			if err := <-r.end; !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
		await(func() bool { return s.count("event_stop") == 3 })
		mask := "event_mask 0 8191 0"
		if s.abi == 25 {
			mask = "event_mask 0 31 0"
		}
		if !slices.Contains(s.log(), mask) {
			t.Errorf("no %q in %q", mask, s.log())
		}

		// Again, after the end; this time the source is closed under it.
		end := make(chan error)
		go func() { end <- src.Events(t.Context(), func(smi.Event) {}) }()
		await(func() bool { return s.count("event_init") == 6 })
		src.Close()
		if err := <-end; !errors.Is(err, smi.ErrUnavailable) {
			t.Error(err)
		}
		await(func() bool { return s.count("shut_down") == 1 })
		if s.count("event_stop") != 6 {
			t.Errorf("%q", s.log())
		}
	})
}

func TestEventsFail(t *testing.T) {
	s := newStub(t, 27)
	src := s.open(t)
	s.control(t, "fail -1 amdsmi_init_gpu_event_notification 2")
	if err := src.Events(t.Context(), nil); !errors.Is(err, smi.ErrNotSupported) {
		t.Error(err)
	}
	s.control(t, "fail -1 amdsmi_get_gpu_event_notification 12")
	if err := src.Events(t.Context(), nil); !errors.Is(err, smi.ErrIO) {
		t.Error(err)
	}
	// A card that cannot tell events does not keep the others from it.
	s.control(t, "fail 0 amdsmi_init_gpu_event_notification 2")
	s.happen(t, "1 3 \n")
	ctx, cancel := context.WithCancel(t.Context())
	var got smi.Event
	if err := src.Events(ctx, func(e smi.Event) { got = e; cancel() }); !errors.Is(err, context.Canceled) || got.Kind != smi.EventPreReset {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestEventPID(t *testing.T) {
	for _, c := range []struct {
		kind, message string
		pid           uint32
	}{
		{smi.EventVMFault, "4d2:python3", 0x4d2},
		{smi.EventProcessStart, "4d2 python3", 0x4d2},
		{smi.EventProcessEnd, "4d2", 0x4d2},
		{smi.EventMigrateStart, "8123456 -1234 @7f0012(100) 0->1", 1234},
		{smi.EventQueueEviction, "8123456 -77 3 1", 77},
		{smi.EventQueueEviction, "8123456", 0},
		{smi.EventMigrateEnd, "8123456 12", 0},
		{smi.EventPageFaultEnd, "8123456 -x", 0},
		{smi.EventVMFault, "", 0},
		{smi.EventVMFault, "fffffffff:x", 0},
		{smi.EventThermalThrottle, "c:3", 0},
	} {
		if got := eventPID(c.kind, c.message); got != c.pid {
			t.Errorf("%s %q: %d, want %d", c.kind, c.message, got, c.pid)
		}
	}
}
