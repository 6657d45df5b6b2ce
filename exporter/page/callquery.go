package page

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/rocwire/rocwire/calls/rpcstats"
	"github.com/rocwire/rocwire/smi"
)

// Sides and phases of calls, as rpcstats names them.
const (
	sideClient    = "client"
	sideWorker    = "worker"
	sideQueue     = "queue"
	sideNetwork   = "network"
	sideExecution = "execution"
)

// succeeded says whether a result is none to be alarmed about: hipErrorNotReady is
// how a query says "not yet".
func succeeded(code string) bool {
	return code == "hipSuccess" || code == "hipErrorNotReady"
}

// CallTable is the answer of /api/v1/calls: what calls cost in the last minutes.
type CallTable struct {
	Time      time.Time  `json:"time"`
	Seconds   float64    `json:"window_seconds"` // that the figures are of; 0: nothing is known yet
	Error     string     `json:"error"`
	Functions []Function `json:"functions"` // those with most time first
	LeftOut   int        `json:"functions_left_out"`
	Slow      []SlowCall `json:"slow"` // slowest first
}

// Function is one function. Its latency is what programs saw, where they measure it,
// otherwise what the worker did: Side says which.
type Function struct {
	Op        string           `json:"op"`
	Side      string           `json:"side"`
	Calls     uint64           `json:"calls"`
	Rate      float64          `json:"calls_per_second"`
	Failed    uint64           `json:"failed"`
	Codes     []Code           `json:"codes"` // results other than success
	Latency   Latency          `json:"latency"`
	Worker    smi.Opt[float64] `json:"worker_mean_seconds"`
	Queue     smi.Opt[float64] `json:"queue_mean_seconds"`
	Network   smi.Opt[float64] `json:"network_mean_seconds"`
	Execution smi.Opt[float64] `json:"execution_mean_seconds"`
}

// Latency are figures of a histogram.
type Latency struct {
	Total float64 `json:"total_seconds"`
	Mean  float64 `json:"mean_seconds"`
	P50   float64 `json:"p50_seconds"`
	P90   float64 `json:"p90_seconds"`
	P99   float64 `json:"p99_seconds"`
}

// Code is how often a result came.
type Code struct {
	Code  string `json:"code"`
	Count uint64 `json:"count"`
}

// maxFunctions is how many functions an answer has.
const maxFunctions = 300

const defaultWindow = 5 * time.Minute

// calls answers with the table of the parameter minutes.
func (p *Page) callTable(q *query) (any, error) {
	window := time.Duration(q.number("minutes", defaultWindow.Minutes(), 0, maxHistory.Minutes()) * float64(time.Minute))
	if q.err != nil {
		return nil, q.err
	}
	r := p.opt.Read()
	t := &CallTable{Time: r.Time, Error: reason(r.CallsErr), Functions: []Function{}, Slow: []SlowCall{}}
	p.mu.Lock()
	defer p.mu.Unlock()
	to := p.calls.head + 1
	from := max(p.calls.begin(), to-max(1, int64(window/p.opt.Step)))
	t.Seconds = p.calls.seconds(from, to, p.opt.Step)
	t.Functions = functions(p.calls, from, to, t.Seconds)
	if len(t.Functions) > maxFunctions {
		t.LeftOut = len(t.Functions) - maxFunctions
		t.Functions = t.Functions[:maxFunctions]
	}
	p.slow(t, &r)
	return t, nil
}

// sides are the histograms of one function.
type sides struct {
	hist  map[string]*rpcstats.Hist // by side, all results together
	codes map[string]map[string]uint64
}

func functions(c *callRing, from, to int64, seconds float64) []Function {
	ops := map[string]*sides{}
	for call, h := range c.all(from, to, everyCall) {
		s := ops[call.Op]
		if s == nil {
			s = &sides{hist: map[string]*rpcstats.Hist{}, codes: map[string]map[string]uint64{}}
			ops[call.Op] = s
		}
		if s.hist[call.Side] == nil {
			s.hist[call.Side], s.codes[call.Side] = &rpcstats.Hist{}, map[string]uint64{}
		}
		s.hist[call.Side].Merge(h)
		if call.Code != "hipSuccess" {
			s.codes[call.Side][call.Code] += h.Count()
		}
	}
	list := make([]Function, 0, len(ops))
	for op, s := range ops {
		if side := s.best(); side != "" {
			list = append(list, s.function(op, side, seconds))
		}
	}
	slices.SortFunc(list, func(a, b Function) int {
		return cmp.Or(cmp.Compare(b.Latency.Total, a.Latency.Total), cmp.Compare(a.Op, b.Op))
	})
	return list
}

// best is the side whose figures are shown.
func (s *sides) best() string {
	for _, side := range []string{sideClient, sideWorker} {
		if s.hist[side] != nil {
			return side
		}
	}
	return ""
}

func (s *sides) function(op, side string, seconds float64) Function {
	h := s.hist[side]
	f := Function{Op: clean(op), Side: side, Calls: h.Count(), Latency: latencyOf(h), Codes: []Code{}}
	if seconds > 0 {
		f.Rate = float64(f.Calls) / seconds
	}
	for code, n := range s.codes[side] {
		f.Codes = append(f.Codes, Code{clean(code), n})
		if !succeeded(code) {
			f.Failed += n
		}
	}
	slices.SortFunc(f.Codes, func(a, b Code) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Code, b.Code))
	})
	f.Worker = meanOf(s.hist[sideWorker])
	f.Network, f.Queue, f.Execution = partOf(s.hist[sideNetwork], h), partOf(s.hist[sideQueue], h), partOf(s.hist[sideExecution], h)
	return f
}

// partOf is a phase's part of the mean of calls, some of which may have no phases.
func partOf(phase, calls *rpcstats.Hist) smi.Opt[float64] {
	if phase == nil || phase.Count() == 0 {
		return smi.None[float64]()
	}
	return smi.Some(phase.Seconds() / float64(max(calls.Count(), phase.Count())))
}

func latencyOf(h *rpcstats.Hist) Latency {
	return Latency{
		Total: h.Seconds(), Mean: h.Seconds() / float64(h.Count()),
		P50: h.Quantile(0.5), P90: h.Quantile(0.9), P99: h.Quantile(0.99),
	}
}

func meanOf(h *rpcstats.Hist) (m smi.Opt[float64]) {
	if h == nil {
		return m
	}
	if v := h.Seconds() / float64(h.Count()); !math.IsNaN(v) {
		m = smi.Some(v)
	}
	return m
}
