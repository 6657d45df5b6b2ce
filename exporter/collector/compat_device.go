package collector

import (
	"strconv"
	"strings"

	"github.com/rocwire/rocwire/smi"
)

// Units of AMD's exporter, as factors of ours.
const (
	percent   = 100.
	milli     = 1e3 // millivolts
	micro     = 1e6 // microjoules
	perMega   = 1e-6
	perGiga   = 1e-9
	perMiB    = 1. / (1 << 20)
	perKiB    = 1. / (1 << 10)
	megabits  = 8e-6 // of bytes
	hbmSensor = "hbm"
)

func (u *compatUse) device(v *View, c *Card) {
	d := &c.Snap
	if i := d.Info; i != nil {
		compatOpt(u, "pcie_max_speed", i.PCIe.MaxSpeed, perGiga)
		compatOpt(u, "gpu_vram_max_bandwidth", i.VRAM.MaxBandwidth, perGiga)
	}
	if m, _ := current(v, c, d.Metrics, d.MetricsErr, staleMetrics(d.Metrics), "metrics"); m != nil {
		u.figures(d.Info, m)
	}
	if d.ECC != nil {
		if e, _ := current(v, c, d.ECC, d.ECCErr, d.ECC.Stale, "errors"); e != nil {
			u.errors(e)
		}
	}
	if x := c.XGMI.Value; x != nil {
		for i := range x.Links {
			index := strconv.Itoa(i)
			compatOpt(u, "gpu_xgmi_link_rx", x.Links[i].Read, perKiB, index)
			compatOpt(u, "gpu_xgmi_link_tx", x.Links[i].Written, perKiB, index)
		}
	}
}

func (u *compatUse) figures(i *smi.Info, m *smi.Metrics) {
	compatOpt(u, "gpu_package_power", m.Power.Socket, 1)
	compatOpt(u, "gpu_average_package_power", m.Power.Average, 1)
	compatOpt(u, "gpu_power_usage", m.Power.Draw(), 1)
	compatOpt(u, "gpu_energy_consumed", m.Energy, micro)

	for _, t := range m.Temperatures {
		switch t.Sensor {
		case smi.SensorEdge:
			compatOpt(u, "gpu_edge_temperature", t.Current, 1)
		case smi.SensorHotspot:
			compatOpt(u, "gpu_junction_temperature", t.Current, 1)
		case smi.SensorMem:
			compatOpt(u, "gpu_memory_temperature", t.Current, 1)
		default:
			if n, ok := strings.CutPrefix(t.Sensor, hbmSensor); ok {
				compatOpt(u, "gpu_hbm_temperature", t.Current, 1, n)
			}
		}
	}

	compatOpt(u, "gpu_gfx_activity", m.Activity.GFX, percent)
	compatOpt(u, "gpu_umc_activity", m.Activity.UMC, percent)
	compatOpt(u, "gpu_mma_activity", m.Activity.MM, percent)
	for _, e := range m.Activity.Engines {
		if name := compatEngines[e.Kind]; name != "" {
			compatOpt(u, name, e.Busy, percent, strconv.Itoa(e.Index))
		}
	}

	compatOpt(u, "gpu_voltage", m.Voltages.SOC, milli)
	compatOpt(u, "gpu_gfx_voltage", m.Voltages.GFX, milli)
	compatOpt(u, "gpu_memory_voltage", m.Voltages.Mem, milli)

	index := 0 // over all kinds of clock, as AMD counts
	for _, c := range m.Clocks {
		kind := compatClocks[c.Domain]
		if kind == "" {
			continue
		}
		at := strconv.Itoa(index)
		compatOpt(u, "gpu_clock", c.Current, perMega, at, kind)
		compatOpt(u, "gpu_min_clock", c.Min, perMega, at, kind)
		compatOpt(u, "gpu_max_clock", c.Max, perMega, at, kind)
		index++
	}

	compatOpt(u, "pcie_speed", m.PCIe.Speed, perGiga)
	compatOpt(u, "pcie_bandwidth", m.PCIe.Bandwidth, megabits)
	compatOpt(u, "pcie_replay_count", m.PCIe.Replays, 1)
	compatOpt(u, "pcie_recovery_count", m.PCIe.Recoveries, 1)
	compatOpt(u, "pcie_replay_rollover_count", m.PCIe.ReplayRollovers, 1)
	compatOpt(u, "pcie_nack_sent_count", m.PCIe.NAKsSent, 1)
	compatOpt(u, "pcie_nack_received_count", m.PCIe.NAKsReceived, 1)

	vram := m.VRAM
	if i != nil {
		vram.Total = first(i.VRAM.Size, vram.Total)
	}
	u.memory("vram", vram)
	u.memory("visible_vram", m.VisibleVRAM)
	u.memory("gtt", m.GTT)

	for _, w := range m.Throttle.Violations {
		if name := compatViolations[w.Kind]; name != "" {
			compatOpt(u, name, w.Ratio, percent)
		} else if name := compatDieViolations[w.Kind]; name != "" {
			compatOpt(u, name, w.Ratio, percent, strconv.Itoa(w.Index))
		}
	}
}

var (
	compatEngines = map[string]string{
		smi.EngineGFX: "gpu_gfx_busy_instantaneous", smi.EngineVCN: "gpu_vcn_activity", smi.EngineJPEG: "gpu_jpeg_activity",
	}
	compatClocks = map[string]string{
		smi.ClockGFX: "system", smi.ClockMem: "memory", smi.ClockSOC: "soc", smi.ClockVideo: "video", smi.ClockData: "data",
	}
	compatViolations = map[string]string{
		smi.ViolationProcHot:       "gpu_violation_processor_hot_residency_percentage",
		smi.ViolationPower:         "gpu_violation_ppt_residency_percentage",
		smi.ViolationSocketThermal: "gpu_violation_socket_thermal_residency_percentage",
		smi.ViolationVRThermal:     "gpu_violation_vr_thermal_residency_percentage",
		smi.ViolationHBMThermal:    "gpu_violation_hbm_thermal_residency_percentage",
	}
	compatDieViolations = map[string]string{
		smi.ViolationHostPower:   "gpu_violation_gfx_clock_below_host_limit_power_percentage",
		smi.ViolationHostThermal: "gpu_violation_gfx_clock_below_host_limit_thermal_percentage",
		smi.ViolationHostTotal:   "gpu_violation_gfx_clock_below_host_limit_total_percentage",
		smi.ViolationLowUse:      "gpu_violation_low_utilization_percentage",
	}
)

// memory emits how full a memory is.
func (u *compatUse) memory(kind string, m smi.MemoryUse) {
	compatOpt(u, "gpu_total_"+kind, m.Total, perMiB)
	compatOpt(u, "gpu_used_"+kind, m.Used, perMiB)
	total, ok1 := m.Total.Get()
	used, ok2 := m.Used.Get()
	if ok1 && ok2 && used <= total {
		compatOpt(u, "gpu_free_"+kind, smi.Some(total-used), perMiB)
	}
}

func (u *compatUse) errors(e *smi.ECC) {
	u.severities("total", e.Correctable, e.Uncorrectable, e.Deferred)
	for _, names := range compatBlocks {
		for i := range e.Blocks {
			if b := &e.Blocks[i]; b.Block == names.ours {
				u.severities(names.theirs, b.Correctable, b.Uncorrectable, b.Deferred)
				break
			}
		}
	}
}

func (u *compatUse) severities(part string, counts ...smi.Opt[uint64]) {
	for i, s := range compatSeverities {
		compatOpt(u, "gpu_ecc_"+s.theirs+"_"+part, counts[i], 1)
	}
}

// processes emits what AMD's exporter tells of single processes.
func (u *compatUse) processes(v *View, c *Card, most int) {
	if c.Snap.Info == nil {
		return
	}
	units, ok := c.Snap.Info.ASIC.ComputeUnits.Get()
	list, _ := current(v, c, &c.Snap.Processes, c.Snap.ProcessesErr, c.Snap.ProcessesStale, "processes")
	if !ok || units <= 0 || list == nil {
		return
	}
	for _, p := range largest(*list, most) {
		compatOpt(u, "gpu_process_cu_occupancy", p.CUOccupancy, percent/float64(units), strconv.FormatUint(uint64(p.PID), 10))
	}
}
