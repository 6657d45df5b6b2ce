package top

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/rocwire/rocwire/cmd/smi-remote/internal/text"
)

// The smallest terminal that holds all panes.
const (
	minWidth  = 40
	minHeight = 13
)

// View implements tea.Model.
func (m *Model) View() tea.View {
	v := tea.NewView(m.screen())
	v.AltScreen = true
	v.WindowTitle = "smi-remote top"
	return v
}

// screen is the whole picture: height lines, none wider than width.
func (m *Model) screen() string {
	if m.width == 0 {
		return "" // its size is not known yet
	}
	if m.width < minWidth || m.height < minHeight {
		return clipLines([]string{
			fmt.Sprintf("The terminal is %d×%d;", m.width, m.height), fmt.Sprintf("top needs %d×%d.", minWidth, minHeight), "q ends it.",
		}, m.width, m.height)
	}
	lines := []string{m.title()}
	switch {
	case m.help:
		lines = append(lines, helpLines()...)
	case m.detail && m.chosenProcess() != nil:
		lines = append(lines, m.detailLines(m.chosenProcess())...)
	default:
		lines = append(lines, m.pane(cardsPane, m.cardTable())...)
		lines = append(lines, m.pane(processesPane, m.processTable())...)
		lines = append(lines, m.pane(callsPane, m.callTable())...)
	}
	for len(lines) < m.height-1 {
		lines = append(lines, "")
	}
	lines = append(lines[:m.height-1], m.bottom())
	return clipLines(lines, m.width, m.height)
}

func clipLines(lines []string, width, height int) string {
	if len(lines) > height {
		lines = lines[:height]
	}
	for i := range lines {
		lines[i] = text.Clip(lines[i], width)
	}
	return strings.Join(lines, "\n")
}

// title says what is shown and of when.
func (m *Model) title() string {
	s := "smi-remote top  " + text.Clean(m.opt.Hosts[0].Label)
	down := 0
	var last time.Time
	for i := range m.hosts {
		if m.hosts[i].err != nil {
			down++
		}
		if at := m.hosts[i].now.at; at.After(last) {
			last = at
		}
	}
	if n := len(m.hosts); n > 1 {
		s = fmt.Sprintf("smi-remote top  %d workers", n)
	}
	if down > 0 {
		s += fmt.Sprintf(", %d not reached", down)
	}
	s += fmt.Sprintf("  every %v", m.opt.Interval)
	if !last.IsZero() {
		s += "  " + last.Format(time.TimeOnly)
	}
	if m.paused {
		s += "  PAUSED"
	}
	return m.paint(bold, text.Pad(s, m.width, false))
}

// bottom is a question, what was done last, or the keys.
func (m *Model) bottom() string {
	switch {
	case m.killing != nil:
		return m.paint(warn, fmt.Sprintf("End session %s of %s? y/n", text.Clean(m.killing.session), m.killing.who))
	case m.status != "":
		return m.status
	case m.help || m.detail:
		return m.paint(faint, "any key: back")
	}
	return m.paint(faint, "q quit  ? keys  Tab pane  ↑↓ choose  s sort  k end session  Space pause")
}

func helpLines() []string {
	return []string{
		"",
		"  Tab, ← →         next pane: GPUs, processes, calls",
		"  ↑ ↓ PgUp PgDn    choose a row, scroll; also Home and End",
		"  s, r             sort by another figure; the other way round",
		"  Enter            all about the chosen process",
		"  k                end the session of the chosen process, after a question",
		"  Space            stand still, go on",
		"  + -              read less often, more often",
		"  q, Ctrl-C        end",
		"",
		"  \"4 min\" is how busy the GPU was in the last four minutes, now at the right.",
		"  Rates are of the last five seconds. p50 and p99 are latencies: half of the",
		"  calls, and 99 of 100, took no longer; \"worker\" from arrival to reply there,",
		"  \"client\" as the program saw it.",
	}
}

// layOut decides how many rows of each pane can be seen: each gets a share, and
// what one does not need goes to the others.
func (m *Model) layOut() {
	// A line of title and one of the keys, and of each pane a head of two lines.
	left := m.height - 2 - 2*len(m.panes)
	if left < len(m.panes) {
		return // nothing is shown
	}
	share := left / len(m.panes)
	for i := range m.panes {
		m.panes[i].page = max(min(m.panes[i].rows, share), 1)
		left -= m.panes[i].page
	}
	for _, i := range []int{processesPane, cardsPane, callsPane} {
		p := &m.panes[i]
		more := max(min(p.rows-p.page, left), 0)
		p.page += more
		left -= more
	}
	for i := range m.panes {
		p := &m.panes[i]
		p.offset = max(min(p.offset, p.chosen), p.chosen-p.page+1, 0)
		p.offset = max(min(p.offset, p.rows-p.page), 0)
	}
}

// names of the panes.
var names = [3]string{"GPUs", "Processes", "Calls"}

// pane draws a pane: its name, its titles, and the rows that can be seen.
func (m *Model) pane(which int, t *text.Table) []string {
	p := &m.panes[which]
	header, rows, dropped := t.Lines(m.width)
	order := "↓"
	if p.up {
		order = "↑"
	}
	name := fmt.Sprintf("%s %d  by %s %s", names[which], m.count(which), sortKeys[which][p.sort], order)
	if p.rows > p.page {
		name += fmt.Sprintf("  %d-%d", p.offset+1, min(p.offset+p.page, p.rows))
	}
	dropped = slices.DeleteFunc(dropped, func(title string) bool { return title == "" }) // the pictures of a figure
	if len(dropped) > 0 {
		name += "  left out: " + strings.Join(dropped, ", ")
	}
	look := plain
	if which == m.focus {
		name, look = "> "+name, bold
	}
	head := text.Clip("── "+name+" ", m.width)
	head += strings.Repeat("─", m.width-text.Width(head))
	lines := []string{m.paint(look, head), m.paint(faint, header)}
	for i := p.offset; i < min(p.offset+p.page, len(rows)); i++ {
		line := rows[i]
		if which == cardsPane && m.cardRows[i].card == nil {
			line = m.absent(&m.cardRows[i])
		}
		if which == m.focus && p.picked && i == p.chosen {
			line = m.paint(chosen, text.Pad(plainText(line), m.width, false))
		}
		lines = append(lines, line)
	}
	for len(lines) < p.page+2 {
		lines = append(lines, m.paint(faint, "  "+m.emptyText(which)))
	}
	return lines
}

// count is how many there are of what a pane shows.
func (m *Model) count(which int) int {
	n := m.panes[which].rows
	if which == cardsPane {
		for i := range m.cardRows {
			if m.cardRows[i].card == nil {
				n--
			}
		}
	}
	return n
}

// emptyText stands in a pane without rows.
func (m *Model) emptyText(which int) string {
	for i := range m.hosts {
		if m.hosts[i].now.snap != nil {
			return [3]string{"There is no GPU.", "No process uses a GPU.", "No call was made."}[which]
		}
	}
	return "Nothing has been read yet."
}
