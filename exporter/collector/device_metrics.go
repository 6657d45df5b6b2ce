package collector

import (
	"strconv"

	"github.com/rocwire/rocwire/smi"
)

var (
	gpuActivity = define(gauge, "gpu_activity_ratio",
		"Share of the last moments in which a kind of engine was busy: gfx (compute and graphics), umc (memory controller), mm (video).", "gpu", "engine")
	gpuEngine = define(gauge, "gpu_engine_activity_ratio",
		"Share of the last moments in which a single engine was busy: gfx (one accelerator die), vcn, jpeg.", "gpu", "engine", "index")
	gpuClock     = define(gauge, "gpu_clock_hertz", "Current frequency of a clock of the GPU: gfx (compute and graphics), mem (memory), soc, ….", "gpu", "domain", "index")
	gpuClockMin  = define(gauge, "gpu_clock_min_hertz", "Lowest frequency that a clock of the GPU may have now.", "gpu", "domain", "index")
	gpuClockMax  = define(gauge, "gpu_clock_max_hertz", "Highest frequency that a clock of the GPU may have now.", "gpu", "domain", "index")
	clockLocked  = define(gauge, "gpu_clock_locked", "1 if a clock of the GPU is held at one frequency, else 0.", "gpu", "domain", "index")
	clockAsleep  = define(gauge, "gpu_clock_deep_sleep", "1 if a clock of the GPU is in deep sleep, else 0.", "gpu", "domain", "index")
	gpuTemp      = define(gauge, "gpu_temperature_celsius", "Temperature at a sensor of the GPU: edge, hotspot, mem, ….", "gpu", "sensor")
	gpuTempLimit = define(gauge, "gpu_temperature_limit_celsius", "Temperature at a sensor of the GPU at which clocks are lowered.", "gpu", "sensor")
	gpuTempOff   = define(gauge, "gpu_temperature_shutdown_celsius", "Temperature at a sensor at which the GPU goes off.", "gpu", "sensor")
	gpuVoltage   = define(gauge, "gpu_voltage_volts", "Voltage of a rail of the GPU: gfx, soc, mem.", "gpu", "rail")
	fanSpeed     = define(gauge, "gpu_fan_speed_rpm", "Speed of a fan of the GPU.", "gpu", "fan")
	fanMax       = define(gauge, "gpu_fan_max_speed_rpm", "Highest speed of a fan of the GPU.", "gpu", "fan")
	fanDuty      = define(gauge, "gpu_fan_duty_ratio", "Share of its highest speed that a fan of the GPU is driven at.", "gpu", "fan")

	gpuPower        = define(gauge, "gpu_power_watts", "Power drawn by the GPU's socket now.", "gpu")
	gpuPowerAvg     = define(gauge, "gpu_power_average_watts", "Power drawn by the GPU's socket, the GPU's own running average.", "gpu")
	gpuPowerCap     = define(gauge, "gpu_power_cap_watts", "Power limit of the GPU in force.", "gpu")
	gpuPowerDefault = define(gauge, "gpu_power_cap_default_watts", "Power limit of the GPU after a reset.", "gpu")
	gpuPowerMin     = define(gauge, "gpu_power_cap_min_watts", "Lowest power limit of the GPU that may be set.", "gpu")
	gpuPowerMax     = define(gauge, "gpu_power_cap_max_watts", "Highest power limit of the GPU that may be set.", "gpu")
	gpuManaged      = define(gauge, "gpu_power_managed", "1 if the GPU's power management is on, else 0.", "gpu")
	gpuEnergy       = define(counter, "gpu_energy_joules_total", "Energy the GPU used since its driver was loaded.", "gpu")
	perfLevel       = define(gauge, "gpu_performance_level_info", "Performance level of the GPU in force, as the kernel names it.", "gpu", "level")

	linkWidth    = define(gauge, "gpu_pcie_width_lanes", "Lanes the PCIe link uses now.", "gpu")
	linkMaxWidth = define(gauge, "gpu_pcie_max_width_lanes", "Lanes the PCIe link can use.", "gpu")
	linkSpeed    = define(gauge, "gpu_pcie_speed_transfers_per_second", "Rate of one lane of the PCIe link now; 32e9 is generation 5.", "gpu")
	linkMaxSpeed = define(gauge, "gpu_pcie_max_speed_transfers_per_second", "Highest rate of one lane of the PCIe link.", "gpu")
	linkUse      = define(gauge, "gpu_pcie_bandwidth_bytes_per_second", "Carried by the PCIe link now, both ways together.", "gpu")
	linkSent     = define(gauge, "gpu_pcie_sent_bytes_per_second", "Sent by the GPU over PCIe now.", "gpu")
	linkReceived = define(gauge, "gpu_pcie_received_bytes_per_second", "Received by the GPU over PCIe now.", "gpu")
	linkReplays  = define(counter, "gpu_pcie_replays_total", "PCIe packets that had to be sent again.", "gpu")
	linkRollover = define(counter, "gpu_pcie_replay_rollovers_total", "PCIe packets that were sent again several times and led to a new training of the link.", "gpu")
	linkRecover  = define(counter, "gpu_pcie_recoveries_total", "Times the PCIe link had to recover from its working state L0.", "gpu")
	linkNAKSent  = define(counter, "gpu_pcie_naks_sent_total", "Refusals of bad PCIe packets sent by the GPU.", "gpu")
	linkNAKGot   = define(counter, "gpu_pcie_naks_received_total", "Refusals of bad PCIe packets received by the GPU.", "gpu")

	violationTotal = define(counter, "gpu_throttle_violation_seconds_total",
		"Time for which a limit lowered the clocks since the driver was loaded: ppt (power), socket_thermal, ….", "gpu", "kind", "index")
	violationRatio = define(gauge, "gpu_throttle_violation_ratio",
		"Share of the last moments in which a limit lowered the clocks.", "gpu", "kind", "index")
	violationActive = define(gauge, "gpu_throttle_violation_active", "1 if a limit lowers the clocks now, else 0.", "gpu", "kind", "index")
)

func cardMetrics(gpu string, m *smi.Metrics, emit *emitter) {
	gaugeOpt(emit, gpuVRAMUsed, m.VRAM.Used, gpu)
	gaugeOpt(emit, gpuVisible, m.VisibleVRAM.Total, gpu)
	gaugeOpt(emit, gpuVisUsed, m.VisibleVRAM.Used, gpu)
	gaugeOpt(emit, gpuGTTSize, m.GTT.Total, gpu)
	gaugeOpt(emit, gpuGTTUsed, m.GTT.Used, gpu)
	gaugeOpt(emit, gpuActivity, m.Activity.GFX, gpu, "gfx")
	gaugeOpt(emit, gpuActivity, m.Activity.UMC, gpu, "umc")
	gaugeOpt(emit, gpuActivity, m.Activity.MM, gpu, "mm")
	for _, e := range m.Activity.Engines {
		gaugeOpt(emit, gpuEngine, e.Busy, gpu, e.Kind, strconv.Itoa(e.Index))
	}
	for i := range m.Clocks {
		c := &m.Clocks[i]
		index := strconv.Itoa(c.Index)
		gaugeOpt(emit, gpuClock, c.Current, gpu, c.Domain, index)
		gaugeOpt(emit, gpuClockMin, c.Min, gpu, c.Domain, index)
		gaugeOpt(emit, gpuClockMax, c.Max, gpu, c.Domain, index)
		boolOpt(emit, clockLocked, c.Locked, gpu, c.Domain, index)
		boolOpt(emit, clockAsleep, c.DeepSleep, gpu, c.Domain, index)
	}
	for _, t := range m.Temperatures {
		gaugeOpt(emit, gpuTemp, t.Current, gpu, t.Sensor)
		gaugeOpt(emit, gpuTempLimit, t.Limit, gpu, t.Sensor)
		gaugeOpt(emit, gpuTempOff, t.Shutdown, gpu, t.Sensor)
	}
	gaugeOpt(emit, gpuVoltage, m.Voltages.GFX, gpu, "gfx")
	gaugeOpt(emit, gpuVoltage, m.Voltages.SOC, gpu, "soc")
	gaugeOpt(emit, gpuVoltage, m.Voltages.Mem, gpu, "mem")
	for _, f := range m.Fans {
		fan := strconv.Itoa(f.Index)
		gaugeOpt(emit, fanSpeed, f.Speed, gpu, fan)
		gaugeOpt(emit, fanMax, f.Max, gpu, fan)
		gaugeOpt(emit, fanDuty, f.Duty, gpu, fan)
	}
	emit.info(perfLevel, gpu, m.PerfLevel)
}

func cardPower(gpu string, i *smi.Info, m *smi.Metrics, emit *emitter) {
	p := &m.Power
	gaugeOpt(emit, gpuPower, p.Socket, gpu)
	gaugeOpt(emit, gpuPowerAvg, p.Average, gpu)
	gaugeOpt(emit, gpuPowerCap, p.Cap, gpu)
	gaugeOpt(emit, gpuPowerDefault, p.DefaultCap, gpu)
	gaugeOpt(emit, gpuPowerMin, first(p.MinCap, i.Limits.MinPower), gpu)
	gaugeOpt(emit, gpuPowerMax, first(p.MaxCap, i.Limits.MaxPower), gpu)
	boolOpt(emit, gpuManaged, p.Managed, gpu)
	counterOpt(emit, gpuEnergy, m.Energy, gpu)
}

func cardLink(gpu string, p *smi.PCIe, emit *emitter) {
	gaugeOpt(emit, linkWidth, p.Width, gpu)
	gaugeOpt(emit, linkSpeed, p.Speed, gpu)
	gaugeOpt(emit, linkUse, p.Bandwidth, gpu)
	gaugeOpt(emit, linkSent, p.Sent, gpu)
	gaugeOpt(emit, linkReceived, p.Received, gpu)
	counterOpt(emit, linkReplays, p.Replays, gpu)
	counterOpt(emit, linkRollover, p.ReplayRollovers, gpu)
	counterOpt(emit, linkRecover, p.Recoveries, gpu)
	counterOpt(emit, linkNAKSent, p.NAKsSent, gpu)
	counterOpt(emit, linkNAKGot, p.NAKsReceived, gpu)
}

func cardThrottle(gpu string, t *smi.Throttle, emit *emitter) {
	for _, v := range t.Violations {
		index := strconv.Itoa(v.Index)
		secondsOpt(emit, violationTotal, v.Total, gpu, v.Kind, index)
		gaugeOpt(emit, violationRatio, v.Ratio, gpu, v.Kind, index)
		boolOpt(emit, violationActive, v.Active, gpu, v.Kind, index)
	}
}
