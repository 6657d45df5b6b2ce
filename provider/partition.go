package provider

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rocwire/rocwire/internal/tensorfusion"
	"github.com/rocwire/rocwire/smi"
)

// mode is a way to divide a card.
type mode struct {
	name  string // "SPX", "DPX", "TPX", "QPX", "CPX"
	parts int
}

// undivided is the mode of a card that is one part.
const undivided = "SPX"

// template is what the host calls it.
func (m mode) template() string { return strings.ToLower(m.name) }

// modesOf are the ways to divide a card, the fewest parts first; none if p is nil.
func modesOf(p *smi.Partitions) (list []mode) {
	if p == nil {
		return nil
	}
	for _, r := range p.Profiles {
		if r.Partitions < 1 || r.Partitions > maxParts || tensorfusion.Name(r.Type) == "" {
			continue
		}
		if !slices.ContainsFunc(list, func(m mode) bool { return m.name == r.Type }) {
			list = append(list, mode{r.Type, r.Partitions})
		}
	}
	slices.SortStableFunc(list, func(a, b mode) int { return cmp.Compare(a.parts, b.parts) })
	return list
}

// maxParts is the largest number of parts that is believed.
const maxParts = 64

// template is what a template's name asks for: names are free but for one word that is a
// compute mode, and may have one that is a memory mode, as "cpx", "mi300x-cpx-nps4".
func template(id string) (compute, memory string, ok bool) {
	words := strings.FieldsFunc(strings.ToUpper(id), func(r rune) bool { return !('A' <= r && r <= 'Z' || '0' <= r && r <= '9') })
	for _, w := range words {
		switch w {
		case "SPX", "DPX", "TPX", "QPX", "CPX":
			if compute != "" && compute != w {
				return "", "", false
			}
			compute = w
		case "NPS1", "NPS2", "NPS4", "NPS8":
			if memory != "" && memory != w {
				return "", "", false
			}
			memory = w
		}
	}
	return compute, memory, compute != ""
}

// partition is what a worker needs to use its part of a card.
type partition struct {
	uuid  string
	nodes []string // "/dev/dri/renderD128"
	envs  []string // "NAME=value"
}

// errTemplate and errCard say what of a request is unknown.
var (
	errTemplate = smi.Errorf(smi.ErrNotFound, "the name of a template has one of the words SPX, DPX, TPX, QPX, CPX")
	errCard     = smi.Errorf(smi.ErrNotFound, "no such card")
)

// assign gives a part of a card away, and divides the card if it is not divided so.
func (h *host) assign(ctx context.Context, l *library, templateID, uuid string) (*partition, error) {
	compute, memory, ok := template(templateID)
	if !ok {
		return nil, errTemplate
	}
	h.ledger.changing.Lock()
	defer h.ledger.changing.Unlock()
	l, c, err := h.latest(ctx, l, uuid)
	if err != nil {
		return nil, err
	}
	p, err := l.src.Partitions(ctx, c.source())
	if err != nil {
		return nil, err
	}
	h.ledger.prune(c.uuid, p.Compute)
	modes := modesOf(p)
	k := slices.IndexFunc(modes, func(m mode) bool { return m.name == compute })
	if k < 0 {
		return nil, smi.Errorf(smi.ErrNotSupported, "%s cannot be divided as %s", c.uuid, compute)
	}
	if p.Compute != compute || memory != "" && p.Memory != memory {
		if l, c, err = h.divide(ctx, l, c, p, compute, memory); err != nil {
			return nil, err
		}
	}
	return h.give(ctx, l, c, modes[k])
}

// latest is a card as it is now: who had the lock before may have opened the source
// anew.
func (h *host) latest(ctx context.Context, l *library, uuid string) (*library, *card, error) {
	if now := h.current.Load(); now != nil {
		l = now
	}
	cards, _, err := l.cards(ctx)
	if err != nil {
		return nil, nil, err
	}
	c := find(cards, uuid)
	if c == nil {
		return nil, nil, errCard
	}
	return l, c, nil
}

// divide divides a card otherwise, which only one that nobody uses can be, and returns
// it as it is then.
func (h *host) divide(ctx context.Context, l *library, c *card, p *smi.Partitions, compute, memory string) (*library, *card, error) {
	if n := len(h.ledger.of(c.uuid)); n > 0 {
		return nil, nil, smi.Errorf(smi.ErrBusy, "%s is divided as %s, and %d parts of it are assigned%s", c.uuid, p.Compute, n, h.ledger.hint(c.uuid))
	}
	if pid := userOf(c); pid != 0 {
		return nil, nil, smi.Errorf(smi.ErrBusy, "%s is used by process %d: only a card that nobody uses can be divided otherwise", c.uuid, pid)
	}
	var changes []smi.Setting
	if memory != "" && p.Memory != memory {
		changes = append(changes, smi.Setting{MemoryPartition: memory})
	}
	if p.Compute != compute {
		changes = append(changes, smi.Setting{ComputePartition: compute})
	}
	first := h.ledger.divided(c.uuid, p.Compute) // noted before it is done: whoever comes after a crash makes it whole again
	for _, s := range changes {
		err := l.src.Set(ctx, c.source(), s)
		if err != nil {
			if first {
				h.ledger.restored(c.uuid)
			}
			if errors.Is(err, smi.ErrNotSupported) || errors.Is(err, smi.ErrNoPermission) {
				h.ledger.refuse(c.uuid)
			}
			l.forget()
			return nil, nil, err
		}
	}
	h.log.Info("a card was divided", "card", c.uuid, "from", p.Compute, "to", compute)
	l, err := h.renewed(l)
	if err != nil {
		return nil, nil, err
	}
	cards, _, err := l.cards(ctx)
	if err != nil {
		return nil, nil, err
	}
	if c = find(cards, c.uuid); c == nil {
		return nil, nil, smi.Errorf(smi.ErrUnavailable, "the card is gone since it was divided")
	}
	return l, c, nil
}

// renewed is the library after a card was divided: the parts are new devices, which a
// source of this machine's cards shows when it is opened anew.
func (h *host) renewed(l *library) (*library, error) {
	l.forget()
	if !l.origin.Local {
		return l, nil
	}
	return h.reopen()
}

// forget makes everything be asked anew.
func (l *library) forget() {
	l.now.forget()
	l.links.forget()
	l.paths.forget()
	l.partitions.forget()
	l.mu.Lock()
	clear(l.divided)
	l.mu.Unlock()
}

// userOf is a process that uses a card, 0 if there is none.
func userOf(c *card) uint32 {
	for _, d := range c.parts {
		for i := range d.Processes {
			if p := d.Processes[i].PID; p != 0 {
				return p
			}
		}
	}
	return 0
}

// give assigns a part that is free, one that no process uses before others. When all are
// assigned, one of an earlier host that no process uses: the host counts its partitions, and
// asks for another only if somebody is gone of whom this one was not told.
func (h *host) give(ctx context.Context, l *library, c *card, m mode) (*partition, error) {
	const idle, abandoned, used, none = 0, 1, 2, 3
	free, best := -1, none
	for i := range m.parts {
		a, d := h.ledger.at(c.uuid, i), l.partOf(c, i)
		quiet := d == nil || len(d.Processes) == 0
		rank := none
		switch {
		case a == nil && quiet:
			rank = idle
		case a == nil:
			rank = used
		case a.inherited && quiet:
			rank = abandoned
		}
		if rank < best {
			free, best = i, rank
		}
	}
	if free < 0 {
		return nil, smi.Errorf(smi.ErrBusy, "all %d parts of %s are assigned", m.parts, c.uuid)
	}
	node, hip, err := l.way(ctx, c, m, free)
	if err != nil {
		return nil, err
	}
	a := assignment{card: c.uuid, mode: m.name, part: free}
	a.uuid = a.name()
	out := &partition{uuid: a.uuid}
	if node != "" {
		out.nodes = []string{"/dev/kfd", node}
	} else if n, ok := hip.Get(); ok {
		out.envs = []string{fmt.Sprintf("ROCR_VISIBLE_DEVICES=%d", n)}
	} else {
		return nil, smi.Errorf(smi.ErrUnavailable, "part %d of %s has neither a device file here nor a number", free, c.uuid)
	}
	if best == abandoned {
		h.log.Warn("a partition of an earlier start is given away again: no process uses it, and all others are assigned", "partition", a.uuid)
	}
	h.ledger.add(a)
	return out, nil
}

// way is how a program gets at a part: a device file, or a number for ROCm.
func (l *library) way(ctx context.Context, c *card, m mode, part int) (node string, hip smi.Opt[uint32], err error) {
	// Some sources list each part as a device, others tell the card's parts.
	if len(c.parts) < m.parts {
		p, err := l.src.Partitions(ctx, c.source())
		if err != nil {
			return "", hip, err
		}
		if len(p.Parts) == m.parts {
			w := p.Parts[part]
			if n, ok := w.DRMRender.Get(); ok && l.origin.Local { // from afar it cannot be told whether it is this machine's
				node = l.renderNode(n, c.info.BDF)
			}
			return node, w.HIP, nil
		}
	}
	d := l.partOf(c, part)
	if d == nil && l.origin.Local {
		return "", hip, smi.Errorf(smi.ErrUnavailable, "%s is divided as %s, but the driver does not show part %d (/sys/class/kfd/kfd/topology/nodes, /dev/dri)", c.uuid, m.name, part)
	}
	if d == nil {
		return "", hip, smi.Errorf(smi.ErrUnavailable, "%s is divided as %s, but the worker does not show part %d: it does when it is started anew", c.uuid, m.name, part)
	}
	info := l.info(d)
	if info == nil {
		return "", hip, smi.Errorf(smi.ErrUnavailable, "part %d of %s tells nothing about itself", part, c.uuid)
	}
	return l.node(info), info.IDs.HIP, nil
}

// partOf is the source's device that is a part of a card, nil if it lists none.
func (l *library) partOf(c *card, part int) *smi.DeviceSnapshot {
	for _, d := range c.parts {
		if int64(l.part(d)) == int64(part) {
			return d
		}
	}
	return nil
}

// remove takes a partition back: id is its UUID, or a template's name for the youngest
// partition of the card that is of that kind. A partition that is of the card but is not
// assigned, because nothing is left of who did that, is no error. The last one that is taken
// back makes the card whole again, if assign divided it.
func (h *host) remove(ctx context.Context, l *library, id, uuid string) error {
	h.ledger.changing.Lock()
	defer h.ledger.changing.Unlock()
	l, c, err := h.latest(ctx, l, uuid)
	if err != nil {
		return err
	}
	if p, err := l.src.Partitions(ctx, c.source()); err == nil {
		h.ledger.prune(c.uuid, p.Compute)
	}
	if a := h.ledger.take(c.uuid, id); a == nil {
		if compute, part, ok := strings.Cut(strings.TrimPrefix(strings.ToLower(id), c.uuid+"-"), "-"); ok && strings.HasPrefix(strings.ToLower(id), c.uuid+"-") {
			if known, _, ok := template(compute); ok && strings.EqualFold(known, compute) && part != "" && strings.Trim(part, "0123456789") == "" {
				return nil
			}
		}
		return smi.Errorf(smi.ErrNotFound, "%s has no partition %q", c.uuid, id)
	}
	before, ok := h.ledger.whole(c.uuid)
	if !ok {
		return nil
	}
	if pid := userOf(c); pid != 0 {
		h.log.Warn("a card stays divided: it is still used", "card", c.uuid, "process", pid)
		return nil
	}
	if err := l.src.Set(ctx, c.source(), smi.Setting{ComputePartition: before}); err != nil {
		h.log.Warn("a card stays divided", "card", c.uuid, "error", err)
		return nil
	}
	h.ledger.restored(c.uuid)
	if _, err := h.renewed(l); err != nil {
		h.log.Warn("the cards could not be looked at anew", "error", err)
	}
	return nil
}
