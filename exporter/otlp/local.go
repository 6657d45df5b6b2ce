package otlp

import (
	"path/filepath"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/rocwire/rocwire/exporter/local"
)

// localAttrs are who a local program is.
var localAttrs = append([]string{"process.pid", "process.executable.name", "process.executable.path", "process.owner", "rocwire.hip.library"}, containerAttrs...)

var (
	localTime = define(histogram, "hip.local.call.duration", "s", "How long calls of a program on this machine took.", localAttrs,
		with("rpc.system.name", "rpc.method"))
	localCalls    = define(intCounter, "hip.local.calls", "{call}", "Calls of a program on this machine, by function and result.", localAttrs, callAttrs)
	localLaunches = define(intCounter, "hip.local.kernel.launches", "{launch}", "Kernels a program on this machine started.", localAttrs)
	localGrid     = define(histogram, "hip.local.kernel.grid.threads", "{thread}", "Threads of the whole grid, per launch.", localAttrs)
	localBlock    = define(histogram, "hip.local.kernel.block.threads", "{thread}", "Threads of a block, per launch.", localAttrs)
	localCopies   = define(intCounter, "hip.local.copies", "{copy}", "Copies of a program on this machine that succeeded.", localAttrs, with("rocwire.copy.kind"))
	localCopied   = define(intCounter, "hip.local.copy.io", "By", "Bytes that they copied.", localAttrs, with("rocwire.copy.kind"))
	localAllocs   = define(intCounter, "hip.local.memory.allocations", "{allocation}", "Allocations of a program on this machine that succeeded.",
		localAttrs, with("rocwire.memory.type"))
	localHeld = define(upDown, "hip.local.memory.usage", "By", "Memory that it allocated and has not freed.", localAttrs, with("rocwire.memory.type"))
	localDrop = define(intCounter, "hip.local.dropped", "{item}", "What of local programs was not counted, by reason.", with("rocwire.reason"))
)

// local adds what programs of this machine do with HIP.
func (p *points) local(r *local.Reading) {
	for i := range r.Processes {
		p.localProcess(&r.Processes[i])
	}
	for _, d := range r.Dropped {
		p.counter(localDrop, float64(d.Count), attribute.NewSet(kv("rocwire.reason", d.Reason)), time.Time{})
	}
}

func (p *points) localProcess(l *local.Process) {
	who := attrs{}.pid("process.pid", l.PID).str("process.executable.name", l.Name).str("process.executable.path", l.Executable).
		str("process.owner", l.User).str("rocwire.hip.library", filepath.Base(l.Library)).container(&l.Container)
	plain := who.set()
	for i := range l.Calls {
		c := &l.Calls[i]
		p.spread(localTime, ofHist(&c.Latency), who.set(kv("rpc.system.name", rpcSystem), kv("rpc.method", c.Op)), l.Since)
		for _, k := range c.Codes {
			p.counter(localCalls, float64(k.Count), who.set(callOf(c.Op, k.Code)...), l.Since)
		}
	}
	p.counter(localLaunches, float64(l.Launches), plain, l.Since)
	p.spread(localGrid, ofSizes(&l.Grid), plain, l.Since)
	p.spread(localBlock, ofSizes(&l.Block), plain, l.Since)
	for _, k := range l.Copies {
		set := who.set(kv("rocwire.copy.kind", k.Kind))
		p.counter(localCopies, float64(k.Count), set, l.Since)
		p.counter(localCopied, float64(k.Bytes), set, l.Since)
	}
	for _, m := range []struct {
		kind string
		of   *local.Memory
	}{{"device", &l.Device}, {"managed", &l.Managed}, {"host", &l.Host}} {
		set := who.set(kv("rocwire.memory.type", m.kind))
		p.counter(localAllocs, float64(m.of.Allocations), set, l.Since)
		if n, ok := m.of.Held.Get(); ok {
			p.gauge(localHeld, float64(n), set)
		}
	}
}
