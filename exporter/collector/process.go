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
var clientLabels = []string{"client_host", "client_pid", "client_executable", "client_user", "client_container", "client_pod", "client_namespace", "client_job"}

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
	shown   []shownProcess // empty between two scrapes
}

// shownProcess is a process on a card. The registry sorts the series of each metric by their labels: they come in that order, which
// is found once for all metrics with the same labels, so that it has nothing left to do.
type shownProcess struct {
	row    *smi.Process
	labels *processLabels
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
		at := len(p.shown)
		for _, row := range largest(*list, p.max) {
			p.shown = append(p.shown, shownProcess{row, p.labelsOf(c.Snap.Device.Index, row)})
		}
		own := p.shown[at:]
		slices.SortStableFunc(own, func(a, b shownProcess) int { return compareLabels(a.labels.plain, b.labels.plain) })
		for i := range own {
			process(own[i].labels.plain, own[i].row, emit)
		}
	}
	slices.SortStableFunc(p.shown, func(a, b shownProcess) int { return compareLabels(a.labels.vram, b.labels.vram) })
	for i := range p.shown {
		emit.put(processInfo, 1, p.shown[i].labels.info)
		putOpt(emit, processVRAM, p.shown[i].row.VRAM, p.shown[i].labels.vram)
	}
	clear(p.shown) // the cards' snapshots are not kept for it
	p.shown = p.shown[:0]
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

// process emits what has no labels but card and process.
func process(l *labels, p *smi.Process, emit *emitter) {
	putOpt(emit, processGTT, p.GTT, l)
	putOpt(emit, processHost, p.HostMemory, l)
	putOpt(emit, processUnit, p.CUOccupancy, l)
	putSeconds(emit, processBusy, p.Busy, l)
	putSeconds(emit, processSDMA, p.SDMA, l)
	putSeconds(emit, processEvic, p.Evicted, l)
	putSeconds(emit, processGFX, p.GFXTime, l)
	putSeconds(emit, processEnc, p.EncodeTime, l)
}

func clientValues(c *smi.Client) []string {
	if c == nil {
		return make([]string, len(clientLabels))
	}
	pid := ""
	if c.PID != 0 {
		pid = strconv.FormatUint(uint64(c.PID), 10)
	}
	return []string{c.Host, pid, c.Executable, c.User, c.Container, c.Pod, c.Namespace, c.Job}
}
