package otlp

import (
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/rocwire/rocwire/smi"
)

// processAttrs are who a process on a card is. The command line is not among them: it
// may hold secrets.
var processAttrs = append(append([]string{
	"hw.id", "hw.name", "process.pid", "process.executable.name", "process.owner", "rocwire.origin", "rocwire.session.id",
}, containerAttrs...), clientAttrs...)

var (
	processVRAM  = define(upDown, "process.gpu.memory.usage", "By", "Memory of the GPU that the process holds.", processAttrs)
	processGTT   = define(upDown, "process.gpu.gtt.usage", "By", "Host memory lent to the GPU that the process holds.", processAttrs)
	processHost  = define(upDown, "process.gpu.host_memory.usage", "By", "Host memory of the process that the GPU can reach, without what is lent to the GPU.", processAttrs)
	processUnits = define(intGauge, "process.gpu.compute_units", "{compute_unit}", "Compute units the process occupies.", processAttrs)
	processTime  = define(counter, "process.gpu.time", "s",
		"Time the process kept a part of the GPU busy: general (its kernels ran), copy (its copies ran), graphics and encoder (as the graphics driver counts them).",
		processAttrs, with("hw.gpu.task"))
	processUse = define(gauge, "process.gpu.utilization", "1",
		"Difference in process.gpu.time since the last measurement, divided by the elapsed time.", processAttrs, with("hw.gpu.task"))
	processEvicted = define(counter, "process.gpu.evicted.time", "s", "Time for which queues of the process had to leave the GPU.", processAttrs)
)

// processes adds whoever uses the card. since is when the list was read before.
func (c *cardPoints) processes(list []smi.Process, since time.Time) {
	c.gauge(processes, float64(len(list)), c.brief.set())
	for i := range list {
		c.process(&list[i], since)
	}
}

func (c *cardPoints) process(p *smi.Process, since time.Time) {
	who := attrs{}.str("hw.id", c.id).str("hw.name", c.name).pid("process.pid", p.PID).str("process.executable.name", p.Name).
		str("process.owner", p.User).str("rocwire.origin", p.Origin).str("rocwire.session.id", p.Session).container(p.Container).client(p.Client)
	plain := who.set()
	gaugeOpt(c.points, processVRAM, p.VRAM, plain)
	gaugeOpt(c.points, processGTT, p.GTT, plain)
	gaugeOpt(c.points, processHost, p.HostMemory, plain)
	gaugeOpt(c.points, processUnits, p.CUOccupancy, plain)
	secondsOpt(c.points, processEvicted, p.Evicted, plain, since)
	for _, t := range []struct {
		task string
		v    smi.Opt[smi.Duration]
	}{{"general", p.Busy}, {"copy", p.SDMA}, {"graphics", p.GFXTime}, {"encoder", p.EncodeTime}} {
		d, ok := t.v.Get()
		if !ok {
			continue
		}
		set := who.set(kv("hw.gpu.task", t.task))
		c.share(d.Seconds(), set)
		c.counter(processTime, d.Seconds(), set, since)
	}
}

// share adds how busy the process kept a part of the card since the reading before; of
// the first reading there is none.
func (c *cardPoints) share(seconds float64, set attribute.Set) {
	before, at, ok := c.starts.before(processTime, set)
	took := c.now.Sub(at).Seconds()
	if !ok || took <= 0 || seconds < before {
		return
	}
	c.gauge(processUse, min((seconds-before)/took, 1), set)
}
