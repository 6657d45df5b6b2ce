package smiabi

import (
	"cmp"
	"math"
	"slices"

	"github.com/rocwire/rocwire/smi"
)

// linkTypes are the kinds of way between two cards.
var linkTypes = map[string]linkType{
	smi.LinkPCIe: AMDSMI_LINK_TYPE_PCIE,
	smi.LinkXGMI: AMDSMI_LINK_TYPE_XGMI,
}

func linkTypeOf(p *smi.Path) linkType {
	if t, ok := linkTypes[p.Type]; ok {
		return t
	}
	return AMDSMI_LINK_TYPE_UNKNOWN
}

// path is the way from one card to another.
func path(from, to card) (*smi.Path, status) {
	t, st := from.topology()
	if st != AMDSMI_STATUS_SUCCESS {
		return nil, st
	}
	if p := t.Path(from.index, to.index); p != nil {
		return p, AMDSMI_STATUS_SUCCESS
	}
	return nil, AMDSMI_STATUS_NOT_SUPPORTED
}

// amdsmiTopoGetLinkType is the kind of a way, and its hops. From a card to itself there
// are none.
func amdsmiTopoGetLinkType(from, to card, hops *uint64, typ *linkType) status {
	if from.index == to.index {
		*hops, *typ = 0, AMDSMI_LINK_TYPE_INTERNAL
		return AMDSMI_STATUS_SUCCESS
	}
	p, st := path(from, to)
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	if p.Type == "" && !p.Hops.Ok() {
		return AMDSMI_STATUS_NOT_SUPPORTED
	}
	*hops, *typ = p.Hops.Or(math.MaxUint64), linkTypeOf(p)
	return AMDSMI_STATUS_SUCCESS
}

// amdsmiTopoGetLinkWeight is how far a way is.
func amdsmiTopoGetLinkWeight(from, to card, weight *uint64) status {
	if from.index == to.index {
		*weight = 0
		return AMDSMI_STATUS_SUCCESS
	}
	p, st := path(from, to)
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	return put(weight, p.Weight, one)
}

// amdsmiTopoGetP2PStatus is what may be done over a way.
func amdsmiTopoGetP2PStatus(from, to card, typ *linkType, capability *p2pCapability) status {
	p, st := path(from, to)
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	if typ != nil {
		*typ = linkTypeOf(p)
	}
	if capability != nil {
		*capability = p2pCapability{
			isIolinkCoherent: yes(p.Coherent), isIolinkAtomics32bit: yes(p.Atomics32), isIolinkAtomics64bit: yes(p.Atomics64),
			isIolinkDma: yes(p.DMA), isIolinkBiDirectional: yes(p.Bidirectional),
		}
	}
	return AMDSMI_STATUS_SUCCESS
}

// amdsmiIsP2PAccessible is whether one card may address the other's memory; its own it
// always may.
func amdsmiIsP2PAccessible(from, to card, accessible *bool) status {
	if from.index == to.index {
		*accessible = true
		return AMDSMI_STATUS_SUCCESS
	}
	p, st := path(from, to)
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	may, ok := p.Access.Get()
	if !ok {
		return AMDSMI_STATUS_NOT_SUPPORTED
	}
	*accessible = may
	return AMDSMI_STATUS_SUCCESS
}

// amdsmiGetMinmaxBandwidthBetweenProcessors is how fast a way is at least and at most,
// in MB/s. Only direct links between cards have such figures.
func amdsmiGetMinmaxBandwidthBetweenProcessors(from, to card, least, top *uint64) status {
	p, st := path(from, to)
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	if !p.MinBandwidth.Ok() || !p.MaxBandwidth.Ok() {
		return AMDSMI_STATUS_NOT_SUPPORTED
	}
	*least, *top = in[uint64](p.MinBandwidth, mega), in[uint64](p.MaxBandwidth, mega)
	return AMDSMI_STATUS_SUCCESS
}

// amdsmiGetLinkTopologyNearest lists the cards that ways of a kind lead to, the nearest
// first.
func amdsmiGetLinkTopologyNearest(c card, kind linkType, out *topologyNearest) status {
	if kind > AMDSMI_LINK_TYPE_UNKNOWN {
		return AMDSMI_STATUS_NOT_SUPPORTED // ways to network cards
	}
	t, st := c.topology()
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	var ways []*smi.Path
	for i := range t.Paths {
		p := &t.Paths[i]
		if p.From == c.index && p.To >= 0 && p.To < len(c.lib.devices) && linkTypeOf(p) == kind {
			ways = append(ways, p)
		}
	}
	slices.SortStableFunc(ways, func(a, b *smi.Path) int {
		return cmp.Compare(a.Weight.Or(math.MaxUint64), b.Weight.Or(math.MaxUint64))
	})
	*out = topologyNearest{count: uint32(min(len(ways), len(out.processorList)))}
	for i := range out.count {
		out.processorList[i] = processorHandle(ways[i].To)
	}
	return AMDSMI_STATUS_SUCCESS
}
