package exporter

import (
	"errors"
	"strconv"

	"github.com/rocwire/rocwire/smi"
)

func init() {
	registerCollector("process", func(*Options) collector { return processCollector{} })
}

// clientLabels say who a remote client is; all empty for a local program.
var clientLabels = []string{"client_host", "client_pid", "client_executable", "client_user", "client_container", "client_pod", "client_namespace"}

// processLabels is the identity of a process on a GPU. It never changes while the
// process lives, and no other series changes when a process starts or ends.
var processLabels = append([]string{"gpu", "pid", "name", "origin", "session"}, clientLabels...)

var (
	gpuProcesses = define(gauge, "gpu_processes", "Processes that hold memory or queues on the GPU.", "gpu")
	processInfo  = define(gauge, "gpu_process_info",
		"Identity of a process on the GPU: the worker session it serves and that session's client; origin says where its figures come from.",
		processLabels...)
	processVRAM = define(gauge, "gpu_process_vram_bytes", "Memory of the GPU that the process holds.", processLabels...)
	processGTT  = define(gauge, "gpu_process_gtt_bytes", "Host memory lent to the GPU that the process holds.", "gpu", "pid")
	processHost = define(gauge, "gpu_process_host_memory_bytes", "Other host memory of the process that the GPU can reach.", "gpu", "pid")
	processUnit = define(gauge, "gpu_process_compute_units", "Compute units the process occupies.", "gpu", "pid")
	processBusy = define(counter, "gpu_process_busy_seconds_total", "Time in which kernels of the process ran.", "gpu", "pid")
	processSDMA = define(counter, "gpu_process_sdma_seconds_total", "Time in which copies of the process ran.", "gpu", "pid")
	processEvic = define(counter, "gpu_process_evicted_seconds_total", "Time for which queues of the process had to leave the GPU.", "gpu", "pid")
)

// processCollector makes the series of whoever uses a card.
type processCollector struct{}

func (processCollector) update(v *view, emit *emitter) error {
	errs := []error{v.err}
	for i := range v.cards {
		c := &v.cards[i]
		if !c.fresh {
			continue
		}
		gpu := strconv.Itoa(c.snap.Device.Index)
		if f := c.snap.ProcessesErr; f != nil {
			errs = append(errs, failed(gpu, "processes", f))
			continue
		}
		emit.gauge(gpuProcesses, float64(len(c.snap.Processes)), gpu)
		for j := range c.snap.Processes {
			process(gpu, &c.snap.Processes[j], emit)
		}
	}
	return errors.Join(errs...)
}

func process(gpu string, p *smi.Process, emit *emitter) {
	pid := strconv.FormatUint(uint64(p.PID), 10)
	identity := func() []string {
		return append([]string{gpu, pid, p.Name, p.Origin, p.Session}, clientValues(p.Client)...)
	}
	emit.gauge(processInfo, 1, identity()...)
	gaugeOpt(emit, processVRAM, p.VRAM, identity()...)
	gaugeOpt(emit, processGTT, p.GTT, gpu, pid)
	gaugeOpt(emit, processHost, p.HostMemory, gpu, pid)
	gaugeOpt(emit, processUnit, p.CUOccupancy, gpu, pid)
	secondsOpt(emit, processBusy, p.Busy, gpu, pid)
	secondsOpt(emit, processSDMA, p.SDMA, gpu, pid)
	secondsOpt(emit, processEvic, p.Evicted, gpu, pid)
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
