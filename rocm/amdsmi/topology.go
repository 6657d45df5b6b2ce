package amdsmi

import (
	"context"
	"sync"

	"github.com/rocwire/rocwire/smi"
)

// Topology implements smi.Source. The paths from a card that does not answer are
// listed without figures.
func (s *Source) Topology(ctx context.Context) (*smi.Topology, error) {
	if err := s.begin(); err != nil {
		return nil, err
	}
	defer s.lib.release()
	rows := make([][]smi.Path, len(s.cards))
	errs := make([]error, len(s.cards))
	var wg sync.WaitGroup
	for i := range s.cards {
		wg.Go(func() { rows[i], errs[i] = ask(ctx, s, i, askTopology, (*reader).paths) })
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	t := &smi.Topology{}
	silent := 0
	for from := range s.cards {
		if errs[from] == nil {
			t.Paths = append(t.Paths, rows[from]...)
			continue
		}
		silent++
		for to := range s.cards {
			if to != from {
				t.Paths = append(t.Paths, smi.Path{From: from, To: to})
			}
		}
	}
	if silent == len(s.cards) && silent > 0 && !isUnsupported(errs[0]) {
		return nil, errs[0]
	}
	return t, nil
}

// paths are the ways from the card to all others.
func (r *reader) paths() ([]smi.Path, error) {
	list := []smi.Path{}
	for _, to := range r.source.cards {
		if to != r.card {
			list = append(list, r.path(to))
		}
	}
	if len(list) == 0 {
		return list, nil
	}
	return list, r.failure()
}

// Values of amdsmi_io_link_type_t and, since ABI 26, of amdsmi_link_type_t.
const (
	pathPCIe = 1
	pathXGMI = 2
)

func (r *reader) path(to *card) smi.Path {
	p := smi.Path{From: r.card.index, To: to.index}
	hops, h := r.mem.alloc(8)
	kind, k := r.mem.alloc(4)
	if r.call(fnLinkType, to.handle, hops, kind) == nil {
		p.Hops = h.num(oneUint64)
		switch k.num(oneUint32).Or(0) {
		case pathPCIe:
			p.Type = smi.LinkPCIe
		case pathXGMI:
			p.Type = smi.LinkXGMI
		}
	}
	p.Weight = optMap(r.getUint64(fnLinkWeight, to.handle), func(v uint64) (uint64, bool) { return v, v != 0xFFFF })
	p.Access = r.get(fnP2PAccessible, 1, to.handle).flag(oneBool)
	c := &r.l().p2pCapability
	kind, _ = r.mem.alloc(4)
	at, caps := r.mem.alloc(c.size)
	if r.call(fnP2PStatus, to.handle, kind, at) == nil {
		p.Coherent, p.Atomics32, p.Atomics64 = caps.flag(c.isIolinkCoherent), caps.flag(c.isIolinkAtomics32bit), caps.flag(c.isIolinkAtomics64bit)
		p.DMA, p.Bidirectional = caps.flag(c.isIolinkDma), caps.flag(c.isIolinkBiDirectional)
	}
	lo, l := r.mem.alloc(8)
	hi, u := r.mem.alloc(8)
	if r.call(fnMinMaxBandwidth, to.handle, lo, hi) == nil {
		p.MinBandwidth, p.MaxBandwidth = megabytes(l.num(oneUint64)), megabytes(u.num(oneUint64))
		if p.MinBandwidth.Or(0) > p.MaxBandwidth.Or(smi.BytesPerSecond(1e18)) {
			p.MinBandwidth, p.MaxBandwidth = smi.None[smi.BytesPerSecond](), smi.None[smi.BytesPerSecond]()
		}
	}
	return p
}

// megabytes is a bandwidth in megabytes per second; 0 is how the driver says that it
// does not know.
func megabytes(o smi.Opt[uint64]) smi.Opt[smi.BytesPerSecond] {
	return optMap(o, func(v uint64) (smi.BytesPerSecond, bool) { return smi.BytesPerSecond(v) * 1e6, v > 0 && v < 1e9 })
}
