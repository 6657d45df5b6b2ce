package exporter

import (
	"errors"
	"fmt"
	"runtime"
	"strconv"

	"github.com/rocwire/rocwire/smi"
)

func init() {
	registerCollector("device", func(o *Options) collector { return &deviceCollector{version: o.Version} })
}

var (
	buildInfo = define(gauge, "gpu_exporter_build_info", "The program that serves these metrics.", "version", "goversion")
	sourceUp  = define(gauge, "gpu_exporter_source_up",
		"1 if the GPUs (or the remote worker that has them) can be asked, else 0.")

	gpuUp   = define(gauge, "gpu_up", "1 if the GPU has told its figures lately, else 0.", "gpu")
	gpuAge  = define(gauge, "gpu_snapshot_age_seconds", "Time since the GPU was last read.", "gpu")
	gpuTook = define(gauge, "gpu_snapshot_duration_seconds", "How long the last reading of the GPU took.", "gpu")
	gpuInfo = define(gauge, "gpu_info", "Identity of the GPU.",
		"gpu", "uuid", "bdf", "name", "target", "vendor", "device_id", "serial", "vram_type", "vram_vendor", "driver", "driver_version")
	gpuUnits     = define(gauge, "gpu_compute_units", "Compute units of the GPU.", "gpu")
	gpuVRAMSize  = define(gauge, "gpu_vram_size_bytes", "Memory of the GPU.", "gpu")
	gpuVRAMUsed  = define(gauge, "gpu_vram_used_bytes", "Memory of the GPU in use.", "gpu")
	gpuGTTSize   = define(gauge, "gpu_gtt_size_bytes", "Host memory that may be lent to the GPU.", "gpu")
	gpuGTTUsed   = define(gauge, "gpu_gtt_used_bytes", "Host memory lent to the GPU.", "gpu")
	gpuBandwidth = define(gauge, "gpu_vram_max_bandwidth_bytes_per_second", "Peak bandwidth of the GPU's memory.", "gpu")
	gpuActivity  = define(gauge, "gpu_activity_ratio",
		"Share of the last moments in which an engine was busy: gfx (compute and graphics), umc (memory controller), mm (video).", "gpu", "engine")
	gpuClock     = define(gauge, "gpu_clock_hertz", "Current clock.", "gpu", "domain", "index")
	gpuClockMin  = define(gauge, "gpu_clock_min_hertz", "Lowest clock in force.", "gpu", "domain", "index")
	gpuClockMax  = define(gauge, "gpu_clock_max_hertz", "Highest clock in force.", "gpu", "domain", "index")
	gpuPower     = define(gauge, "gpu_power_watts", "Power drawn by the socket now.", "gpu")
	gpuPowerAvg  = define(gauge, "gpu_power_average_watts", "Power drawn by the socket, the GPU's own running average.", "gpu")
	gpuPowerCap  = define(gauge, "gpu_power_cap_watts", "Power limit in force.", "gpu")
	gpuPowerMax  = define(gauge, "gpu_power_cap_max_watts", "Highest power limit that may be set.", "gpu")
	gpuEnergy    = define(counter, "gpu_energy_joules_total", "Energy used since the driver was loaded.", "gpu")
	gpuTemp      = define(gauge, "gpu_temperature_celsius", "Temperature at a sensor: edge, hotspot, mem, ….", "gpu", "sensor")
	gpuTempLimit = define(gauge, "gpu_temperature_limit_celsius", "Temperature at which clocks are lowered.", "gpu", "sensor")
)

// deviceCollector makes the figures of the cards.
type deviceCollector struct{ version string }

func (c *deviceCollector) update(v *view, emit *emitter) error {
	emit.gauge(buildInfo, 1, c.version, runtime.Version())
	up := 1.0
	if v.err != nil {
		up = 0
	}
	emit.gauge(sourceUp, up)
	errs := []error{v.err}
	for i := range v.cards {
		errs = append(errs, card(&v.cards[i], emit))
	}
	return errors.Join(errs...)
}

func card(c *cardView, emit *emitter) error {
	d := &c.snap
	gpu := strconv.Itoa(d.Device.Index)
	up := 0.0
	if c.fresh && d.Metrics != nil {
		up = 1
	}
	emit.gauge(gpuUp, up, gpu)
	if c.known {
		emit.gauge(gpuAge, max(c.age.Seconds(), 0), gpu)
		emit.gauge(gpuTook, c.took.Seconds(), gpu)
	}
	if !c.fresh {
		return fmt.Errorf("GPU %s: nothing recent is known", gpu)
	}
	info := d.Info
	if info == nil {
		info = &smi.Info{Device: d.Device}
	}
	cardInfo(gpu, info, emit)
	if size := info.VRAM.Size; size.Ok() || d.Metrics == nil {
		gaugeOpt(emit, gpuVRAMSize, size, gpu)
	} else {
		gaugeOpt(emit, gpuVRAMSize, d.Metrics.VRAM.Total, gpu)
	}
	if d.Metrics != nil {
		cardMetrics(gpu, d.Metrics, emit)
	}
	return errors.Join(failed(gpu, "info", d.InfoErr), failed(gpu, "metrics", d.MetricsErr))
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
	gaugeOpt(emit, gpuUnits, i.ASIC.ComputeUnits, gpu)
	gaugeOpt(emit, gpuBandwidth, i.VRAM.MaxBandwidth, gpu)
}

func cardMetrics(gpu string, m *smi.Metrics, emit *emitter) {
	gaugeOpt(emit, gpuVRAMUsed, m.VRAM.Used, gpu)
	gaugeOpt(emit, gpuGTTSize, m.GTT.Total, gpu)
	gaugeOpt(emit, gpuGTTUsed, m.GTT.Used, gpu)
	gaugeOpt(emit, gpuActivity, m.Activity.GFX, gpu, "gfx")
	gaugeOpt(emit, gpuActivity, m.Activity.UMC, gpu, "umc")
	gaugeOpt(emit, gpuActivity, m.Activity.MM, gpu, "mm")
	for _, c := range m.Clocks {
		index := strconv.Itoa(c.Index)
		gaugeOpt(emit, gpuClock, c.Current, gpu, c.Domain, index)
		gaugeOpt(emit, gpuClockMin, c.Min, gpu, c.Domain, index)
		gaugeOpt(emit, gpuClockMax, c.Max, gpu, c.Domain, index)
	}
	gaugeOpt(emit, gpuPower, m.Power.Socket, gpu)
	gaugeOpt(emit, gpuPowerAvg, m.Power.Average, gpu)
	gaugeOpt(emit, gpuPowerCap, m.Power.Cap, gpu)
	gaugeOpt(emit, gpuPowerMax, m.Power.MaxCap, gpu)
	counterOpt(emit, gpuEnergy, m.Energy, gpu)
	for _, t := range m.Temperatures {
		gaugeOpt(emit, gpuTemp, t.Current, gpu, t.Sensor)
		gaugeOpt(emit, gpuTempLimit, t.Limit, gpu, t.Sensor)
	}
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
