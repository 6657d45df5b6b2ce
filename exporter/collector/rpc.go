package collector

func init() {
	register("rpc", func(o *Options) collector { return &rpcCollector{o.Calls} })
}

var (
	rpcDuration = define(histogram, "hip_rpc_duration_seconds",
		"How long calls took, by function and result: side client is issue to return in the program, side worker is arrival to reply.", "op", "side", "code")
	// A metric of their own: the phases are parts of what the sides are the whole of,
	// and a sum over all series of either counts nothing twice.
	rpcPhase = define(histogram, "hip_rpc_phase_duration_seconds",
		"Where the time of calls went that somebody waited for: phase queue is the wait on the worker, execution what followed there, network the client's time without the worker's. Calls that are only issued have no phases.", "op", "phase", "code")
)

// phases are the Side of totals that are parts of a call and no whole.
var phases = map[string]bool{"queue": true, "execution": true, "network": true}

// rpcCollector makes the call latencies.
type rpcCollector struct{ src CallSource }

func (c *rpcCollector) update(_ *View, emit *emitter) error {
	if c.src == nil {
		return nil
	}
	if err := Unknown(c.src); err != nil {
		return err
	}
	var traced exemplars
	if s, ok := c.src.(SlowCallSource); ok {
		traced = exemplarsOf(s.SlowCalls())
	}
	list := c.src.Calls()
	for i := range list {
		t := &list[i]
		m, values := rpcDuration, []string{t.Op, t.Side, t.Code}
		if phases[t.Side] {
			m = rpcPhase
		}
		emit.duration(m, makeLabels(m, values), &t.Hist, t.Since, traced[t.Call])
	}
	return nil
}
