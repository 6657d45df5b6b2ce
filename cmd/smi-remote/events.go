package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/rocwire/rocwire/cmd/smi-remote/internal/text"
	"github.com/rocwire/rocwire/smi"
)

// eventRow is one event of one worker's.
type eventRow struct {
	Host string `json:"host"`
	smi.Event
}

// reconnect is how long to wait before a worker that was lost is tried again.
const reconnect = 2 * time.Second

// events prints what happens until ctx is done. Only kinds are shown, if there are
// some; and only the cards that words select, if there are some.
func (a *app) events(ctx context.Context, words, kinds []string) error {
	var cards []card
	if len(words) > 0 {
		var err error
		if cards, _, err = a.cards(ctx, words, false); err != nil {
			return err
		}
	} else if err := a.open(); err != nil {
		return err
	}
	s := &eventStream{a: a, kinds: kinds, cards: cards}
	p := &problems{workers: len(a.workers)}
	var mu sync.Mutex // of p
	var wg sync.WaitGroup
	for _, w := range a.workers {
		wg.Go(func() {
			if err := s.follow(ctx, w); err != nil {
				mu.Lock()
				defer mu.Unlock()
				p.add(w, nil, "events", err)
				a.complain(&problems{workers: p.workers, list: p.list[len(p.list)-1:]})
			}
		})
	}
	wg.Wait()
	switch {
	case s.failed != nil:
		return s.failed
	case ctx.Err() != nil:
		return nil // that is how it ends
	case p.nobody():
		return &said{p, exitUnreachable}
	}
	return &said{p, exitFailed}
}

// eventStream prints the events of several workers.
type eventStream struct {
	a     *app
	kinds []string
	cards []card

	mu     sync.Mutex
	header bool // has been printed
	failed error
}

// follow prints a worker's events. One that was there once is waited for when it is
// lost.
func (s *eventStream) follow(ctx context.Context, w *worker) error {
	for once := false; ; once = true {
		_, err := askOne(ctx, s.a, w, func(context.Context, *worker) (struct{}, error) { return struct{}{}, nil })
		if err == nil {
			err = w.client.Events(ctx, func(e smi.Event) { s.print(w, e) })
			if isLost(err) {
				s.a.complain(fmt.Errorf("worker %s is lost; waiting for it", w.address()))
			}
		} else if !once {
			return err
		}
		if ctx.Err() != nil {
			return nil
		}
		if !isLost(err) && !errors.Is(err, smi.ErrUnavailable) {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(reconnect):
		}
	}
}

func (s *eventStream) wants(w *worker, e *smi.Event) bool {
	if len(s.kinds) > 0 && !slices.Contains(s.kinds, e.Kind) && e.Kind != smi.EventMissed {
		return false
	}
	return len(s.cards) == 0 || e.Device == smi.NoCard ||
		slices.ContainsFunc(s.cards, func(c card) bool { return c.worker == w && c.Device.Index == e.Device })
}

// print prints one event at once.
func (s *eventStream) print(w *worker, e smi.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed != nil || !s.wants(w, &e) {
		return
	}
	row := eventRow{w.address(), e}
	var err error
	switch a := s.a; {
	case a.json:
		enc := json.NewEncoder(a.stdout)
		enc.SetEscapeHTML(false)
		err = enc.Encode(row)
	case a.csv:
		err = writeCSV(a.stdout, []eventRow{row}, !s.header && !a.noHeader)
		s.header = true
	default:
		_, err = fmt.Fprintln(a.stdout, s.line(w, &e))
	}
	s.failed = err
}

func (s *eventStream) line(w *worker, e *smi.Event) string {
	line := e.Time.Local().Format("15:04:05.000")
	if s.a.several() {
		line += "  " + text.Clean(w.label)
	}
	if e.Device != smi.NoCard {
		line += fmt.Sprintf("  GPU %d", e.Device)
	}
	line += "  " + text.Dash(e.Kind)
	if e.PID != 0 {
		line += fmt.Sprintf("  pid %d", e.PID)
	}
	if e.Message != "" {
		line += "  " + text.Clean(e.Message)
	}
	return line // whole: it may be searched
}
