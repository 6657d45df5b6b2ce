package sysfs

import (
	"context"

	"github.com/rocwire/rocwire/smi"
)

// Topology implements smi.Source. The ways between the cards are those of the compute
// driver; without it there are none to tell.
func (s *source) Topology(ctx context.Context) (*smi.Topology, error) {
	return ask(ctx, s, "topology", 0, (*smi.Topology).Clone, func(*card) (*smi.Topology, error) {
		top := s.kfd.read()
		if top.err != nil {
			return nil, top.err
		}
		out := &smi.Topology{}
		for _, a := range s.cards {
			for _, b := range s.cards {
				if a != b {
					out.Paths = append(out.Paths, top.path(a, b))
				}
			}
		}
		return out, nil
	})
}

// path is the best way from a card to another: a link of their own, a peer-to-peer
// connection over the host's bridges, or through the host's memory, where one cannot
// address the other.
func (top *topology) path(a, b *card) smi.Path {
	p := smi.Path{From: a.Index, To: b.Index}
	from, to := top.gpus(a.BDF.Or(smi.BDF{})), top.gpus(b.BDF.Or(smi.BDF{}))
	if len(from) == 0 || len(to) == 0 {
		return p // one of them is not for computing, or not ours to see
	}
	host, hops, through := top.throughHost(from[0], to[0])
	if through {
		p.Type, p.Weight, p.Hops = smi.LinkPCIe, smi.Some(host), smi.Some(hops)
	}
	link := best(from, to)
	p.Access = smi.Some(link != nil)
	if link == nil {
		return p
	}
	p.Weight = smi.Some(link.props["weight"])
	switch {
	case link.props["type"] == linkXGMI:
		p.Type, p.Hops = smi.LinkXGMI, smi.Some[uint64](1)
	case link.props["type"] == linkPCIe:
		p.Type = smi.LinkPCIe
	}
	flags := link.props["flags"]
	p.Coherent = smi.Some(flags&linkNonCoherent == 0)
	p.Atomics32, p.Atomics64 = smi.Some(flags&linkNoAtomics32 == 0), smi.Some(flags&linkNoAtomics64 == 0)
	p.DMA = smi.Some(flags&linkNoDMA == 0)
	p.Bidirectional = smi.Some(flags&linkBidirectional != 0 || best(to, from) != nil)
	p.MinBandwidth, p.MaxBandwidth = megabytes(link.props["min_bandwidth"]), megabytes(link.props["max_bandwidth"])
	return p
}

// best is the lightest link between the parts of two cards, a link of their own
// before a peer-to-peer connection.
func best(from, to []*node) (found *ioLink) {
	for _, f := range from {
		for i := range f.links {
			l := &f.links[i]
			for _, t := range to {
				if l.to != t.number {
					continue
				}
				if found == nil || found.peer && !l.peer || found.peer == l.peer && l.props["weight"] < found.props["weight"] {
					found = l
				}
			}
		}
	}
	return found
}

// throughHost is the weight and the number of links of the way over the processors
// that two GPUs hang on.
func (top *topology) throughHost(from, to *node) (weight, hops uint64, ok bool) {
	a, b := top.host(from), top.host(to)
	if a == nil || b == nil {
		return 0, 0, false
	}
	weight, hops = a.props["weight"]+b.props["weight"], 2
	if a.to == b.to {
		return weight, hops, true
	}
	for _, l := range top.node(a.to).links {
		if l.to == b.to {
			return weight + l.props["weight"], hops + 1, true
		}
	}
	return 0, 0, false
}

// host is a GPU's link to its nearest processor.
func (top *topology) host(n *node) (found *ioLink) {
	for i := range n.links {
		l := &n.links[i]
		if to := top.node(l.to); to == nil || to.gpuID != 0 || l.peer {
			continue
		}
		if found == nil || l.props["weight"] < found.props["weight"] {
			found = l
		}
	}
	return found
}

// megabytes is a bandwidth in KFD's unit; 0 is not known.
func megabytes(v uint64) smi.Opt[smi.BytesPerSecond] {
	if v == 0 || v > 1<<32 {
		return smi.None[smi.BytesPerSecond]()
	}
	return smi.Some(smi.BytesPerSecond(float64(v) * 1e6))
}
