package collector

import (
	"math"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/rocwire/rocwire/exporter/local"
)

func init() {
	register("local", func(o *Options) collector { return &localCollector{o.Local} })
}

var (
	localLibraries = define(gauge, "hip_local_libraries", "HIP library files whose functions are watched on this machine.")
	localProcesses = define(gauge, "hip_local_processes", "Local programs that have called HIP while it was watched, those that ended a moment ago included.")
	localDropped   = define(counter, "hip_local_dropped_total",
		"What local programs did that could not be counted, by reason: process, series, thread and allocation are tables that were full; "+
			"unreadable is memory of the program that held arguments and could not be read; abandoned is a call that was left without returning.", "reason")
	localInfo = define(gauge, "hip_local_process_info", "Identity of a local program that calls HIP: its files, user, container and pod.",
		"pid", "name", "executable", "library", "user", "container", "container_id", "pod", "pod_uid", "namespace")
	localCalls    = define(counter, "hip_local_calls_total", "HIP calls of a local program, by function and result.", "pid", "op", "code")
	localDuration = define(histogram, "hip_local_call_duration_seconds", "How long HIP calls of a local program took, from entry to return, by function.", "pid", "op")
	localCopied   = define(counter, "hip_local_copied_bytes_total",
		"Bytes that a local program copied with HIP, by kind; default is what HIP finds out from the addresses.", "pid", "kind")
	localCopies   = define(counter, "hip_local_copies_total", "Copies that a local program made or started with HIP, by kind.", "pid", "kind")
	localLaunches = define(counter, "hip_local_kernel_launches_total", "Kernels that a local program started, those within graphs not counted.", "pid")
	localGrid     = define(histogram, "hip_local_kernel_grid_threads", "Threads of the whole grid of kernels that a local program started.", "pid")
	localBlock    = define(histogram, "hip_local_kernel_block_threads", "Threads of one block of kernels that a local program started.", "pid")

	localAllocs        = define(counter, "hip_local_allocations_total", "Allocations of GPU memory by a local program.", "pid")
	localAllocsManaged = define(counter, "hip_local_managed_allocations_total", "Allocations of managed memory by a local program.", "pid")
	localAllocsHost    = define(counter, "hip_local_host_allocations_total", "Allocations of page-locked host memory by a local program.", "pid")
	localHeld          = define(gauge, "hip_local_allocated_bytes",
		"GPU memory that a local program has asked for and not freed since it is watched; what the driver keeps for itself and arrays are not in it.", "pid")
	localHeldManaged = define(gauge, "hip_local_allocated_managed_bytes", "Managed memory that a local program has asked for and not freed since it is watched.", "pid")
	localHeldHost    = define(gauge, "hip_local_allocated_host_bytes", "Page-locked host memory that a local program has asked for and not freed since it is watched.", "pid")
)

// localCollector makes the series of local programs.
type localCollector struct{ src local.Source }

func (c *localCollector) update(_ *View, emit *emitter) error {
	if c.src == nil {
		return nil
	}
	if err := Unknown(c.src); err != nil {
		return err
	}
	r := c.src.Local()
	emit.gauge(localLibraries, float64(r.Libraries))
	emit.gauge(localProcesses, float64(len(r.Processes)))
	for _, d := range r.Dropped {
		emit.counter(localDropped, float64(d.Count), d.Reason)
	}
	for i := range r.Processes {
		if err := localProcess(&r.Processes[i], emit); err != nil {
			return err
		}
	}
	return nil
}

func localProcess(p *local.Process, emit *emitter) error {
	pid := strconv.FormatUint(uint64(p.PID), 10)
	own := makeLabels(localLaunches, []string{pid})
	c := &p.Container
	emit.gauge(localInfo, 1, pid, p.Name, p.Executable, p.Library, p.User, c.Name, c.ID, c.Pod, c.PodUID, c.Namespace)
	for i := range p.Calls {
		call := &p.Calls[i]
		for _, code := range call.Codes {
			emit.counter(localCalls, float64(code.Count), pid, call.Op, code.Code)
		}
		emit.duration(localDuration, makeLabels(localDuration, []string{pid, call.Op}), &call.Latency, p.Since, nil)
	}
	for _, k := range p.Copies {
		l := makeLabels(localCopied, []string{pid, k.Kind})
		emit.put(localCopied, float64(k.Bytes), l)
		emit.put(localCopies, float64(k.Count), l)
	}
	emit.put(localLaunches, float64(p.Launches), own)
	for _, m := range []struct {
		memory       *local.Memory
		allocs, held *metric
	}{{&p.Device, localAllocs, localHeld}, {&p.Managed, localAllocsManaged, localHeldManaged}, {&p.Host, localAllocsHost, localHeldHost}} {
		emit.put(m.allocs, float64(m.memory.Allocations), own)
		putOpt(emit, m.held, m.memory.Held, own)
	}
	if err := localSizes(localGrid, &p.Grid, own, emit, pid); err != nil {
		return err
	}
	return localSizes(localBlock, &p.Block, own, emit, pid)
}

// localSizes emits a histogram whose bounds are the powers of two up to the largest
// size that was seen.
func localSizes(m *metric, s *local.Sizes, l *labels, emit *emitter, pid string) error {
	if len(s.Buckets) == 0 || !emit.allow(m, l) {
		return nil
	}
	buckets, n := make(map[float64]uint64, len(s.Buckets)), uint64(0)
	for i, c := range s.Buckets {
		n += c
		buckets[math.Ldexp(1, i)] = n
	}
	h, err := prometheus.NewConstHistogram(m.desc, n, s.Sum, buckets, pid)
	if err != nil {
		return err
	}
	emit.out <- h
	return nil
}
