package top

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/rocwire/rocwire/calls/rpcstats"
	"github.com/rocwire/rocwire/cmd/smi-remote/internal/text"
	"github.com/rocwire/rocwire/smi"
)

// plainText is a line without its looks.
func plainText(s string) string { return ansi.Strip(s) }

// table is an empty table, with a column for the worker if there are several.
func (m *Model) table(columns ...text.Column) *text.Table {
	if len(m.hosts) > 1 {
		widest := 0
		for i := range m.opt.Hosts {
			widest = max(widest, text.Width(m.opt.Hosts[i].Label))
		}
		// Rather less of the rest than hosts that look alike.
		columns = append([]text.Column{{Title: "HOST", Min: min(widest, 16)}}, columns...)
	}
	return &text.Table{Columns: columns}
}

func (m *Model) row(t *text.Table, host int, cells ...string) {
	if len(m.hosts) > 1 {
		cells = append([]string{text.Clean(m.opt.Hosts[host].Label)}, cells...)
	}
	t.Row(cells...)
}

// barWidth is how wide a picture may be: there are two of them.
func (m *Model) barWidth() int { return max(min((m.width-56)/4, 24), 6) }

func (m *Model) cardTable() *text.Table {
	t := m.table(
		text.Column{Title: "GPU", Right: true}, text.Column{Title: "NAME", Min: 6, Drop: 4}, text.Column{Title: "USE", Right: true},
		text.Column{Title: "4 min", Drop: 6}, text.Column{Title: "VRAM", Right: true}, text.Column{Title: "", Drop: 7},
		text.Column{Title: "POWER", Right: true, Drop: 1}, text.Column{Title: "°C", Right: true, Drop: 2}, text.Column{Title: "MHz", Right: true, Drop: 3},
		text.Column{Title: "NOTE", Min: 4, Drop: 5},
	)
	for i := range m.cardRows {
		r := &m.cardRows[i]
		if r.card == nil {
			m.row(t, r.host, "-", "-", "-", "", "-", "", "-", "-", "-", "")
			continue
		}
		c := r.card.Metrics
		if c == nil {
			c = &smi.Metrics{}
		}
		var full smi.Opt[smi.Ratio]
		if total := c.VRAM.Total.Or(0); total > 0 && c.VRAM.Used.Ok() {
			full = smi.Some(smi.Ratio(float64(c.VRAM.Used.Or(0)) / float64(total)))
		}
		hot := hottest(c)
		degrees := text.Round(hot.Current)
		if limit, ok := hot.Limit.Get(); ok && hot.Current.Ok() {
			degrees = m.paint(level(float64(hot.Current.Or(0)/limit)), degrees)
		}
		m.row(t, r.host, fmt.Sprint(r.card.Device.Index), text.Dash(r.card.Device.Name), percent(c.Activity.GFX), m.pastUse(r),
			text.BytesOf(c.VRAM.Used, c.VRAM.Total), m.bar(full, m.barWidth()), text.Round(c.Power.Draw())+"/"+text.Round(c.Power.Cap)+" W",
			degrees, text.MHz(c.Clock(smi.ClockGFX)), m.cardNote(r.card))
	}
	return t
}

// pastUse is how busy a card was of late.
func (m *Model) pastUse(r *cardRow) string {
	h := &m.hosts[r.host]
	p := h.past[r.card.Device.Index]
	if p == nil || len(*p) == 0 {
		return text.Pad("-", m.barWidth(), false)
	}
	return m.paint(level((*p)[len(*p)-1].use), p.line(h.now.at, m.barWidth()))
}

// absent is the line of a worker in the place of its cards.
func (m *Model) absent(r *cardRow) string {
	label := text.Clean(m.opt.Hosts[r.host].Label)
	if r.err == nil {
		return label + " is being read"
	}
	return m.paint(bad, text.Clip(label+": "+text.Clean(r.err.Error()), m.width))
}

// cardNote is what deserves attention.
func (m *Model) cardNote(c *smi.DeviceSnapshot) string {
	if err := c.MetricsErr.Err(); err != nil {
		return m.paint(bad, text.Clean(err.Error()))
	}
	if c.Metrics == nil {
		return ""
	}
	if age, ok := c.Metrics.Stale.Get(); ok {
		return m.paint(bad, text.Age(age)+" old")
	}
	var limits []string
	for _, v := range c.Metrics.Throttle.Violations {
		if name := text.Clean(v.Kind); v.Active.Or(false) && !slices.Contains(limits, name) { // several dies may have one
			limits = append(limits, name)
		}
	}
	if len(limits) > 0 {
		return m.paint(warn, strings.Join(limits, ","))
	}
	if c.ECC != nil {
		if n := c.ECC.UncorrectableErrors(nil); n > 0 {
			return m.paint(bad, fmt.Sprintf("%d ECC errors", n))
		}
	}
	return ""
}

func (m *Model) processTable() *text.Table {
	t := m.table(
		text.Column{Title: "GPU", Right: true}, text.Column{Title: "PID", Right: true}, text.Column{Title: "VRAM", Right: true}, text.Column{Title: "USE", Right: true},
		text.Column{Title: "CU", Right: true, Drop: 4}, text.Column{Title: "SESSION", Right: true, Drop: 3}, text.Column{Title: "USER", Min: 8, Drop: 1},
		text.Column{Title: "PROGRAM", Min: 8}, text.Column{Title: "IN", Min: 8, Drop: 2},
	)
	for i := range m.processRows {
		p := &m.processRows[i]
		user, program, in := text.Dash(p.User), text.Dash(p.Name), "-"
		if p.Container != nil {
			in = where(p.Container.Namespace, p.Container.Pod, p.Container.ID)
		}
		if p.Client != nil {
			user, program, in = text.UserAtHost(p.Client), text.Dash(path.Base(p.Client.Executable)), where(p.Client.Namespace, p.Client.Pod, p.Client.Container)
		}
		m.row(t, p.id.host, fmt.Sprint(p.id.device), fmt.Sprint(p.PID), text.Bytes(p.VRAM), percent(p.share), text.Or(p.CUOccupancy), text.Dash(p.Session), user, program, in)
	}
	return t
}

// where is a pod, or else a container.
func where(namespace, pod, container string) string {
	if pod != "" {
		return text.Clean(namespace) + "/" + text.Clean(pod)
	}
	if len(container) == 64 { // an identity
		container = container[:12]
	}
	return text.Dash(container)
}

func (m *Model) callTable() *text.Table {
	t := &text.Table{Columns: []text.Column{
		{Title: "FUNCTION", Min: 16}, {Title: "PER s", Right: true}, {Title: "FAILED", Right: true, Drop: 2}, {Title: "worker p50     p99", Right: true},
		{Title: "client p50     p99", Right: true, Drop: 3}, {Title: "EVER", Right: true, Drop: 1},
	}}
	latencies := func(h *rpcstats.Hist) string {
		return text.Latency(h.Quantile(0.5)) + text.Pad(text.Latency(h.Quantile(0.99)), 8, true)
	}
	for _, c := range m.callRows {
		failed := text.Rate(c.failed)
		if c.failed > 0 {
			failed = m.paint(bad, failed)
		}
		t.Row(text.Dash(c.op), text.Rate(c.rate), failed, latencies(&c.worker), latencies(&c.client), text.Count(float64(c.total)))
	}
	return t
}

// detailLines are all about one process.
func (m *Model) detailLines(p *processRow) []string {
	var lines []string
	fact := func(name, value string) {
		for i, l := range text.Wrap(text.Dash(value), m.width-22, 6) {
			if i > 0 {
				name = ""
			}
			lines = append(lines, "  "+text.Pad(name, 18, false)+"  "+l)
		}
	}
	lines = append(lines, "")
	fact("Worker", m.opt.Hosts[p.id.host].Label)
	fact("GPU, process", fmt.Sprintf("%d, %d", p.id.device, p.PID))
	fact("Program", p.Name)
	fact("Command", p.Command)
	fact("User", p.User)
	fact("VRAM", text.Bytes(p.VRAM)+", GTT "+text.Bytes(p.GTT)+", host memory "+text.Bytes(p.HostMemory))
	fact("Busy", text.Seconds(p.Busy)+", copies "+text.Seconds(p.SDMA)+", evicted "+text.Seconds(p.Evicted))
	fact("Use now", percent(p.share)+", compute units "+text.Or(p.CUOccupancy))
	fact("Figures from", p.Origin)
	if p.Container != nil {
		container, pod := text.Container(p.Container, p.InnerPID)
		fact("In", container)
		if pod != "" {
			fact("Of", pod)
		}
	}
	if p.Client != nil {
		fact("For", text.Client(p.Client))
		fact("From", p.Client.Address)
		fact("Session", p.Session+text.Place(p.Client))
	}
	return lines
}
