package top

import (
	"context"
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/rocwire/rocwire/cmd/smi-remote/internal/text"
)

// Model is the state of the view.
type Model struct {
	ctx   context.Context
	opt   Options
	hosts []host

	width, height int
	focus         int // a pane
	panes         [3]pane
	paused, help  bool
	detail        bool    // of the chosen process is shown
	killing       *target // is asked about
	status        string  // what was done last

	// What there is to see, after each message.
	cardRows    []cardRow
	processRows []processRow
	callRows    []*callRate
}

// Panes.
const (
	cardsPane = iota
	processesPane
	callsPane
)

// pane is one of the lists.
type pane struct {
	chosen int    // row, where picked; else where choosing begins
	picked bool   // somebody has chosen it
	key    string // its identity, by which it stays chosen when the rows move
	offset int    // first row that is seen
	sort   int    // key, one of its pane's
	up     bool   // smallest first
	rows   int    // it has
	page   int    // of them can be seen
}

// target is a session that may be ended.
type target struct {
	host    int
	session string
	who     string
}

// New returns the view of hosts that have not been read yet.
func New(ctx context.Context, o Options) *Model {
	return &Model{ctx: ctx, opt: o, hosts: make([]host, len(o.Hosts)), focus: processesPane}
}

// Init implements tea.Model.
func (m *Model) Init() tea.Cmd {
	cmds := make([]tea.Cmd, len(m.hosts))
	for i := range m.hosts {
		cmds[i] = m.read(i)
	}
	return tea.Batch(cmds...)
}

// Update implements tea.Model.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case readingMsg:
		m.hosts[msg.host].add(msg.r)
		cmd = tea.Tick(m.opt.Interval, func(time.Time) tea.Msg { return pollMsg{msg.host} })
	case pollMsg:
		if m.paused {
			m.hosts[msg.host].waiting = true
		} else {
			cmd = m.read(msg.host)
		}
	case killedMsg:
		m.status = fmt.Sprintf("Session %s has been ended.", text.Clean(msg.session))
		if msg.err != nil {
			m.status = fmt.Sprintf("Session %s: %s", text.Clean(msg.session), text.Clean(msg.err.Error()))
		}
	case tea.KeyPressMsg:
		cmd = m.key(msg.String())
	}
	m.settle()
	return m, cmd
}

// settle works out what there is to see.
func (m *Model) settle() {
	m.cardRows, m.processRows, m.callRows = m.cards(), m.processes(), m.calls()
	settle(&m.panes[cardsPane], m.cardRows, (*cardRow).id)
	if settle(&m.panes[processesPane], m.processRows, func(p *processRow) string { return fmt.Sprint(p.id) }) {
		m.status = "The chosen process has ended."
		m.detail = false
	}
	settle(&m.panes[callsPane], m.callRows, func(c **callRate) string { return (*c).op })
	m.layOut()
}

// settle finds the chosen row again, and tells if it is no more: then none is chosen, and no other one in its place.
func settle[T any](p *pane, rows []T, id func(*T) string) (gone bool) {
	p.rows = len(rows)
	if p.key != "" {
		i := slices.IndexFunc(rows, func(r T) bool { return id(&r) == p.key })
		if gone = i < 0; gone {
			p.picked = false
		} else {
			p.chosen = i
		}
	}
	p.chosen = max(min(p.chosen, p.rows-1), 0)
	p.picked, p.key = p.picked && p.rows > 0, ""
	if p.picked {
		p.key = id(&rows[p.chosen])
	}
	return gone
}

// key does what a key is for.
func (m *Model) key(key string) tea.Cmd {
	if key == "ctrl+c" {
		return tea.Quit
	}
	if t := m.killing; t != nil {
		m.killing = nil
		if key == "y" || key == "Y" {
			m.status = "Ending session " + text.Clean(t.session) + " …"
			return m.kill(t.host, t.session)
		}
		m.status = "Nothing was ended."
		return nil
	}
	if m.help || m.detail {
		m.help, m.detail = false, false
		if key == "q" || key == "esc" || key == "?" || key == "enter" {
			return nil
		}
	}
	m.status = ""
	p := &m.panes[m.focus]
	switch key {
	case "q":
		return tea.Quit
	case "?", "h":
		m.help = true
	case "tab", "right":
		m.focus = (m.focus + 1) % len(m.panes)
	case "shift+tab", "left":
		m.focus = (m.focus + len(m.panes) - 1) % len(m.panes)
	case "up":
		p.move(-1)
	case "down":
		p.move(1)
	case "pgup":
		p.move(-max(p.page, 1))
	case "pgdown":
		p.move(max(p.page, 1))
	case "home", "g":
		p.move(-p.rows)
	case "end", "G":
		p.move(p.rows)
	case "s":
		p.sort, p.up = (p.sort+1)%len(sortKeys[m.focus]), false
	case "r":
		p.up = !p.up
	case "+", "=":
		m.opt.Interval = min(2*m.opt.Interval, time.Hour)
	case "-":
		m.opt.Interval = max(m.opt.Interval/2, 100*time.Millisecond)
	case "enter":
		if m.detail = m.focus == processesPane && m.chosenProcess() != nil; !m.detail {
			m.status = chooseFirst
		}
	case "k":
		m.askKill()
	case "space", "p":
		return m.pause()
	}
	return nil
}

// move chooses another row, or at first the one where choosing begins.
func (p *pane) move(by int) {
	if !p.picked && (by == 1 || by == -1) {
		by = 0
	}
	p.chosen = max(min(p.chosen+by, p.rows-1), 0)
	p.picked, p.key = true, "" // the row there, whatever it is
}

const chooseFirst = "Choose a process first (Tab, ↑, ↓)."

// pause stops reading, or goes on.
func (m *Model) pause() tea.Cmd {
	m.paused = !m.paused
	if m.paused {
		return nil
	}
	var cmds []tea.Cmd
	for i := range m.hosts {
		if m.hosts[i].waiting {
			m.hosts[i].waiting = false
			cmds = append(cmds, m.read(i))
		}
	}
	return tea.Batch(cmds...)
}

// askKill asks whether the chosen process's session is to be ended.
func (m *Model) askKill() {
	p := m.chosenProcess()
	switch {
	case m.focus != processesPane || p == nil:
		m.status = chooseFirst
	case p.Session == "":
		m.status = fmt.Sprintf("Process %d is not a worker's session; it can be ended on its machine only.", p.PID)
	default:
		m.killing = &target{host: p.id.host, session: p.Session, who: "unknown"}
		if p.Client != nil {
			m.killing.who = text.Client(p.Client)
		}
	}
}
