package collector

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"sync"

	"github.com/rocwire/rocwire/smi"
)

func init() {
	register("process", func(o *Options) collector {
		return &processCollector{max: o.MaxProcesses, dropped: map[int]float64{}}
	})
}

// clientLabels say who a remote client is; all empty for a local program.
var clientLabels = []string{"client_host", "client_pid", "client_executable", "client_user", "client_container", "client_pod", "client_namespace"}

// vramLabels are on the one series most questions are about, so that they need no
// join. None of them changes while the process lives.
var vramLabels = append([]string{"gpu", "pid", "name", "origin", "session"}, clientLabels...)

// infoLabels are the identity of a process on a GPU. The command line is not among
// them: it may hold secrets, and has no bound.
var infoLabels = append(vramLabels[:len(vramLabels):len(vramLabels)],
	"user", "container", "container_id", "container_pid", "pod", "pod_uid", "namespace")

var (
	gpuProcesses = define(gauge, "gpu_processes", "Processes that hold memory or queues on the GPU.", "gpu")
	processDrops = define(counter, "gpu_process_dropped_total",
		"Processes that were left out of scrapes because there were too many on the GPU; those that hold most of its memory are shown.", "gpu")
	processInfo = define(gauge, "gpu_process_info",
		"Identity of a process on the GPU: its user, container and pod on this machine; the worker session it serves and that session's client; "+
			"origin says where its figures come from.", infoLabels...)
	processVRAM = define(gauge, "gpu_process_vram_bytes", "Memory of the GPU that the process holds.", vramLabels...)
	processGTT  = define(gauge, "gpu_process_gtt_bytes", "Host memory lent to the GPU that the process holds.", "gpu", "pid")
	processHost = define(gauge, "gpu_process_host_memory_bytes", "Host memory of the process that the GPU can reach, without what is lent to the GPU.", "gpu", "pid")
	processUnit = define(gauge, "gpu_process_compute_units", "Compute units the process occupies.", "gpu", "pid")
	processBusy = define(counter, "gpu_process_busy_seconds_total", "Time in which kernels of the process ran.", "gpu", "pid")
	processSDMA = define(counter, "gpu_process_sdma_seconds_total", "Time in which copies of the process ran.", "gpu", "pid")
	processEvic = define(counter, "gpu_process_evicted_seconds_total", "Time for which queues of the process had to leave the GPU.", "gpu", "pid")
	processGFX  = define(counter, "gpu_process_graphics_seconds_total",
		"Time the process kept the graphics engine busy, as the graphics driver counts it; work that HIP sends is not in it.", "gpu", "pid")
	processEnc = define(counter, "gpu_process_encode_seconds_total",
		"Time the process kept the video encoder busy, as the graphics driver counts it.", "gpu", "pid")
)

// processCollector makes the series of whoever uses a card.
type processCollector struct {
	max int // processes of one card

	mu      sync.Mutex
	dropped map[int]float64 // by card
	labels  labelCache[identity, *processLabels]
}

func (p *processCollector) update(v *View, emit *emitter) error {
	errs := []error{v.Err}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.labels.begin()
	defer p.labels.end()
	for i := range v.Cards {
		c := &v.Cards[i]
		if !c.Fresh {
			continue
		}
		gpu := strconv.Itoa(c.Snap.Device.Index)
		emit.counter(processDrops, p.drop(c.Snap.Device.Index, len(c.Snap.Processes)-p.max), gpu)
		if c.Snap.ProcessesErr == nil {
			emit.gauge(processesStale, staleSeconds(c, c.Snap.ProcessesStale), gpu)
		}
		list, err := current(v, c, &c.Snap.Processes, c.Snap.ProcessesErr, c.Snap.ProcessesStale, "processes")
		errs = append(errs, err)
		if list == nil {
			continue
		}
		emit.gauge(gpuProcesses, float64(len(*list)), gpu)
		for _, row := range largest(*list, p.max) {
			process(p.labelsOf(c.Snap.Device.Index, row), row, emit)
		}
	}
	return errors.Join(errs...)
}

// drop adds to what was left out of a card, and says how much that is by now.
func (p *processCollector) drop(index, n int) float64 {
	p.dropped[index] += float64(max(n, 0))
	return p.dropped[index]
}

// largest are the processes that hold most, n at most, in the order of the list.
func largest(list []smi.Process, n int) []*smi.Process {
	rows := make([]*smi.Process, len(list))
	for i := range list {
		rows[i] = &list[i]
	}
	if len(rows) <= n {
		return rows
	}
	slices.SortStableFunc(rows, func(a, b *smi.Process) int { return cmp.Compare(b.VRAM.Or(0), a.VRAM.Or(0)) })
	rows = rows[:n]
	slices.SortStableFunc(rows, func(a, b *smi.Process) int { return cmp.Compare(a.PID, b.PID) })
	return rows
}

func process(l *processLabels, p *smi.Process, emit *emitter) {
	emit.put(processInfo, 1, l.info)
	putOpt(emit, processVRAM, p.VRAM, l.vram)
	putOpt(emit, processGTT, p.GTT, l.plain)
	putOpt(emit, processHost, p.HostMemory, l.plain)
	putOpt(emit, processUnit, p.CUOccupancy, l.plain)
	putSeconds(emit, processBusy, p.Busy, l.plain)
	putSeconds(emit, processSDMA, p.SDMA, l.plain)
	putSeconds(emit, processEvic, p.Evicted, l.plain)
	putSeconds(emit, processGFX, p.GFXTime, l.plain)
	putSeconds(emit, processEnc, p.EncodeTime, l.plain)
}

func clientValues(c *smi.Client) []string {
	if c == nil {
		return make([]string, len(clientLabels))
	}
	pid := ""
	if c.PID != 0 {
		pid = strconv.FormatUint(uint64(c.PID), 10)
	}
	return []string{c.Host, pid, c.Executable, c.User, c.Container, c.Pod, c.Namespace}
}
