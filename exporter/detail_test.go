package exporter

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
)

// fullDetail is all a card can tell besides its figures.
func fullDetail() smitest.Detail {
	d := smitest.Details(2)[0]
	d.BadPages = []smi.BadPage{{Address: 0x1000, Size: 4096, State: smi.PageReserved}, {Address: 0x2000, Size: 4096, State: smi.PagePending}}
	d.XGMI.Errors = smi.XGMIError
	peer := smitest.Cards()[1].Device.BDF
	link := d.XGMI.Links[0]
	link.Peer = peer
	d.XGMI.Links = []smi.XGMILink{link, {Peer: smi.Some(smi.BDF{Bus: 0xff}), State: smi.LinkDown}, {State: smi.LinkDisabled}, {}}
	return d
}

// hear has the exporter count events, and waits until it has.
func (e *env) hear(t *testing.T, src *smitest.Fake, events ...smi.Event) {
	t.Helper()
	before := e.heardSoFar()
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { e.events.run(ctx) })
	for _, ev := range events {
		src.Emit(ev)
	}
	for e.heardSoFar() < before+len(events) {
		time.Sleep(time.Millisecond)
	}
	cancel()
	wg.Wait()
	e.events.listening() // what it would be while it ran
}

func (e *env) heardSoFar() int {
	v, n := e.events.view(), 0
	if v.Missed > 0 {
		n++
	}
	for _, c := range v.Counts {
		n += int(c)
	}
	return n
}

// seldom counts how often each card is asked for its firmware, and can be slow.
type seldom struct {
	*smitest.Fake
	mu    sync.Mutex
	asked []int
	hang  chan struct{} // closed: goes on
}

func (s *seldom) Firmware(ctx context.Context, i int) ([]smi.Firmware, error) {
	s.mu.Lock()
	s.asked = append(s.asked, i)
	hang := s.hang
	s.mu.Unlock()
	if hang != nil && i == 0 {
		<-hang // whatever ctx says
	}
	return s.Fake.Firmware(ctx, i)
}

func (s *seldom) times() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

func newSeldom() *seldom {
	f := smitest.NewFake(smitest.Machine(2, 1)...)
	f.SetDetails(smitest.Details(2)...)
	return &seldom{Fake: f}
}

// Details are asked at their own interval, and of a new card at once.
func TestDetailInterval(t *testing.T) {
	src := newSeldom()
	e := start(t, Options{Source: src, Interval: time.Second, SlowInterval: 30 * time.Second})
	for range 10 {
		e.Poll(t.Context())
		e.clock.advance(5 * time.Second)
	}
	if n := len(src.times()); n != 2*2 {
		t.Errorf("asked %d times in 45 s", n)
	}
	src.SetCards(smitest.Machine(3, 1)...)
	e.Poll(t.Context())
	if got := src.times()[4:]; !slices.Equal(got, []int{2}) {
		t.Errorf("asked cards %v, want the new one", got)
	}
	s := e.metrics(t)
	if got := value(s, `gpu_detail_age_seconds{detail="firmware",gpu="0"}`); got != "20" {
		t.Errorf("details are %q s old", got)
	}
}

// A question that a card never answers delays neither its other figures nor the other
// card's, and is not asked a second time meanwhile.
func TestDetailHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := newSeldom()
		src.hang = make(chan struct{})
		e := start(t, Options{Source: src, Timeout: 500 * time.Millisecond, SlowInterval: 30 * time.Second, MaxAge: 10 * time.Second})
		for range 4 {
			e.Poll(t.Context())
			e.clock.advance(30 * time.Second)
		}
		e.Poll(t.Context())
		s := e.metrics(t)
		zero := 0
		for _, i := range src.times() {
			if i == 0 {
				zero++
			}
		}
		if zero != 1 {
			t.Errorf("the card that hangs was asked %d times", zero)
		}
		if !strings.Contains(s, `gpu_power_watts{gpu="0"}`) || !strings.Contains(s, `gpu_firmware_info{firmware="smu",gpu="1"`) {
			t.Errorf("one question that hangs took more with it:\n%s", s)
		}
		if strings.Contains(s, `gpu_firmware_info{firmware="smu",gpu="0"`) {
			t.Error("firmware that was never told")
		}
		close(src.hang)
	})
}

// Details that could not be renewed are shown until they are too old, and then not.
func TestDetailStale(t *testing.T) {
	src := newSeldom()
	e := start(t, Options{Source: src, SlowInterval: 30 * time.Second, MaxAge: 40 * time.Second})
	e.Poll(t.Context())
	src.SetDetails() // not supported any more, as after a driver's restart
	e.clock.advance(31 * time.Second)
	e.Poll(t.Context())
	if s := e.metrics(t); strings.Contains(s, "gpu_firmware_info") || value(s, `gpu_exporter_collector_success{collector="firmware"}`) != "1" {
		t.Error("a card that does not know its firmware still has one, or that is called a failure")
	}
	src.SetDetails(smitest.Details(2)...)
	e.clock.advance(31 * time.Second)
	e.Poll(t.Context())
	bad := &failingDetail{seldom: src}
	e.opt.Source = bad
	for _, c := range []struct {
		after time.Duration
		shown bool
	}{{31 * time.Second, true}, {60 * time.Second, false}} {
		e.clock.advance(c.after)
		e.Poll(t.Context())
		s := e.metrics(t)
		if strings.Contains(s, "gpu_firmware_info") != c.shown {
			t.Errorf("after %v: shown %v, want %v", c.after, !c.shown, c.shown)
		}
		if got := value(s, `gpu_exporter_collector_success{collector="firmware"}`); got != "0" {
			t.Errorf("after %v: success %q", c.after, got)
		}
		if got := value(s, `gpu_exporter_collector_success{collector="device"}`); got != "1" {
			t.Errorf("after %v: device success %q", c.after, got)
		}
	}
}

type failingDetail struct{ *seldom }

func (failingDetail) Firmware(context.Context, int) ([]smi.Firmware, error) {
	return nil, smi.Errorf(smi.ErrIO, "no answer")
}

// A reading for a sink has the details, too.
func TestReadingDetail(t *testing.T) {
	src := newSeldom()
	src.SetTopology(smitest.Topology(2))
	e := start(t, Options{Source: src})
	e.Poll(t.Context())
	e.hear(t, src.Fake, smi.Event{Device: 1, Kind: smi.EventECC}, smi.Event{Device: 1, Kind: smi.EventECC})
	r := e.Read()
	d := r.Cards[0].Detail
	if d.XGMI == nil || d.Partitions == nil || len(d.Firmware) == 0 || d.BadPages == nil || r.Topology == nil {
		t.Errorf("reading %+v, topology %v", d, r.Topology)
	}
	if want := []EventCount{{1, smi.EventECC, 2}}; !slices.Equal(r.Events, want) {
		t.Errorf("events %v, want %v", r.Events, want)
	}
}

// deaf is a source whose events cannot be listened to.
type deaf struct{ *smitest.Fake }

func (deaf) Events(context.Context, func(smi.Event)) error { return smi.ErrNotSupported }

func TestNoEvents(t *testing.T) {
	e := start(t, Options{Source: deaf{smitest.NewFake(smitest.Cards()...)}})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		e.events.run(ctx)
	}()
	e.Poll(t.Context())
	for starting := true; starting; time.Sleep(time.Millisecond) {
		e.events.mu.Lock()
		starting = errors.Is(e.events.err, errStarting)
		e.events.mu.Unlock()
	}
	s := e.metrics(t)
	if strings.Contains(s, "gpu_events_total") || value(s, `gpu_exporter_collector_success{collector="event"}`) != "1" {
		t.Errorf("events of a source that tells none:\n%s", s)
	}
	cancel()
	<-ended
}

// Real cards are not listened to unless that is wanted, as it keeps them from being
// divided otherwise; simulated ones are.
func TestEventsAuto(t *testing.T) {
	cards := smitest.Cards()[:1]
	src := smitest.NewFake(cards...)
	e := start(t, Options{Source: src, Events: EventsAuto, Interval: time.Millisecond})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		e.Run(ctx)
	}()
	src.Emit(smi.Event{Kind: smi.EventECC})
	for !e.Up() {
		time.Sleep(time.Millisecond)
	}
	e.Poll(t.Context())
	if v := e.events.view(); len(v.Counts) > 0 || e.harmless() {
		t.Errorf("a card of amdgpu is listened to: %v", v)
	}
	if s := e.metrics(t); strings.Contains(s, "gpu_events_total") || value(s, `gpu_exporter_collector_success{collector="event"}`) != "1" {
		t.Error("events, or a failure, although nobody asked for them")
	}
	simulated := cards[0]
	simulated.Info = simulated.Info.Clone()
	simulated.Info.Driver.Name = "simulated"
	src.SetCards(simulated)
	for e.heardSoFar() == 0 {
		time.Sleep(time.Millisecond)
	}
	cancel()
	<-ended
	if _, err := New(Options{Source: src, Events: "often"}); err == nil {
		t.Error("events in a way that does not exist")
	}
}
