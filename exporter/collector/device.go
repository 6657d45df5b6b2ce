package collector

import (
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"time"

	"github.com/rocwire/rocwire/smi"
)

func init() {
	register("device", func(o *Options) collector { return &deviceCollector{o.Version, [3]string{o.Host, o.Cluster, o.Pool}} })
}

var (
	buildInfo = define(gauge, "gpu_exporter_build_info", "The program that serves these metrics.", "version", "goversion")
	sourceUp  = define(gauge, "gpu_exporter_source_up",
		"1 if the GPUs (or the remote worker that has them) can be asked, else 0.")

	hostInfo = define(gauge, "gpu_host_info", "Where the GPUs are, as the exporter's operator names it.", "host", "cluster", "pool")

	gpuUp   = define(gauge, "gpu_up", "1 if the GPU has told its figures lately, else 0.", "gpu")
	gpuAge  = define(gauge, "gpu_snapshot_age_seconds", "Time since the GPU last told its figures.", "gpu")
	gpuTook = define(gauge, "gpu_snapshot_duration_seconds", "How long the last reading of the GPU took.", "gpu")
	gpuInfo = define(gauge, "gpu_info", "Identity of the GPU.",
		"gpu", "uuid", "bdf", "name", "target", "vendor", "device_id", "serial", "vram_type", "vram_vendor", "driver", "driver_version")

	boardInfo = define(gauge, "gpu_board_info", "What the chip is mounted on.", "gpu", "model", "product", "manufacturer", "serial", "fru_id")
	vbiosInfo = define(gauge, "gpu_vbios_info", "The GPU's boot firmware.", "gpu", "name", "version", "part_number", "date")
	pcieInfo  = define(gauge, "gpu_pcie_info", "The GPU's slot: PCIE, OAM or CEM, and its generation.", "gpu", "slot", "generation")
	idsInfo   = define(gauge, "gpu_ids_info",
		"The numbers other software knows the GPU by: the kernel's KFD gpu_id and node, /dev/dri/cardN and renderDN, HIP's number and UUID.",
		"gpu", "kfd_id", "kfd_node", "partition", "drm_card", "drm_render", "hip_id", "hip_uuid")
	numaInfo           = define(gauge, "gpu_numa_info", "The GPU's place among the host's memories, and the CPUs next to it.", "gpu", "node", "cpus")
	virtualizationInfo = define(gauge, "gpu_virtualization_info",
		"How the machine has the GPU: baremetal, host, guest or passthrough.", "gpu", "mode")

	gpuUnits     = define(gauge, "gpu_compute_units", "Compute units of the GPU.", "gpu")
	gpuVRAMSize  = define(gauge, "gpu_vram_size_bytes", "Memory of the GPU.", "gpu")
	gpuVRAMUsed  = define(gauge, "gpu_vram_used_bytes", "Memory of the GPU in use.", "gpu")
	gpuVisible   = define(gauge, "gpu_visible_vram_size_bytes", "Memory of the GPU that the host's processors reach.", "gpu")
	gpuVisUsed   = define(gauge, "gpu_visible_vram_used_bytes", "Memory of the GPU that the host's processors reach, in use.", "gpu")
	gpuGTTSize   = define(gauge, "gpu_gtt_size_bytes", "Host memory that may be lent to the GPU.", "gpu")
	gpuGTTUsed   = define(gauge, "gpu_gtt_used_bytes", "Host memory lent to the GPU.", "gpu")
	gpuBandwidth = define(gauge, "gpu_vram_max_bandwidth_bytes_per_second", "Peak bandwidth of the GPU's memory.", "gpu")
)

// deviceCollector makes the figures of the cards.
type deviceCollector struct {
	version string
	place   [3]string // host, cluster, pool
}

func (c *deviceCollector) update(v *View, emit *emitter) error {
	emit.gauge(buildInfo, 1, c.version, runtime.Version())
	up := 1.0
	if v.Err != nil {
		up = 0
	}
	emit.gauge(sourceUp, up)
	if c.place != [3]string{} {
		emit.gauge(hostInfo, 1, c.place[0], c.place[1], c.place[2])
	}
	errs := []error{v.Err}
	for i := range v.Cards {
		errs = append(errs, card(v, &v.Cards[i], emit))
	}
	return errors.Join(errs...)
}

func card(v *View, c *Card, emit *emitter) error {
	d := &c.Snap
	gpu := strconv.Itoa(d.Device.Index)
	m, metricsErr := current(v, c, d.Metrics, d.MetricsErr, staleMetrics(d.Metrics), "metrics")
	up := 0.0
	if c.Fresh && m != nil {
		up = 1
	}
	emit.gauge(gpuUp, up, gpu)
	if c.Known {
		age := max(c.Age, 0)
		if s, ok := staleMetrics(d.Metrics).Get(); ok {
			age += time.Duration(s)
		}
		emit.gauge(gpuAge, age.Seconds(), gpu)
		emit.gauge(gpuTook, c.Took.Seconds(), gpu)
	}
	if !c.Fresh {
		return fmt.Errorf("GPU %s: nothing recent is known", gpu)
	}
	if d.Metrics != nil {
		emit.gauge(metricsStale, staleSeconds(c, d.Metrics.Stale), gpu)
	}
	info := d.Info
	if info == nil {
		info = &smi.Info{Device: d.Device}
	}
	cardInfo(gpu, info, emit)
	size := info.VRAM.Size
	if m != nil {
		if !size.Ok() {
			size = m.VRAM.Total
		}
		cardMetrics(gpu, m, emit)
		cardPower(gpu, info, m, emit)
		cardLink(gpu, &m.PCIe, emit)
		cardThrottle(gpu, &m.Throttle, emit)
	}
	gaugeOpt(emit, gpuVRAMSize, size, gpu)
	return errors.Join(failed(gpu, "info", d.InfoErr), metricsErr)
}

// failed is a failure worth reporting; a question that the card does not know is
// answered by leaving it out.
func failed(gpu, what string, f *smi.Failure) error {
	if f == nil || f.Code == smi.ErrNotSupported {
		return nil
	}
	return fmt.Errorf("GPU %s: %s: %w", gpu, what, f.Err())
}

func cardInfo(gpu string, i *smi.Info, emit *emitter) {
	emit.gauge(gpuInfo, 1, gpu, i.UUID, text(i.BDF), i.Name, i.Target, i.ASIC.VendorName, hex(i.ASIC.DeviceID), i.ASIC.Serial,
		i.VRAM.Type, i.VRAM.Vendor, i.Driver.Name, i.Driver.Version)
	emit.info(boardInfo, gpu, i.Board.Model, i.Board.Product, i.Board.Manufacturer, i.Board.Serial, i.Board.FRU)
	emit.info(vbiosInfo, gpu, i.VBIOS.Name, i.VBIOS.Version, i.VBIOS.PartNumber, i.VBIOS.Date)
	emit.info(pcieInfo, gpu, i.PCIe.Slot, number(i.PCIe.Generation))
	emit.info(idsInfo, gpu, number(i.IDs.KFD), number(i.IDs.KFDNode), number(i.IDs.Partition), number(i.IDs.DRMCard), number(i.IDs.DRMRender),
		number(i.IDs.HIP), i.IDs.HIPUUID)
	emit.info(numaInfo, gpu, number(i.NUMA.Node), i.NUMA.CPUs)
	emit.info(virtualizationInfo, gpu, i.Virtualization)
	gaugeOpt(emit, linkMaxWidth, i.PCIe.MaxWidth, gpu)
	gaugeOpt(emit, linkMaxSpeed, i.PCIe.MaxSpeed, gpu)
	gaugeOpt(emit, gpuUnits, i.ASIC.ComputeUnits, gpu)
	gaugeOpt(emit, gpuBandwidth, i.VRAM.MaxBandwidth, gpu)
}

// text is a value as a label; empty when it is not available.
func text[T interface{ String() string }](v smi.Opt[T]) string {
	if t, ok := v.Get(); ok {
		return t.String()
	}
	return ""
}

func hex(v smi.Opt[uint32]) string {
	if n, ok := v.Get(); ok {
		return fmt.Sprintf("0x%04x", n)
	}
	return ""
}
