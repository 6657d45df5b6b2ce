package amdsmi

import (
	"context"

	"github.com/rocwire/rocwire/smi"
)

// XGMI implements smi.Source. ErrNotSupported for a card without links.
func (s *Source) XGMI(ctx context.Context, index int) (*smi.XGMI, error) {
	return ask(ctx, s, index, askXGMI, (*reader).xgmi)
}

// xgmiErrors are the values of amdsmi_xgmi_status_t.
var xgmiErrors = map[uint64]string{0: smi.XGMINoErrors, 1: smi.XGMIError, 2: smi.XGMIMultipleErrors}

// linkStates are the values of amdsmi_xgmi_link_status_type_t.
var linkStates = map[uint64]string{0: smi.LinkDown, 1: smi.LinkUp, 2: smi.LinkDisabled}

func (r *reader) xgmi() (*smi.XGMI, error) {
	x := &smi.XGMI{}
	i := &r.l().xgmiInfo
	b := r.get(fnXGMIInfo, i.size)
	if hive, ok := b.counter(i.xgmiHiveId).Get(); ok && hive != 0 {
		x.Hive, x.Node, x.Lanes = smi.Some(hive), b.counter(i.xgmiNodeId), lanes(b.num(i.xgmiLanes))
	}
	x.Links = r.links()
	if x.Links == nil && !x.Hive.Ok() {
		if err := r.failure(); err != nil {
			return nil, err
		}
		return nil, smi.Errorf(smi.ErrNotSupported, "GPU %d has no XGMI links", r.card.index)
	}
	if v, ok := r.get(fnXGMIErrorStatus, 4).raw(oneUint32, 0); ok {
		x.Errors = xgmiErrors[v]
	}
	return x, nil
}

func (r *reader) links() (list []smi.XGMILink) {
	l, e := &r.l().linkMetrics, &r.l().linkMetricsLinks
	b := r.get(fnLinkMetrics, l.size)
	s := &r.l().xgmiLinkStatus
	states := r.get(fnXGMILinkStatus, s.size)
	known := states.length(s.totalLinks, s.status.count)
	own := r.card.device.Load().BDF
	for i := range b.length(l.numLinks, l.links.count) {
		link := b.part(l.links, i)
		kind, _ := link.raw(e.linkType, 0)
		address, ok := link.raw(e.bdf, 0)
		peer := bdf(address)
		if kind != r.lib.abi.linkXGMI || !ok || own.Ok() && peer == own {
			continue
		}
		one := smi.XGMILink{
			Rate: gigabits(link.num(e.bitRate)), MaxBandwidth: gigabits(link.num(e.maxBandwidth)),
			Read: kibibytes(link.counter(e.read)), Written: kibibytes(link.counter(e.write)),
		}
		if address != 0 {
			one.Peer = peer
		}
		if i < known {
			state, _ := states.raw(s.status, i)
			one.State = linkStates[state]
		}
		list = append(list, one)
	}
	return list
}

func gigabits(o smi.Opt[uint64]) smi.Opt[smi.BitsPerSecond] {
	return optMap(o, func(v uint64) (smi.BitsPerSecond, bool) { return smi.BitsPerSecond(v) * 1e9, v > 0 && v < 1e6 })
}

func kibibytes(o smi.Opt[uint64]) smi.Opt[smi.Bytes] {
	return optMap(o, func(v uint64) (smi.Bytes, bool) { return smi.Bytes(v << 10), v < 1<<46 })
}
