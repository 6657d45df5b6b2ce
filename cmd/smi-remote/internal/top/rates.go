package top

import (
	"time"

	"github.com/rocwire/rocwire/calls/rpcstats"
	"github.com/rocwire/rocwire/smi"
)

// success is the result of a call that is no error.
const success = "hipSuccess"

// callRate is what calls of one function did of late, on one worker or on all.
type callRate struct {
	op     string
	rate   float64 // per second
	failed float64 // of them, per second
	total  uint64  // ever

	worker, client rpcstats.Hist // of late
}

// side adds the calls that one side measured.
type side struct {
	count, failed, total uint64
	recent               rpcstats.Hist
}

// callRates adds up what each function did between two readings.
func callRates(before, now *reading) map[string]*callRate {
	old := map[rpcstats.Call]*rpcstats.Hist{}
	seconds := 0.0
	if before != nil {
		seconds = now.at.Sub(before.at).Seconds()
		for i := range before.calls {
			old[before.calls[i].Call] = &before.calls[i].Hist
		}
	}
	type sides map[string]*side
	ops := map[string]sides{}
	for i := range now.calls {
		c := &now.calls[i]
		if ops[c.Op] == nil {
			ops[c.Op] = sides{"worker": {}, "client": {}}
		}
		s := ops[c.Op][c.Side]
		if s == nil {
			continue // of neither side
		}
		s.total += c.Count()
		if before == nil {
			continue
		}
		d := c.Hist.Since(old[c.Call])
		s.count += d.Count()
		s.recent.Merge(&d)
		if c.Code != success {
			s.failed += d.Count()
		}
	}
	rates := map[string]*callRate{}
	for op, s := range ops {
		// What does not wait for the worker may be counted by one side only.
		w, c := s["worker"], s["client"]
		r := &callRate{op: op, total: max(w.total, c.total), worker: w.recent, client: c.recent}
		if seconds > 0 {
			r.rate, r.failed = float64(max(w.count, c.count))/seconds, float64(max(w.failed, c.failed))/seconds
		}
		rates[op] = r
	}
	return rates
}

// merge adds the same function of another worker.
func (r *callRate) merge(o *callRate) {
	r.rate, r.failed, r.total = r.rate+o.rate, r.failed+o.failed, r.total+o.total
	r.worker.Merge(&o.worker)
	r.client.Merge(&o.client)
}

// processID tells processes apart, also two sessions that had a number after one another.
type processID struct {
	host, device int
	pid          uint32
	session      string
}

// busyShares is the share of the time between two readings in which each process's
// kernels were running.
func busyShares(host int, before, now *reading) map[processID]smi.Opt[smi.Ratio] {
	shares := map[processID]smi.Opt[smi.Ratio]{}
	if before == nil {
		return shares
	}
	each := func(r *reading, f func(processID, smi.Opt[smi.Duration])) {
		for i := range r.snap.Devices {
			for _, p := range r.snap.Devices[i].Processes {
				f(processID{host, r.snap.Devices[i].Device.Index, p.PID, p.Session}, p.Busy)
			}
		}
	}
	was := map[processID]smi.Opt[smi.Duration]{}
	each(before, func(id processID, busy smi.Opt[smi.Duration]) { was[id] = busy })
	elapsed := now.at.Sub(before.at)
	each(now, func(id processID, busy smi.Opt[smi.Duration]) {
		b, ok := busy.Get()
		w, known := was[id].Get()
		if ok && known && b >= w && elapsed > 0 {
			shares[id] = smi.Some(smi.Ratio(float64(time.Duration(b-w)) / float64(elapsed)))
		}
	})
	return shares
}
