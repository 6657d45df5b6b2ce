package main

import (
	"context"
	"strconv"
	"strings"

	"github.com/rocwire/rocwire/internal/fleet"
	"github.com/rocwire/rocwire/smi"
)

// selector says which cards a word of the command line means.
type selector struct {
	word  string
	index int // -1: one of the others
	bdf   smi.Opt[smi.BDF]
	uuid  string // start of it, lower case
}

// minUUID is how many characters of a UUID it takes at least, so that a typing
// mistake does not become one.
const minUUID = 4

// parseSelector reads the number, PCI address or UUID of a card.
func parseSelector(s string) (selector, error) {
	sel := selector{word: s, index: -1}
	if n, err := strconv.ParseUint(s, 10, 31); err == nil {
		sel.index = int(n)
		return sel, nil
	}
	if b, err := smi.ParseBDF(s); err == nil {
		sel.bdf = smi.Some(b)
		return sel, nil
	}
	u := strings.ToLower(s)
	if digits := strings.TrimPrefix(u, "gpu-"); len(digits) >= minUUID && strings.Trim(digits, "0123456789abcdef-") == "" {
		sel.uuid = digits
		return sel, nil
	}
	return sel, usagef("%q is not a GPU: give its number, its PCI address like c1:00.0, or the first %d or more characters of its UUID (see smi-remote list)", s, minUUID)
}

func (s *selector) matches(d *smi.Device) bool {
	switch {
	case s.index >= 0:
		return d.Index == s.index
	case s.uuid != "":
		return strings.HasPrefix(strings.TrimPrefix(strings.ToLower(d.UUID), "gpu-"), s.uuid)
	}
	bdf, ok := d.BDF.Get()
	return ok && bdf == s.bdf.Or(smi.BDF{})
}

// card is one card of one worker. Besides Device, all of it is only there if a
// snapshot was asked for.
type card struct {
	*worker
	smi.DeviceSnapshot
}

// cards are the cards that words select, all if there is none; with full everything
// about them. A word that fits none is smi.ErrNotFound.
func (a *app) cards(ctx context.Context, words []string, full bool) ([]card, *problems, error) {
	sels := make([]selector, len(words))
	for i, word := range words {
		var err error
		if sels[i], err = parseSelector(word); err != nil {
			return nil, nil, err
		}
	}
	answers, p, err := ask(ctx, a, "", func(ctx context.Context, w *worker) ([]card, error) { return w.cards(ctx, full) })
	if err != nil {
		return nil, nil, err
	}
	var all []card
	for _, r := range answers {
		all = append(all, r.value...)
	}
	if len(sels) == 0 {
		return all, p, nil
	}
	chosen, err := choose(all, sels)
	switch {
	case err == nil || p.err() == nil:
		return chosen, p, err
	case p.nobody():
		return nil, nil, p
	}
	// It may be one of those that did not answer.
	p.list = append(p.list, problem{Code: smi.CodeOf(err), Detail: err.Error(), whole: true})
	return nil, nil, p
}

// cards asks a worker for its cards.
func (w *worker) cards(ctx context.Context, full bool) ([]card, error) {
	var all []card
	if full {
		s, err := w.snapshot(ctx)
		if err != nil {
			return nil, err
		}
		for _, d := range s.Devices {
			all = append(all, card{w, d})
		}
		return all, nil
	}
	ds, err := w.devices(ctx)
	if err != nil {
		return nil, err
	}
	for _, d := range ds {
		all = append(all, card{w, smi.DeviceSnapshot{Device: d}})
	}
	return all, nil
}

// choose is the cards that the selectors mean, in the order of the workers.
func choose(all []card, sels []selector) ([]card, error) {
	taken := make([]bool, len(all))
	for i := range sels {
		s, found := &sels[i], 0
		for j := range all {
			if s.matches(&all[j].Device) {
				taken[j] = true
				found++
			}
		}
		if found == 0 {
			return nil, noCard(s, all)
		}
		if s.uuid != "" && found > 1 {
			return nil, usagef("%q is the start of the UUIDs of %d GPUs; give more of it", s.word, found)
		}
	}
	var chosen []card
	for j := range all {
		if taken[j] {
			chosen = append(chosen, all[j])
		}
	}
	return chosen, nil
}

// noCard says which cards there are instead.
func noCard(s *selector, all []card) error {
	workers := map[*worker]int{}
	for i := range all {
		workers[all[i].worker]++
	}
	switch {
	case s.index >= 0 && len(workers) <= 1:
		return smi.NoDevice(s.index, len(all))
	case s.index >= 0:
		return smi.Errorf(smi.ErrNotFound, "no worker has a GPU %d", s.index)
	}
	return smi.Errorf(smi.ErrNotFound, "there is no GPU %s", s.word)
}

// each asks something of each card, all side by side, and calls done with the
// answers in the order of the cards. A card that fails is noted in p.
func each[T any](ctx context.Context, a *app, cards []card, p *problems, what string, one func(context.Context, *card) (T, error), done func(*card, T)) error {
	type outcome struct {
		v   T
		err error
	}
	all := make([]outcome, len(cards))
	fleet.SideBySide(len(cards), func(i int) {
		c := &cards[i]
		all[i].v, all[i].err = askOne(ctx, a, c.worker, func(ctx context.Context, _ *worker) (T, error) { return one(ctx, c) })
	})
	if ctx.Err() != nil {
		return errInterrupted
	}
	for i, o := range all {
		if o.err != nil {
			p.add(cards[i].worker, &cards[i].Device, what, o.err)
			continue
		}
		done(&cards[i], o.v)
	}
	return nil
}
