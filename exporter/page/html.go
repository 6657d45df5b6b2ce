package page

import (
	"fmt"
	"net/http"
	"strconv"
)

// serveHTML serves the page as a browser without scripts shows it, and as the others
// show it until their script has asked for figures.
func (p *Page) serveHTML(w http.ResponseWriter, r *http.Request) {
	calls, err := p.callTable(&query{})
	if err != nil {
		problem(w, http.StatusInternalServerError, err)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	send(w, r, []byte(htmlOf(p.status(), calls.(*CallTable))))
}

func htmlOf(s *Status, calls *CallTable) string {
	m := &markup{}
	m.head(s)
	m.put("<main>\n")
	m.alerts(s)
	m.put(`<section id="summary" aria-label="Summary"></section>` + "\n")
	m.cards(s.Cards)
	m.put(`<section id="history" aria-label="History"><noscript><p class="empty">Charts of the last hour need scripts; the figures are at <a href="api/v1/history">api/v1/history</a>.</p></noscript></section>` + "\n")
	m.processes(s)
	m.sessions(s)
	m.calls(calls)
	m.local(s.Local)
	m.sinks(s.Sinks)
	m.put(`</main>
<footer>
<nav aria-label="Elsewhere"><a href="metrics">Metrics</a> <a href="api/v1/status">Status as JSON</a> <a href="-/healthy">Healthy?</a> <a href="-/ready">Ready?</a></nav>
<p>Version <bdi>{}</bdi></p>
</footer>
</body>
</html>
`, s.Version)
	return m.b.String()
}

func (m *markup) head(s *Status) {
	m.put(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{}</title>
<link rel="icon" type="image/svg+xml" href="assets/{}/icon.svg">
<link rel="stylesheet" href="assets/{}/page.css">
<script type="module" src="assets/{}/app.js"></script>
<noscript><meta http-equiv="refresh" content="10"></noscript>
</head>
<body>
<a class="skip" href="#cards">Skip to the cards</a>
<header id="head">
<h1><bdi>{}</bdi></h1>
<p class="place">`, s.Title, assetVersion, assetVersion, assetVersion, s.Title)
	m.putIf("cluster <bdi>{}</bdi> ", s.Cluster)
	m.putIf("pool <bdi>{}</bdi>", s.Pool)
	m.put(`</p>
<p class="spring"></p>
<noscript><p class="muted">Without scripts: a snapshot every 10 s</p></noscript>
<p class="muted">{}</p>
</header>
`, s.Time.Format("2006-01-02 15:04:05 MST"))
}

func (m *markup) alerts(s *Status) {
	m.put(`<div id="alerts" role="status" aria-live="polite">` + "\n")
	m.putIf(`<p class="alert bad"><b>The GPUs cannot be read.</b> <bdi>{}</bdi></p>`+"\n", s.Error)
	m.putIf(`<p class="alert warn"><b>Nothing is known of sessions.</b> <bdi>{}</bdi></p>`+"\n", s.SessionsError)
	m.putIf(`<p class="alert warn"><b>Nothing is known of calls.</b> <bdi>{}</bdi></p>`+"\n", s.CallsError)
	m.put("</div>\n")
}

func (m *markup) cards(list []Card) {
	m.put(`<section id="cards" aria-label="GPUs" tabindex="-1">` + "\n" + `<div class="cards">` + "\n")
	if len(list) == 0 {
		m.put(`<p class="empty">No GPU has been found yet.</p>` + "\n")
	}
	for i := range list {
		c := &list[i]
		m.put(`<article class="card">
<header><h2>GPU {}</h2> <bdi class="name">{}</bdi> <span class="badge {}">{}</span></header>
<dl class="facts">
`, strconv.Itoa(c.Index), c.Name, c.State, c.State)
		m.put("<div><dt>Utilisation</dt><dd>{}</dd></div>\n", percentText(c.Busy))
		m.put("<div><dt>Memory</dt><dd>{} of {}</dd></div>\n", bytesText(c.VRAMUsed), bytesText(c.VRAMSize))
		m.put("<div><dt>Power</dt><dd>{} of {}</dd></div>\n", wattsText(c.Power), wattsText(c.PowerCap))
		m.put("<div><dt>Temperature</dt><dd>{}</dd></div>\n", celsiusText(hottest(c.Temperatures)))
		m.put("<div><dt>Clock</dt><dd>{}, memory {}</dd></div>\n", hertzText(clockOf("gfx", c.Clocks)), hertzText(clockOf("mem", c.Clocks)))
		m.put("<div><dt>ECC errors</dt><dd>{} corrected, {} not</dd></div>\n", countText(c.Correctable), countText(c.Uncorrectable))
		m.put("<div><dt>Age of figures</dt><dd>{}</dd></div>\n</dl>\n", ageText(c.Age))
		for _, problem := range c.Problems {
			m.put(`<p class="problem"><bdi>{}</bdi></p>`+"\n", problem)
		}
		m.put("</article>\n")
	}
	m.put("</div>\n</section>\n")
}

func (m *markup) processes(s *Status) {
	m.put(`<section id="processes" aria-label="Processes">`)
	table(m, "Processes", "No process uses a GPU.",
		[]literal{"GPU", "PID", "Process", "#Memory", "#Busy", "User", "Client", "Program there"}, s.Processes, func(p *Process) []cell {
			there := plain("")
			if p.Client != nil {
				there = name(p.Client.Executable)
			}
			return []cell{plain(strconv.Itoa(p.GPU)), plain(number(p.PID)), name(p.Name), figure(bytesText(p.VRAM)), figure(percentText(p.Busy)),
				name(p.User), name(whoText(p.Client)), there}
		})
	if s.ProcessesLeftOut > 0 {
		m.put(`<p class="muted">{} more hold less.</p>`+"\n", strconv.Itoa(s.ProcessesLeftOut))
	}
	m.put("</section>\n")
}

func (m *markup) sessions(s *Status) {
	m.put(`<section id="sessions" aria-label="Sessions">`)
	table(m, "Sessions", "No sessions. Point a program at this worker with TF_WORKER_HOST and TF_WORKER_PORT.",
		[]literal{"Session", "Client", "Program", "Address", "#Memory", "#Received", "#Sent", "#Calls"}, s.Sessions, func(s *Session) []cell {
			return []cell{name(s.ID), name(whoText(s.Client)), name(s.Client.Executable), name(s.Client.Address), figure(bytesText(s.VRAM)),
				figure(bytesText(s.BytesIn)), figure(bytesText(s.BytesOut)), figure(countText(s.Calls))}
		})
	if s.SessionsLeftOut > 0 {
		m.put(`<p class="muted">{} more are older.</p>`+"\n", strconv.Itoa(s.SessionsLeftOut))
	}
	m.put("</section>\n")
}

func (m *markup) calls(c *CallTable) {
	m.put(`<section id="calls" aria-label="Calls">`)
	table(m, "Calls of the last minutes", "No calls in the last minutes.",
		[]literal{"Function", "#Calls", "#Failed", "#p50", "#p90", "#p99", "#Network", "#Queue", "#Execution"}, c.Functions, func(f *Function) []cell {
			return []cell{name(f.Op), figure(number(f.Calls)), figure(number(f.Failed)),
				figure(secondsText(f.Latency.P50)), figure(secondsText(f.Latency.P90)), figure(secondsText(f.Latency.P99)),
				figure(secondsText(f.Network)), figure(secondsText(f.Queue)), figure(secondsText(f.Execution))}
		})
	m.put("</section>\n")
}

func (m *markup) local(l *Local) {
	m.put(`<section id="local" aria-label="Local programs">`)
	if l != nil {
		table(m, "Local programs", "No program of this machine has called HIP since it is watched.",
			[]literal{"PID", "Program", "User", "#Allocated", "#Calls", "#Failed", "#Kernels"}, l.Programs, func(p *LocalProgram) []cell {
				return []cell{plain(number(p.PID)), name(p.Name), name(p.User), figure(bytesText(p.Held)),
					figure(number(p.Calls)), figure(number(p.Failed)), figure(number(p.Launches))}
			})
	}
	m.put("</section>\n")
}

func (m *markup) sinks(list []Sink) {
	m.put(`<section id="health" aria-label="Health">`)
	table(m, "Delivery", "Nothing is pushed anywhere.",
		[]literal{"Sink", "State", "#Waiting", "#Sent", "#Failures", "#Lost", "Last error"}, list, func(s *Sink) []cell {
			state := "down"
			if s.Up {
				state = "up"
			}
			return []cell{name(s.Name), plain(state), figure(number(s.QueueRecords)), figure(number(s.SentRecords)), figure(number(s.Failures)),
				figure(number(s.Dropped())), name(s.LastError)}
		})
	m.put("</section>\n")
}

func number[T uint32 | uint64 | int64](n T) string { return fmt.Sprint(n) }
