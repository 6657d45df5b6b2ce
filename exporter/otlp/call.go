package otlp

import (
	"go.opentelemetry.io/otel/attribute"

	"github.com/rocwire/rocwire/calls/rpcstats"
)

var callAttrs = []string{"rpc.system.name", "rpc.method", "rpc.response.status_code", "error.type"}

var (
	rpcTime = define(histogram, "hip.rpc.duration", "s",
		"How long calls of remote programs took: side client is issue to return in the program, side worker is arrival to reply.",
		callAttrs, with("rocwire.side"))
	rpcPhase = define(histogram, "hip.rpc.phase.duration", "s",
		"Where the time of HIP calls went that somebody waited for: queue and execution on the worker, network is the client's time without both.", callAttrs, with("rocwire.phase"))
)

// phases are the sides of rpcstats that are parts of a call.
var phases = map[string]bool{"queue": true, "execution": true, "network": true}

// calls adds the latencies of calls.
func (p *points) calls(list []rpcstats.CallTotal, slow []rpcstats.SlowCall) {
	traced := exemplarsOf(slow, p.starts.last, p.now)
	for i := range list {
		c := &list[i]
		m, side := rpcTime, attribute.String("rocwire.side", c.Side)
		if phases[c.Side] {
			m, side = rpcPhase, attribute.String("rocwire.phase", c.Side)
		}
		l := ofHist(&c.Hist)
		l.exemplars = traced[c.Call]
		p.spread(m, l, append(callOf(c.Op, c.Code), side).set(), c.Since)
	}
}

// callOf says which function was called and how it ended.
func callOf(op, code string) attrs {
	a := attrs{}.str("rpc.system.name", rpcSystem).str("rpc.method", op).str("rpc.response.status_code", code)
	if failed(code) {
		a = a.str("error.type", code)
	}
	return a
}

const rpcSystem = "hip"

// failed reports whether a result is an error. That something is not ready is an answer
// to the question whether it is.
func failed(code string) bool {
	return code != "" && code != "hipSuccess" && code != "hipErrorNotReady"
}
