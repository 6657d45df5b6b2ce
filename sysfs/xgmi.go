package sysfs

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/rocwire/rocwire/smi"
)

// XGMI implements smi.Source.
func (s *source) XGMI(ctx context.Context, index int) (*smi.XGMI, error) {
	return ask(ctx, s, "xgmi", index, (*smi.XGMI).Clone, s.xgmi)
}

func (s *source) xgmi(c *card) (*smi.XGMI, error) {
	if err := c.present(); err != nil {
		return nil, err
	}
	x := &smi.XGMI{}
	x.Hive = figure(c, "xgmi_hive_info/xgmi_hive_id", count)
	if x.Hive.Or(0) == 0 {
		x.Hive = smi.None[uint64]()
	}
	x.Node = figure(c, "xgmi_device_id", count)
	t := s.table(c)
	if v, ok := t.get(xgmiLinkWidth); ok {
		x.Lanes = lanes(v)
	}
	var rate smi.Opt[smi.BitsPerSecond]
	if v, ok := t.float(xgmiLinkSpeed); ok && v > 0 && v < 10_000 {
		rate = smi.Some(smi.BitsPerSecond(v * 1e9))
	}
	x.Links = s.links(c, t, rate, x.Lanes)
	if !x.Hive.Ok() && !x.Node.Ok() && len(x.Links) == 0 {
		return nil, smi.Errorf(smi.ErrNotSupported, "GPU %d has no XGMI links", c.Index)
	}
	// Reading the state clears it in the card, so it is read for those who ask for the
	// links only.
	if v, err := c.number("xgmi_error"); err == nil {
		x.Errors = [...]string{smi.XGMINoErrors, smi.XGMIError, smi.XGMIMultipleErrors}[min(v, 2)]
	}
	return x, nil
}

// links are the card's links to others. The compute driver knows the cards they lead
// to; which of the table's counters belongs to which, only kernels with xgmi_port_num
// tell, so without it the counters are left out.
func (s *source) links(c *card, t *table, rate smi.Opt[smi.BitsPerSecond], width smi.Opt[int]) (ls []smi.XGMILink) {
	most := smi.None[smi.BitsPerSecond]()
	if r, ok := rate.Get(); ok && width.Ok() {
		most = smi.Some(r * smi.BitsPerSecond(width.Or(0)))
	}
	if text, err := c.text("xgmi_port_num"); err == nil {
		for _, p := range parsePorts(text) {
			l := smi.XGMILink{Rate: rate, MaxBandwidth: most}
			if dir, ok := c.tree.resolve(c.at("xgmi_hive_info/node" + p.peer)); ok {
				if bdf, ok := driven(c.tree, dir); ok {
					l.Peer = smi.Some(bdf)
				}
			}
			if t.has(xgmiReadData) {
				l.Read, l.Written = kilobytes(t, xgmiReadData, p.port), kilobytes(t, xgmiWriteData, p.port)
			}
			if v, ok := t.index(xgmiLinkStatus, p.port); ok {
				l.State = linkState(v)
			}
			ls = append(ls, l)
		}
		if len(ls) > 0 {
			return ls
		}
	}
	top := s.kfd.read()
	seen := map[smi.BDF]bool{}
	for _, n := range top.gpus(c.BDF.Or(smi.BDF{})) {
		for _, link := range n.links {
			to := top.node(link.to)
			if link.props["type"] != linkXGMI || to == nil || to.gpuID == 0 {
				continue
			}
			peer := s.cardAt(to.bdf())
			if seen[peer] || smi.Some(peer) == c.BDF {
				continue
			}
			seen[peer] = true
			l := smi.XGMILink{Peer: smi.Some(peer), State: smi.LinkUp, Rate: rate, MaxBandwidth: most}
			if v := link.props["max_bandwidth"]; v > 0 && v < 1<<32 {
				l.MaxBandwidth = smi.Some(smi.BitsPerSecond(float64(v) * 1e6 * 8))
			}
			ls = append(ls, l)
		}
	}
	slices.SortFunc(ls, func(a, b smi.XGMILink) int { return compareBDF(a.Peer.Or(smi.BDF{}), b.Peer.Or(smi.BDF{})) })
	return ls
}

func linkState(v uint64) string {
	switch v {
	case 0:
		return smi.LinkDown
	case 1:
		return smi.LinkUp
	case 2:
		return smi.LinkDisabled
	}
	return ""
}

func kilobytes(t *table, f field, i int) smi.Opt[smi.Bytes] {
	v, ok := t.index(f, i)
	if !ok || v >= 1<<46 {
		return smi.None[smi.Bytes]()
	}
	return smi.Some(smi.Bytes(v << 10))
}

// port is one end of a link: the number of the card's port and the node that it
// leads to, as xgmi_hive_info names it.
type port struct {
	port int
	peer string
}

// parsePorts reads lines "01:02 ->  03:05": node and port here, node and port there,
// in hexadecimal; nodes are counted from 1.
func parsePorts(s string) (ps []port) {
	for line := range strings.Lines(s) {
		from, to, ok := strings.Cut(strings.TrimSpace(line), "->")
		if !ok {
			continue
		}
		_, p, ok1 := strings.Cut(strings.TrimSpace(from), ":")
		peer, _, ok2 := strings.Cut(strings.TrimSpace(to), ":")
		pv, ok3 := hexID(p)
		nv, ok4 := hexID(peer)
		if ok1 && ok2 && ok3 && ok4 && pv < 64 && nv > 0 && nv < 256 && len(ps) < 64 {
			ps = append(ps, port{port: int(pv), peer: strconv.FormatUint(nv, 10)})
		}
	}
	return ps
}

// cardAt is the PCI address of the card that a node belongs to: the parts of a card
// are told apart by the function, so it does not count.
func (s *source) cardAt(at smi.BDF) smi.BDF {
	at.Function = 0
	for _, c := range s.cards {
		b := c.BDF.Or(smi.BDF{})
		if b.Domain == at.Domain && b.Bus == at.Bus && b.Device == at.Device {
			return b
		}
	}
	return at
}
