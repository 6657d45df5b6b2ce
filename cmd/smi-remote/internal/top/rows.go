package top

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/rocwire/rocwire/smi"
)

// sortKeys are what each pane can be sorted by; the first is the default.
var sortKeys = [3][]string{
	cardsPane:     {"number", "use", "memory", "power", "temperature"},
	processesPane: {"memory", "use", "process", "user", "GPU"},
	callsPane:     {"rate", "slowest", "total", "name"},
}

// cardRow is one card, or a worker that has none to show.
type cardRow struct {
	host int
	card *smi.DeviceSnapshot // nil: the worker cannot be read
	err  error
}

// id is the row's identity.
func (r *cardRow) id() string {
	if r.card == nil {
		return fmt.Sprint(r.host)
	}
	return fmt.Sprint(r.host, " ", r.card.Device.Index)
}

// cards are the rows of the first pane.
func (m *Model) cards() []cardRow {
	var rows []cardRow
	for i := range m.hosts {
		h := &m.hosts[i]
		if h.err != nil || h.now.snap == nil {
			rows = append(rows, cardRow{host: i, err: h.err})
		}
		if h.now.snap != nil {
			for j := range h.now.snap.Devices {
				rows = append(rows, cardRow{host: i, card: &h.now.snap.Devices[j]})
			}
		}
	}
	p := &m.panes[cardsPane]
	figure := func(r *cardRow) float64 {
		if r.card == nil || r.card.Metrics == nil {
			return -1
		}
		switch c := r.card.Metrics; sortKeys[cardsPane][p.sort] {
		case "use":
			return float64(c.Activity.GFX.Or(-1))
		case "memory":
			return float64(c.VRAM.Used.Or(0))
		case "power":
			return float64(c.Power.Draw().Or(-1))
		case "temperature":
			return float64(hottest(c).Current.Or(-300))
		}
		return 0
	}
	if p.sort == 0 {
		if p.up {
			slices.Reverse(rows)
		}
		return rows
	}
	sortRows(rows, p.up, func(a, b *cardRow) int { return cmp.Compare(figure(b), figure(a)) })
	return rows
}

// hottest is the hot spot's sensor, else the edge's.
func hottest(m *smi.Metrics) smi.Temperature {
	var best smi.Temperature
	for _, t := range m.Temperatures {
		if t.Sensor == smi.SensorHotspot || t.Sensor == smi.SensorEdge && best.Sensor == "" {
			best = t
		}
	}
	return best
}

// processRow is one process on one card.
type processRow struct {
	smi.Process
	id    processID
	share smi.Opt[smi.Ratio]
}

// processes are the rows of the second pane.
func (m *Model) processes() []processRow {
	var rows []processRow
	for i := range m.hosts {
		h := &m.hosts[i]
		if h.now.snap == nil {
			continue
		}
		shares := busyShares(i, h.before(), &h.now)
		for j := range h.now.snap.Devices {
			d := &h.now.snap.Devices[j]
			for _, p := range d.Processes {
				id := processID{i, d.Device.Index, p.PID, p.Session}
				rows = append(rows, processRow{p, id, shares[id]})
			}
		}
	}
	p := &m.panes[processesPane]
	sortRows(rows, p.up, func(a, b *processRow) int {
		switch sortKeys[processesPane][p.sort] {
		case "use":
			return cmp.Compare(b.share.Or(-1), a.share.Or(-1))
		case "process":
			return cmp.Compare(a.PID, b.PID)
		case "user":
			return strings.Compare(a.user(), b.user())
		case "GPU":
			return cmp.Or(cmp.Compare(a.id.host, b.id.host), cmp.Compare(a.id.device, b.id.device))
		}
		return cmp.Compare(b.VRAM.Or(0), a.VRAM.Or(0))
	})
	return rows
}

// user is whoever the process works for.
func (p *processRow) user() string {
	if p.Client != nil {
		return p.Client.User
	}
	return p.User
}

// calls are the rows of the third pane.
func (m *Model) calls() []*callRate {
	all := map[string]*callRate{}
	for i := range m.hosts {
		h := &m.hosts[i]
		for op, r := range callRates(h.before(), &h.now) {
			if all[op] == nil {
				all[op] = r
			} else {
				all[op].merge(r)
			}
		}
	}
	rows := make([]*callRate, 0, len(all))
	for _, r := range all {
		rows = append(rows, r)
	}
	slices.SortFunc(rows, func(a, b *callRate) int { return strings.Compare(a.op, b.op) })
	p := &m.panes[callsPane]
	slowest := func(r *callRate) float64 {
		if q := r.worker.Quantile(0.99); q >= 0 {
			return q
		}
		return -1
	}
	sortRows(rows, p.up, func(a, b **callRate) int {
		switch sortKeys[callsPane][p.sort] {
		case "slowest":
			return cmp.Compare(slowest(*b), slowest(*a))
		case "total":
			return cmp.Compare((*b).total, (*a).total)
		case "name":
			return strings.Compare((*a).op, (*b).op)
		}
		return cmp.Or(cmp.Compare((*b).rate, (*a).rate), cmp.Compare((*b).total, (*a).total))
	})
	return rows
}

// sortRows sorts rows that are alike in the order they were found in.
func sortRows[T any](rows []T, up bool, compare func(a, b *T) int) {
	slices.SortStableFunc(rows, func(a, b T) int {
		c := compare(&a, &b)
		if up {
			c = -c
		}
		return c
	})
}

// chosenProcess is the process that the keys are about, nil if none was chosen.
func (m *Model) chosenProcess() *processRow {
	if p := &m.panes[processesPane]; p.picked && p.chosen < len(m.processRows) {
		return &m.processRows[p.chosen]
	}
	return nil
}
