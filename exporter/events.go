package exporter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/rocwire/rocwire/exporter/collector"
	"github.com/rocwire/rocwire/smi"
)

// Whether events are counted. The kernel hands them out through /dev/kfd, and counts
// whoever has opened that, the worker here, as a user of all cards until it ends: they
// cannot be divided otherwise then.
const (
	EventsAuto = "auto" // unless one of the cards has the amdgpu driver
	EventsOn   = "on"
	EventsOff  = "off"
)

func checkEvents(s string) error {
	switch s {
	case EventsAuto, EventsOn, EventsOff:
		return nil
	}
	return fmt.Errorf("exporter: events are %s, %s or %s, not %q", EventsAuto, EventsOn, EventsOff, s)
}

// harmless reports whether listening keeps nobody from anything; false as long as it
// is not known.
func (e *Exporter) harmless() bool {
	v := e.poll.view()
	for i := range v.Cards {
		if info := v.Cards[i].Snap.Info; info == nil || info.Driver.Name == "amdgpu" {
			return false
		}
	}
	return len(v.Cards) > 0
}

var knownEvent = func() map[string]bool {
	known := map[string]bool{}
	for _, k := range collector.EventKinds {
		known[k] = true
	}
	return known
}()

// EventCount is how many events of one kind a card had since the exporter began to
// listen.
type EventCount struct {
	Device int // index of the card, or smi.NoCard
	Kind   string
	Count  uint64
}

// eventCounter listens to what happens to the cards, and counts it.
type eventCounter struct {
	opt      *Options
	cards    func() []smi.Device
	harmless func() bool

	mu     sync.Mutex
	counts map[collector.EventKey]uint64
	missed uint64
	heard  bool  // the source can be listened to
	err    error // why it cannot, now
}

// settled is after how long a source that still lets itself be listened to is taken to
// be one that can.
const settled = time.Second

// errStarting is while the first attempt to listen has not ended, nor lasted.
var errStarting = errors.New("not listening yet")

func newEventCounter(opt *Options, cards func() []smi.Device, harmless func() bool) *eventCounter {
	return &eventCounter{opt: opt, cards: cards, harmless: harmless, counts: map[collector.EventKey]uint64{}, err: errStarting}
}

// run listens until ctx is done, again and again. Events between two attempts are not
// counted, which the collector's success tells.
func (e *eventCounter) run(ctx context.Context) {
	if e.opt.Events == EventsAuto && !e.wait(ctx) {
		return
	}
	for ctx.Err() == nil {
		t := time.AfterFunc(settled, e.listening)
		err := e.opt.Source.Events(ctx, e.count)
		t.Stop()
		e.mu.Lock()
		e.err = err
		if err == nil {
			e.err = errors.New("the source tells no more events")
		}
		e.mu.Unlock()
		pause := time.NewTimer(e.pause(err))
		select {
		case <-ctx.Done():
		case <-pause.C:
		}
		pause.Stop()
	}
}

// wait waits until the cards are known to be such that listening is harmless.
func (e *eventCounter) wait(ctx context.Context) bool {
	t := time.NewTicker(e.opt.Interval)
	defer t.Stop()
	for !e.harmless() {
		select {
		case <-ctx.Done():
			return false
		case <-t.C:
		}
	}
	return true
}

// pause is how long after an end it is tried again: a source that cannot now may be
// one that can after the worker's update, but not in a hurry.
func (e *eventCounter) pause(err error) time.Duration {
	if errors.Is(err, smi.ErrNotSupported) {
		return 10 * e.opt.SlowInterval
	}
	return max(e.opt.Interval, settled)
}

func (e *eventCounter) listening() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.heard, e.err = true, nil
}

func (e *eventCounter) count(ev smi.Event) {
	k := collector.EventKey{Device: smi.NoCard, Kind: ev.Kind}
	if !knownEvent[k.Kind] {
		k.Kind = collector.OtherEvents
	}
	for _, d := range e.cards() {
		if d.Index == ev.Device {
			k.Device = ev.Device
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.heard, e.err = true, nil
	if ev.Kind == smi.EventMissed {
		e.missed += max(ev.Count, 1)
		return
	}
	e.counts[k]++
}

func (e *eventCounter) view() collector.Events {
	e.mu.Lock()
	defer e.mu.Unlock()
	v := collector.Events{Counts: maps.Clone(e.counts), Missed: e.missed, Heard: e.heard, Err: e.err}
	if errors.Is(v.Err, smi.ErrNotSupported) || errors.Is(v.Err, errStarting) {
		v.Err = nil
	}
	return v
}

// listEvents is the counts in order.
func listEvents(counts map[collector.EventKey]uint64) []EventCount {
	list := make([]EventCount, 0, len(counts))
	for k, n := range counts {
		list = append(list, EventCount{k.Device, k.Kind, n})
	}
	slices.SortFunc(list, func(a, b EventCount) int {
		return cmp.Or(cmp.Compare(a.Device, b.Device), cmp.Compare(a.Kind, b.Kind))
	})
	return list
}
