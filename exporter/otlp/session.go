package otlp

import (
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/rocwire/rocwire/smi"
)

// sessionAttrs are who a session belongs to.
var sessionAttrs = append([]string{"rocwire.session.id", "process.pid", "rocwire.client.address"}, clientAttrs...)

var (
	sessions    = define(upDown, "rocwire.sessions", "{session}", "Client processes connected to the worker.")
	sessionTime = define(gauge, "rocwire.session.uptime", "s", "Time since the session began.", sessionAttrs)
	sessionVRAM = define(upDown, "rocwire.session.memory.usage", "By", "GPU memory the session holds, on all GPUs.", sessionAttrs)
	sessionIO   = define(intCounter, "rocwire.session.io", "By", "Bytes received from the session's client and sent to it.", sessionAttrs,
		with("network.io.direction"))
	sessionCalls = define(intCounter, "rocwire.session.calls", "{call}", "Calls of the session that were executed.", sessionAttrs)

	workerStarted = define(intCounter, "rocwire.worker.sessions", "{session}", "Sessions the worker has started.")
	workerRefused = define(intCounter, "rocwire.worker.connections.refused", "{connection}", "Connections that got no session.")
	workerIO      = define(intCounter, "rocwire.worker.io", "By", "Bytes received from clients and sent to them, ended sessions included.",
		with("network.io.direction"))
	workerCalls = define(intCounter, "rocwire.worker.calls", "{call}", "Calls executed, ended sessions included.")
)

var (
	received = attribute.String("network.io.direction", "receive")
	sent     = attribute.String("network.io.direction", "transmit")
)

// sessions adds a worker's clients.
func (p *points) sessions(list []smi.Session, t *smi.SessionTotals) {
	none := attribute.NewSet()
	p.gauge(sessions, float64(len(list)), none)
	for i := range list {
		p.session(&list[i])
	}
	counterOpt(p, workerStarted, t.Started, none, time.Time{})
	counterOpt(p, workerRefused, t.Refused, none, time.Time{})
	counterOpt(p, workerIO, t.BytesIn, attribute.NewSet(received), time.Time{})
	counterOpt(p, workerIO, t.BytesOut, attribute.NewSet(sent), time.Time{})
	counterOpt(p, workerCalls, t.Calls, none, time.Time{})
}

func (p *points) session(s *smi.Session) {
	who := attrs{}.str("rocwire.session.id", s.ID).pid("process.pid", s.PID).str("rocwire.client.address", s.Client.Address).client(&s.Client)
	plain := who.set()
	if !s.Start.IsZero() && s.Start.Before(p.now) {
		p.gauge(sessionTime, p.now.Sub(s.Start).Seconds(), plain)
	}
	gaugeOpt(p, sessionVRAM, s.VRAM, plain)
	counterOpt(p, sessionIO, s.BytesIn, who.set(received), s.Start)
	counterOpt(p, sessionIO, s.BytesOut, who.set(sent), s.Start)
	counterOpt(p, sessionCalls, s.Calls, plain, s.Start)
}
