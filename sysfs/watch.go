package sysfs

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/rocwire/rocwire/smi"
)

// Events implements smi.Source. It joins two kinds: those that the compute driver
// tells the moment they happen (faults, throttling, resets, evictions, migrations),
// and those that follow from looking at the cards every second: a card is lost or
// found, its PCIe link changes, errors are counted, pages go bad. The second kind is
// as late as that second, and what happens and ends between two looks is not seen.
func (s *source) Events(ctx context.Context, each func(smi.Event)) error {
	if err := s.ready(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ch := make(chan smi.Event, 64)
	send := func(e smi.Event) {
		e.Time = time.Now()
		select {
		case ch <- e:
		case <-ctx.Done():
		}
	}
	var streams []io.Closer
	defer func() {
		for _, r := range streams {
			r.Close()
		}
	}()
	for _, c := range s.cards {
		for _, n := range s.kfd.read().gpus(c.BDF.Or(smi.BDF{})) {
			r, err := s.openEvents(n.gpuID)
			if err != nil {
				s.once("no events from the compute driver; only what shows when looking at the cards is told", "reason", err)
				continue
			}
			streams = append(streams, r)
			go func() {
				if err := readKFDEvents(r, c.Index, send); err != nil && ctx.Err() == nil {
					s.once("the compute driver's events ended", "gpu", c.Index, "reason", err)
				}
			}()
		}
		// Each card apart: one that hangs in the driver keeps no other from being
		// looked at, nor this method from ending.
		go s.watch(ctx, c, send)
	}
	for {
		select {
		case e := <-ch:
			each(e)
		case <-s.done:
			return s.ready()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// state is what of a card is watched.
type state struct {
	lost  bool
	width smi.Opt[int]
	speed smi.Opt[smi.TransfersPerSecond]
	ecc   map[counter]uint64
	pages smi.Opt[int]
}

// counter is one kind of error in one part of the card.
type counter struct{ block, kind string }

// fill takes over what could not be read this time: a card that is being reset
// answers nothing for a moment, and what it counted meanwhile is to be told.
func (st *state) fill(before *state) {
	if st.lost || before.lost {
		return
	}
	if !st.width.Ok() {
		st.width = before.width
	}
	if !st.speed.Ok() {
		st.speed = before.speed
	}
	if !st.pages.Ok() {
		st.pages = before.pages
	}
	for k, v := range before.ecc {
		if _, ok := st.ecc[k]; !ok {
			st.ecc[k] = v
		}
	}
}

func (s *source) watch(ctx context.Context, c *card, send func(smi.Event)) {
	before := s.look(c)
	tick := time.NewTicker(s.watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := s.look(c)
		now.fill(&before)
		for _, e := range changes(c, &before, &now) {
			e.Device = c.Index
			send(e)
		}
		before = now
	}
}

// look reads what is watched, apart from others who ask.
func (s *source) look(c *card) (st state) {
	st.ecc = map[counter]uint64{}
	if c.present() != nil {
		st.lost = true
		return st
	}
	t := s.table(c)
	p := t.pcie()
	if !p.Width.Ok() {
		p.Width = figure(c, "current_link_width", lanes)
	}
	if !p.Speed.Ok() {
		p.Speed = linkSpeed(c.line("current_link_speed"))
	}
	st.width, st.speed = p.Width, p.Speed
	if e, err := s.ecc(c); err == nil {
		for _, b := range e.Blocks {
			for kind, n := range map[string]smi.Opt[uint64]{"correctable": b.Correctable, "uncorrectable": b.Uncorrectable, "deferred": b.Deferred} {
				if v, ok := n.Get(); ok {
					st.ecc[counter{b.Block, kind}] = v
				}
			}
		}
	}
	if pages, err := s.badPages(c); err == nil {
		st.pages = smi.Some(len(pages))
	}
	return st
}

// changes are the events between two looks at a card. What was not known at one of
// them makes none.
func changes(c *card, a, b *state) (es []smi.Event) {
	switch {
	case b.lost && !a.lost:
		return []smi.Event{{Kind: smi.EventLost, Message: fmt.Sprintf("%s does not answer any more", c.BDF)}}
	case a.lost && !b.lost:
		return []smi.Event{{Kind: smi.EventFound, Message: fmt.Sprintf("%s is back", c.BDF)}}
	case b.lost:
		return nil
	}
	if a.width.Ok() && b.width.Ok() && a.width != b.width || a.speed.Ok() && b.speed.Ok() && a.speed != b.speed {
		es = append(es, smi.Event{Kind: smi.EventLinkChange, Message: fmt.Sprintf("PCIe link from %s to %s", link(a), link(b))})
	}
	if more := moreErrors(a.ecc, b.ecc); more != "" {
		es = append(es, smi.Event{Kind: smi.EventECC, Message: more})
	}
	if n, ok := a.pages.Get(); ok && b.pages.Or(0) > n {
		es = append(es, smi.Event{Kind: smi.EventECC, Message: fmt.Sprintf("%d bad pages more, %v in all", b.pages.Or(0)-n, b.pages)})
	}
	return es
}

func link(s *state) string {
	return fmt.Sprintf("%v lanes at %g GT/s", s.width, float64(s.speed.Or(0))/1e9)
}

// moreErrors says which counters rose, "umc: 3 correctable".
func moreErrors(before, now map[counter]uint64) string {
	var rose []string
	for k, v := range now {
		if old, ok := before[k]; ok && v > old {
			rose = append(rose, fmt.Sprintf("%s: %d %s", k.block, v-old, k.kind))
		}
	}
	slices.Sort(rose)
	return strings.Join(rose, ", ")
}
