package simgpu

import (
	"context"
	"math"

	"github.com/rocwire/rocwire/simgpu/card"
	"github.com/rocwire/rocwire/smi"
)

// pcieLink is a card's link to the host. The zero link is as fast as it can be.
type pcieLink struct {
	width      int                    // lanes, 0: all
	speed      smi.TransfersPerSecond // of a lane, 0: the highest
	recoveries uint64                 // how often it changed
}

// of are the link's width and speed.
func (l *pcieLink) of(c *chip) (int, smi.TransfersPerSecond) {
	w, s := l.width, l.speed
	if w == 0 {
		w = pcieLanes
	}
	if s == 0 {
		s = c.pcieSpeed
	}
	return w, s
}

// carries is what a link carries one way. Up to generation 2 ten bits are sent for
// eight, from 3 on 130 for 128.
func carries(width int, speed smi.TransfersPerSecond) float64 {
	code := 128.0 / 130
	if speed < 8e9 {
		code = 8.0 / 10
	}
	return float64(width) * float64(speed) * code / 8
}

// slower is by how much copies take longer than with the fastest link, as
// card.Condition.Link.
func (l *pcieLink) slower(c *chip) uint16 {
	x := carries(pcieLanes, c.pcieSpeed)/carries(l.of(c)) - 1
	return uint16(math.Min(card.MaxLink, math.Round(16*x)))
}

// pcie is what the link carried over some seconds: the copies between host and card.
// What kernels read and write in the host's memory is not counted.
func (p *product) pcie(g *gauge, first *sample, seconds float64) smi.PCIe {
	w, speed := g.link.of(p.chip)
	rate := func(dir card.Copy) smi.BytesPerSecond {
		if seconds <= 0 {
			return 0
		}
		n := float64(g.last().Copies[dir] - first.Copies[dir])
		return smi.BytesPerSecond(math.Min(n/seconds, carries(w, speed)))
	}
	in, out := rate(card.HostToCard), rate(card.CardToHost)
	zero := smi.Some(uint64(0))
	return smi.PCIe{
		Width: smi.Some(w), Speed: smi.Some(speed), Bandwidth: smi.Some(in + out), Sent: smi.Some(out), Received: smi.Some(in),
		Replays: zero, ReplayRollovers: zero, Recoveries: smi.Some(g.link.recoveries), NAKsSent: zero, NAKsReceived: zero,
	}
}

// linked reports whether two different cards have an XGMI link: those of a hive have,
// each with each.
func (c *chip) linked(i, j int) bool { return i != j && i/c.hive == j/c.hive }

// XGMI is what a card's links to the others of its hive carried. Copies between
// cards are counted; what kernels do in the memory of another card is not.
func (s *Source) XGMI(ctx context.Context, index int) (*smi.XGMI, error) {
	var x *smi.XGMI
	c := s.product.chip
	if c.hive == 1 {
		return nil, smi.Errorf(smi.ErrNotSupported, "%s has no links to other cards", s.product.name)
	}
	err := s.look(ctx, index, func(g *gauge) {
		x = &smi.XGMI{Lanes: smi.Some(linkLanes), Errors: smi.XGMINoErrors, Node: smi.Some(uint64(index % c.hive))}
		for peer := range s.cards {
			if !c.linked(index, peer) {
				continue
			}
			x.Hive = smi.Some(identity(s.product, "hive", index/c.hive)>>1 | 1)
			state := smi.LinkUp
			if s.cards[peer].Gone {
				state = smi.LinkDown
			}
			x.Links = append(x.Links, smi.XGMILink{
				Peer: smi.Some(bdf(peer)), State: state, Rate: smi.Some(c.linkRate), MaxBandwidth: smi.Some(c.linkBandwidth()),
				Read: smi.Some(smi.Bytes(g.now.FromPeer[peer])), Written: smi.Some(smi.Bytes(s.cards[peer].now.FromPeer[index])),
			})
		}
	})
	return x, err
}

// The kernel's measures of distance: one hop over XGMI, the way over PCIe within a
// memory node, and that between two.
const (
	weightXGMI = 15
	weightPCIe = 40
	weightFar  = 72
)

// Topology says how the cards that answer reach each other.
func (s *Source) Topology(ctx context.Context) (*smi.Topology, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errSourceClosed
	}
	t := &smi.Topology{}
	n, c, yes := len(s.cards), s.product.chip, smi.Some(true)
	for i := range n {
		for j := range n {
			if i == j || s.cards[i].Gone || s.cards[j].Gone {
				continue
			}
			p := smi.Path{
				From: i, To: j, Type: smi.LinkXGMI, Weight: smi.Some(uint64(weightXGMI)), Hops: smi.Some(uint64(1)), Access: yes,
				Coherent: yes, Atomics32: yes, Atomics64: yes, DMA: yes, Bidirectional: yes,
			}
			if c.linked(i, j) {
				rate := smi.Some(smi.BytesPerSecond(c.linkBandwidth() / 8))
				p.MinBandwidth, p.MaxBandwidth = rate, rate
			} else {
				p.Type, p.Coherent = smi.LinkPCIe, smi.Some(false)
				p.Weight, p.Hops = smi.Some(uint64(weightPCIe)), smi.Some(uint64(2))
				if s.host.numa(i, n).Node != s.host.numa(j, n).Node {
					p.Weight, p.Hops = smi.Some(uint64(weightFar)), smi.Some(uint64(3))
				}
			}
			t.Paths = append(t.Paths, p)
		}
	}
	return t, nil
}
