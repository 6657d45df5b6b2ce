package dashboards

import (
	"fmt"

	"github.com/grafana/grafana-foundation-sdk/go/units"
)

const (
	rpc   = "hip_rpc_duration_seconds"
	phase = "hip_rpc_phase_duration_seconds"
)

// Selectors of the chosen functions as programs saw them, as the worker did, and by phase.
const (
	calls    = inst + `,op=~"$op"`
	byClient = `side="client",` + calls
	byWorker = `side="worker",` + calls
	failed   = `code!~"hipSuccess|hipErrorNotReady",`
)

func latencyBoard() board {
	return board{
		uid: latencyUID, title: "rocwire: HIP call latency", desc: "How long HIP calls take, by function and phase, which fail, and what costs the most time.",
		vars:   []variable{varCluster, varHost, varInstance, varOp},
		events: []event{sessionsStarted, throttleEvent},
		rows: []row{
			{"Now", latencyNow()},
			{"How long", latencySpread()},
			{"Where the time goes", latencyPhases()},
			{"By function", latencyFunctions()},
			{"Errors", latencyErrors()},
		},
	}
}

func latencyNow() []panel {
	list := []panel{
		{kind: number, title: "Calls", desc: "Of the chosen functions, by programs, per second.", unit: units.OpsPerSecond, none: "no call",
			queries: []query{{`sum(` + rate(rpc+"_count", byClient) + `)`, "calls"}}},
		{kind: number, title: "Failing", desc: "Share of calls that did not succeed. hipErrorNotReady is an answer, not a failure.", unit: units.PercentUnit, none: "no call", steps: failing,
			queries: []query{{`(sum(` + rate(rpc+"_count", failed+byClient) + `) or 0 * sum(` + rate(rpc+"_count", byClient) + `)) / sum(` + rate(rpc+"_count", byClient) + `)`, "failing"}}},
	}
	for _, p := range []struct {
		q    float64
		desc string
	}{
		{0.5, "Half of the calls return within this time."}, {0.9, "Nine of ten calls return within this time."},
		{0.99, "One of a hundred calls takes longer."}, {0.999, "One of a thousand calls takes longer."},
	} {
		list = append(list, panel{kind: number, title: fmt.Sprintf("p%v", p.q*100), desc: p.desc + " From the call to its return in the program.", unit: units.Seconds, none: "no call", steps: slow,
			queries: []query{{quantile(p.q, "", rpc, byClient), fmt.Sprintf("p%v", p.q*100)}}})
	}
	return list
}

func latencySpread() []panel {
	return []panel{
		{kind: heat, title: "As programs saw it", desc: "How many calls took how long, from the call to its return. An asynchronous call returns at once.", unit: units.Seconds, none: "no call", h: 9,
			queries: []query{{`sum by (le) (` + rate(rpc+"_bucket", byClient) + `)`, "{{le}}"}}},
		{kind: heat, title: "As workers saw it", desc: "From the arrival of a request to its reply.", unit: units.Seconds, none: "no call", h: 9,
			queries: []query{{`sum by (le) (` + rate(rpc+"_bucket", byWorker) + `)`, "{{le}}"}}},
		{title: "Percentiles", desc: "Of all chosen functions together, as programs saw them.", unit: units.Seconds, none: "no call", limits: above, steps: slow,
			queries: []query{{quantile(0.5, "", rpc, byClient), "p50"}, {quantile(0.9, "", rpc, byClient), "p90"}, {quantile(0.99, "", rpc, byClient), "p99"}, {quantile(0.999, "", rpc, byClient), "p99.9"}}},
		{title: "Percentiles on the worker", desc: "The same from arrival to reply.", unit: units.Seconds, none: "no call", limits: above, steps: slow,
			queries: []query{{quantile(0.5, "", rpc, byWorker), "p50"}, {quantile(0.9, "", rpc, byWorker), "p90"}, {quantile(0.99, "", rpc, byWorker), "p99"}, {quantile(0.999, "", rpc, byWorker), "p99.9"}}},
	}
}

func latencyPhases() []panel {
	return []panel{
		{kind: stack, title: "Mean by phase", desc: "A call's mean time on the network, in the worker's queue and in execution.", unit: units.Seconds, none: "no phase is measured", limits: above,
			queries: []query{{mean("phase", phase, calls), "{{phase}}"}}},
		{title: "p99 by phase", desc: "One of a hundred calls spends longer in this phase.", unit: units.Seconds, none: "no phase is measured", limits: above, steps: slow,
			queries: []query{{quantile(0.99, "phase", phase, calls), "{{phase}}"}}},
		{kind: heat, title: "Waiting in the worker's queue", desc: "How many calls waited how long behind others before they were executed.", unit: units.Seconds, none: "no phase is measured", w: 8,
			queries: []query{{`sum by (le) (` + rate(phase+"_bucket", `phase="queue",`+calls) + `)`, "{{le}}"}}},
		{kind: heat, title: "On the network", desc: "The program's time without the worker's: network, and packing on both sides.", unit: units.Seconds, none: "no phase is measured", w: 8,
			queries: []query{{`sum by (le) (` + rate(phase+"_bucket", `phase="network",`+calls) + `)`, "{{le}}"}}},
		{kind: heat, title: "In execution", desc: "How long the worker's runtime took.", unit: units.Seconds, none: "no phase is measured", w: 8,
			queries: []query{{`sum by (le) (` + rate(phase+"_bucket", `phase="execution",`+calls) + `)`, "{{le}}"}}},
	}
}

func latencyFunctions() []panel {
	// Functions that nobody called meanwhile have no line.
	of := func(expr string) string { return expr + ` > 0` }
	p99 := func(name string) string { return quantile(0.99, "op", phase, `phase="`+name+`",`+calls) }
	return []panel{
		{kind: listing, title: "Slow functions", desc: "Where programs spend their time: the functions that cost the most first. Time is seconds per second spent in calls, by all programs together.",
			unit: units.Short, none: "no call", sort: "Time", h: 10,
			queries: []query{
				{of(`sum by (op) (` + rate(rpc+"_sum", byClient) + `)`), ""},
				{of(`sum by (op) (` + rate(rpc+"_count", byClient) + `)`), ""},
				{of(mean("op", rpc, byClient)), ""},
				{of(quantile(0.5, "op", rpc, byClient)), ""},
				{of(quantile(0.99, "op", rpc, byClient)), ""},
				{of(p99("network")), ""},
				{of(p99("queue")), ""},
				{of(p99("execution")), ""},
			},
			columns: []column{
				{title: "Function", label: "op", link: link{latencyUID, map[string]string{"op": "Function"}}},
				{title: "Time", unit: units.PercentUnit}, {title: "Calls", unit: units.OpsPerSecond}, {title: "Mean", unit: units.Seconds, steps: slow},
				{title: "p50", unit: units.Seconds, steps: slow}, {title: "p99", unit: units.Seconds, steps: slow},
				{title: "p99 network", unit: units.Seconds, steps: slow}, {title: "p99 queue", unit: units.Seconds, steps: slow}, {title: "p99 execution", unit: units.Seconds, steps: slow},
			}},
		{title: "p99 by function", desc: "As programs saw it.", unit: units.Seconds, none: "no call", limits: above, steps: slow, link: link{latencyUID, map[string]string{"op": "op"}},
			queries: []query{{quantile(0.99, "op", rpc, byClient), "{{op}}"}}},
		{title: "p50 by function", desc: "As programs saw it.", unit: units.Seconds, none: "no call", limits: above, steps: slow, link: link{latencyUID, map[string]string{"op": "op"}},
			queries: []query{{quantile(0.5, "op", rpc, byClient), "{{op}}"}}},
		{kind: stack, title: "Calls by function", desc: "Per second, failing ones too.", unit: units.OpsPerSecond, none: "no call", limits: above, link: link{latencyUID, map[string]string{"op": "op"}},
			queries: []query{{`sum by (op) (` + rate(rpc+"_count", byClient) + `)`, "{{op}}"}}},
		{kind: stack, title: "Time by function", desc: "Seconds per second that programs spent in each function. 1 is one thread that does nothing else.", unit: units.PercentUnit, none: "no call", limits: above, link: link{latencyUID, map[string]string{"op": "op"}},
			queries: []query{{`sum by (op) (` + rate(rpc+"_sum", byClient) + `)`, "{{op}}"}}},
		{kind: stack, title: "Calls by host", desc: "Executed by the worker of each host, per second.", unit: units.OpsPerSecond, none: "no call", limits: above, link: toWorker,
			queries: []query{{sumOnHost("host", rate(rpc+"_count", byWorker)), "{{host}}"}}},
		{title: "p99 by host", desc: "From arrival to reply on the worker of each host: one that is slower than the others stands out.", unit: units.Seconds, none: "no call", limits: above, steps: slow, link: toWorker,
			queries: []query{{`histogram_quantile(0.99, ` + sumOnHost("host, le", rate(rpc+"_bucket", byWorker)) + `)`, "{{host}}"}}},
	}
}

func latencyErrors() []panel {
	return []panel{
		{kind: stack, title: "Failing calls", desc: "Per second, by function and result.", unit: units.OpsPerSecond, none: "no call has failed", limits: above, steps: anyOdd,
			queries: []query{{`sum by (op, code) (` + rate(rpc+"_count", failed+byClient) + `)`, "{{op}} {{code}}"}}},
		{title: "Share of calls that fail", desc: "By function. hipErrorNotReady is an answer, not a failure.", unit: units.PercentUnit, none: "no call has failed", limits: share, steps: failing,
			queries: []query{{`sum by (op) (` + rate(rpc+"_count", failed+byClient) + `) / sum by (op) (` + rate(rpc+"_count", byClient) + `)`, "{{op}}"}}},
		{kind: bars, title: "Failing calls in the time shown", desc: "Which results, how often.", unit: units.Short, none: "no call has failed", limits: above, steps: anyOdd, w: 24, h: 7,
			queries: []query{{`sum by (code) (` + grown(rpc+"_count", failed+byClient) + `)`, "{{code}}"}}},
	}
}
