package sysfs

import (
	"context"
	"fmt"
	"io"
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
	ecc   *smi.ECC
	pages int
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
		for _, e := range changes(c, &before, &now) {
			e.Device = c.Index
			send(e)
		}
		before = now
	}
}

// look reads what is watched, apart from others who ask.
func (s *source) look(c *card) (st state) {
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
		st.ecc = e
	}
	if pages, err := s.badPages(c); err == nil {
		st.pages = len(pages)
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
	if a.ecc != nil && b.ecc != nil {
		if more := moreErrors(a.ecc, b.ecc); more != "" {
			es = append(es, smi.Event{Kind: smi.EventECC, Message: more})
		}
	}
	if b.pages > a.pages {
		es = append(es, smi.Event{Kind: smi.EventECC, Message: fmt.Sprintf("%d bad pages more, %d in all", b.pages-a.pages, b.pages)})
	}
	return es
}

func link(s *state) string {
	return fmt.Sprintf("%v lanes at %g GT/s", s.width, float64(s.speed.Or(0))/1e9)
}

// moreErrors says which counters rose, "umc: 3 correctable".
func moreErrors(a, b *smi.ECC) string {
	old := map[string]smi.ECCBlock{}
	for _, x := range a.Blocks {
		old[x.Block] = x
	}
	var parts []string
	for _, x := range b.Blocks {
		o, ok := old[x.Block]
		if !ok {
			continue
		}
		for _, n := range []struct {
			kind string
			a, b smi.Opt[uint64]
		}{{"correctable", o.Correctable, x.Correctable}, {"uncorrectable", o.Uncorrectable, x.Uncorrectable}, {"deferred", o.Deferred, x.Deferred}} {
			if n.a.Ok() && n.b.Or(0) > n.a.Or(0) {
				parts = append(parts, fmt.Sprintf("%s: %d %s", x.Block, n.b.Or(0)-n.a.Or(0), n.kind))
			}
		}
	}
	return strings.Join(parts, ", ")
}
