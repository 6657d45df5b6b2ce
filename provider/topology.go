package provider

import (
	"context"
	"time"

	"github.com/rocwire/rocwire/smi"
)

// level is a TopoLevelType.
type level int32

const (
	levelInternal   level = 0
	levelHostBridge level = 3
	levelNUMANode   level = 4
	levelSystem     level = 5
	levelSelf       level = 6
	levelUnknown    level = 7
)

// row is how far a card is from all cards, itself included.
type row struct {
	uuid        string
	index, numa int32
	peers       []peer
}

type peer struct {
	uuid      string
	index     int32
	level     level
	bandwidth int64 // bytes per second; 0: unknown
}

// topology says how the cards reach each other. What the source does not know of ways is
// unknown, and no error.
func (h *host) topology(ctx context.Context, l *library) ([]row, error) {
	cards, _, err := l.cards(ctx)
	if err != nil {
		return nil, err
	}
	paths, err := l.paths.get(ctx, l.ctx, time.Second, l.src.Topology)
	if !answered(err) { // the host goes on without ways, and asks again; unknown ones it would keep
		return nil, err
	}
	if err != nil {
		l.log.Debug("no topology", "error", err)
	}
	if paths == nil {
		paths = &smi.Topology{}
	}
	rows := make([]row, len(cards))
	for i := range cards {
		a := &cards[i]
		rows[i] = row{uuid: a.uuid, index: int32(a.index), numa: numa(a)}
		for j := range cards {
			b := &cards[j]
			p := peer{uuid: b.uuid, index: int32(b.index), level: levelSelf}
			if i != j {
				p.level, p.bandwidth = distance(a, b, paths.Path(a.source(), b.source()))
			}
			rows[i].peers = append(rows[i].peers, p)
		}
	}
	return rows, nil
}

func numa(c *card) int32 {
	if n, ok := c.info.NUMA.Node.Get(); ok && n >= 0 && n < 1<<16 {
		return int32(n)
	}
	return -1
}

// distance is how far two cards are from each other. The kernel tells a direct link, and
// for the rest how many hops there are: two when the cards share the host's bridge. PCIe
// switches between them are not told.
func distance(a, b *card, p *smi.Path) (level, int64) {
	if p == nil {
		return byNUMA(a, b), 0
	}
	if p.Type == smi.LinkXGMI {
		return levelInternal, int64(min(count(p.MaxBandwidth), 1<<62))
	}
	l := byNUMA(a, b)
	if hops, ok := p.Hops.Get(); ok && hops <= 2 && l != levelSystem {
		l = levelHostBridge
	}
	return l, int64(min(count(p.MaxBandwidth), 1<<62))
}

func byNUMA(a, b *card) level {
	switch x, y := numa(a), numa(b); {
	case x < 0 || y < 0:
		return levelUnknown
	case x == y:
		return levelNUMANode
	}
	return levelSystem
}

// linked reports whether every card has a direct link to every other one.
func linked(rows []row) bool {
	for _, r := range rows {
		for _, p := range r.peers {
			if p.level != levelInternal && p.level != levelSelf {
				return false
			}
		}
	}
	return len(rows) > 1
}
