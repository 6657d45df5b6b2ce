package dashboards

import "github.com/grafana/grafana-foundation-sdk/go/units"

// toProcesses leads from a GPU to who uses it.
var toProcesses = link{processUID, map[string]string{"host": "host", "gpu": "gpu"}}

func gpuBoard() board {
	return board{
		uid: gpuUID, title: "rocwire: one GPU", desc: "Everything one GPU measures: engines, memory, power, temperatures, clocks, links, limits and errors.",
		vars:   []variable{varCluster, varSingleHost, varInstance, varSingleGPU},
		events: []event{eccEvent, throttleEvent},
		rows: []row{
			{"Identity", gpuIdentity()},
			{"Use", gpuUse()},
			{"Power, heat and clocks", gpuPower()},
			{"Limits and errors", gpuErrors()},
			{"Links", gpuLinks()},
			{"Firmware and figures", gpuFigures()},
		},
	}
}

func gpuIdentity() []panel {
	return []panel{
		{kind: number, title: "Up", desc: "Whether the GPU tells its figures now.", unit: units.Short, none: "unknown GPU", values: upDn, steps: mustBeUp,
			queries: []query{{onHost(`gpu_up{` + card + `}`), gpuLegend}}},
		{kind: number, title: "Busy", desc: "Share of time in which kernels ran.", unit: units.PercentUnit, none: "not told", limits: share,
			queries: []query{{onHost(busiest), gpuLegend}}},
		{kind: number, title: "Memory in use", desc: "Share of the device memory.", unit: units.PercentUnit, none: "not told", limits: share, steps: fullness,
			queries: []query{{onHost(fill4), gpuLegend}}},
		{kind: number, title: "Power", desc: "Drawn by the socket now.", unit: units.Watt, none: "not told",
			queries: []query{{onHost(`gpu_power_watts{` + card + `}`), gpuLegend}}},
		{kind: number, title: "Hottest sensor", desc: "The highest of its temperatures.", unit: units.Celsius, none: "not told", steps: heatness,
			queries: []query{{onHost(hottest), gpuLegend}}},
		{kind: number, title: "Uncorrectable errors", desc: "Since the driver was loaded.", unit: units.Short, none: "not counted", steps: anyBad,
			queries: []query{{onHost(`gpu_ecc_errors_total{severity="uncorrectable",` + card + `}`), gpuLegend}}},
		{kind: listing, title: "Identity", desc: "What the GPU is, and how it is divided.", unit: units.Short, none: "unknown GPU", h: 5,
			queries: []query{{`sum by (host, gpu, name, uuid, bdf, target, serial, vram_type, driver_version, compute, memory) (` +
				onHost(`gpu_info{`+card+`} * on (job, instance, gpu) group_left (compute, memory) gpu_partition_info`) + `)`, ""}},
			columns: []column{hostColumn, {title: "GPU", label: "gpu"}, {title: "Model", label: "name"}, {title: "UUID", label: "uuid"}, {title: "PCI address", label: "bdf"},
				{title: "Target", label: "target"}, {title: "Serial", label: "serial"}, {title: "Memory", label: "vram_type"}, {title: "Driver", label: "driver_version"},
				{title: "Partitions", label: "compute"}, {title: "Memory partitions", label: "memory"}, {}}},
	}
}

func gpuUse() []panel {
	return []panel{
		{title: "Engines", desc: "Share of time in which each kind of engine was busy: gfx is compute and graphics, umc the memory controller, mm video.", unit: units.PercentUnit, none: "not told", limits: share,
			queries: []query{{onHost(`gpu_activity_ratio{` + card + `}`), "{{engine}}"}}},
		{title: "Single engines", desc: "The same for each die and each video engine.", unit: units.PercentUnit, none: "not told", limits: share,
			queries: []query{{onHost(`gpu_engine_activity_ratio{` + card + `}`), "{{engine}} {{index}}"}}},
		{title: "Memory", desc: "Device memory in use and there, and host memory lent to the GPU (GTT).", unit: units.BytesIEC, none: "not told", limits: above, link: toProcesses,
			queries: []query{{onHost(`gpu_vram_used_bytes{` + card + `}`), "device memory in use"}, {onHost(`gpu_vram_size_bytes{` + card + `}`), "device memory"},
				{onHost(`gpu_gtt_used_bytes{` + card + `}`), "host memory lent"}}},
		{kind: stack, title: "Memory by process", desc: "Device memory each process holds.", unit: units.BytesIEC, none: "no process", limits: above, link: toProcesses,
			queries: []query{{sumOnHost("host, gpu, pid, name, client_host, client_user", `gpu_process_vram_bytes{`+card+`}`), "{{pid}} {{name}} {{client_user}}@{{client_host}}"}}},
	}
}

func gpuPower() []panel {
	return []panel{
		{title: "Power", desc: "Drawn by the socket, its running average, and the limit in force.", unit: units.Watt, none: "not told", limits: above,
			queries: []query{{onHost(`gpu_power_watts{` + card + `}`), "now"}, {onHost(`gpu_power_average_watts{` + card + `}`), "average"}, {onHost(`gpu_power_cap_watts{` + card + `}`), "limit"}}},
		{title: "Temperatures", desc: "At each sensor. Limits are where clocks are lowered.", unit: units.Celsius, none: "not told", steps: heatness,
			queries: []query{{onHost(`gpu_temperature_celsius{` + card + `}`), "{{sensor}}"}, {onHost(`gpu_temperature_limit_celsius{` + card + `}`), "{{sensor}} limit"}}},
		{title: "Clocks", desc: "Mean of each clock domain.", unit: units.Hertz, none: "not told", limits: above,
			queries: []query{{`avg by (domain) (` + onHost(`gpu_clock_hertz{`+card+`}`) + `)`, "{{domain}}"}, {`max by (domain) (` + onHost(`gpu_clock_max_hertz{domain="gfx",`+card+`}`) + `)`, "{{domain}} highest"}}},
		{title: "Voltages", desc: "Of each rail.", unit: units.Volt, none: "the GPU tells no voltage", limits: above,
			queries: []query{{onHost(`gpu_voltage_volts{` + card + `}`), "{{rail}}"}}},
		{title: "Fans", desc: "Share of its highest speed each fan is driven at.", unit: units.PercentUnit, none: "the GPU has no fan", limits: share,
			queries: []query{{onHost(`gpu_fan_duty_ratio{` + card + `}`), "fan {{fan}}"}}},
		{title: "Energy", desc: "Power as the energy counter has it: what was really used in each step.", unit: units.Watt, none: "not counted", limits: above,
			queries: []query{{onHost(rate("gpu_energy_joules_total", card)), "used"}}},
	}
}

func gpuErrors() []panel {
	return []panel{
		{title: "Clocks lowered", desc: "Share of time in which each limit lowered the clocks: ppt is power, socket_thermal and hbm_thermal are heat.", unit: units.PercentUnit, none: "not told", limits: share, steps: held,
			queries: []query{{onHost(rate("gpu_throttle_violation_seconds_total", card)), "{{kind}} {{index}}"}}},
		{kind: states, title: "Limits in force", desc: "When each limit lowered the clocks.", unit: units.Short, none: "not told", values: onOff, steps: anyOdd,
			queries: []query{{onHost(`gpu_throttle_violation_active{` + card + `}`), "{{kind}} {{index}}"}}},
		{title: "New ECC errors by block", desc: "Found in each step, by the part of the GPU that had them.", unit: units.Short, none: "not counted", limits: above, steps: anyOdd,
			queries: []query{{onHost(over("gpu_ecc_block_errors_total", card, "increase", "$__rate_interval")), "{{block}} {{severity}}"}}},
		{title: "Bad pages", desc: "Memory taken out of use, and how much the GPU allows.", unit: units.Short, none: "not told", limits: above, steps: anyOdd,
			queries: []query{{onHost(`gpu_bad_pages{` + card + `}`), "{{state}}"}, {onHost(`gpu_ecc_bad_page_limit{` + card + `}`), "limit"}}},
		{title: "Events", desc: "What the driver reported, in each step.", unit: units.Short, none: "the driver reports no events", limits: above,
			queries: []query{{onHost(over("gpu_events_total", card, "increase", "$__rate_interval")), "{{kind}}"}}},
		{title: "PCIe errors", desc: "Packets sent again, refused or recovered from, per second.", unit: units.CountsPerSecond, none: "not counted", limits: above,
			queries: []query{{onHost(rate("gpu_pcie_replays_total", card)), "sent again"}, {onHost(rate("gpu_pcie_recoveries_total", card)), "recoveries"},
				{onHost(rate("gpu_pcie_naks_received_total", card)), "refusals received"}, {onHost(rate("gpu_pcie_naks_sent_total", card)), "refusals sent"}}},
	}
}

func gpuLinks() []panel {
	return []panel{
		{title: "PCIe traffic", desc: "Carried by the link now.", unit: units.BytesPerSecondSI, none: "not told", limits: above,
			queries: []query{{onHost(`gpu_pcie_received_bytes_per_second{` + card + `}`), "to the GPU"}, {onHost(`gpu_pcie_sent_bytes_per_second{` + card + `}`), "from the GPU"}}},
		{title: "PCIe width", desc: "Lanes in use, and those the link could use. Fewer after an error mean a link that trained down.", unit: units.Short, none: "not told", limits: above,
			queries: []query{{onHost(`gpu_pcie_width_lanes{` + card + `}`), "lanes"}, {onHost(`gpu_pcie_max_width_lanes{` + card + `}`), "most lanes"}}},
		{title: "XGMI traffic", desc: "Read and written by the GPU over each link.", unit: units.BytesPerSecondSI, none: "the GPU has no XGMI link", limits: above,
			queries: []query{{onHost(rate("gpu_xgmi_link_read_bytes_total", card)), "link {{link}} read"}, {onHost(rate("gpu_xgmi_link_written_bytes_total", card)), "link {{link}} written"}}},
		{kind: states, title: "XGMI links", desc: "Whether each link works.", unit: units.Short, none: "the GPU has no XGMI link", values: upDn, steps: mustBeUp,
			queries: []query{{onHost(`gpu_xgmi_link_up{` + card + `}`), "link {{link}} to GPU {{peer_gpu}}"}}},
	}
}

func gpuFigures() []panel {
	return []panel{
		{kind: listing, title: "Firmware", desc: "What runs on the GPU's own processors.", unit: units.Short, none: "not told",
			queries: []query{{sumOnHost("host, gpu, firmware, version", `gpu_firmware_info{`+card+`}`), ""}},
			columns: []column{hostColumn, {title: "GPU", label: "gpu"}, {title: "Firmware", label: "firmware"}, {title: "Version", label: "version"}, {}}},
		{title: "Age of figures", desc: "Time since the GPU last told them. A GPU that answers too late is shown with its last figures, then with none.", unit: units.Seconds, none: "unknown GPU", limits: above, steps: aging,
			queries: []query{{onHost(`gpu_snapshot_age_seconds{` + card + `}`), "reading"}, {onHost(`gpu_metrics_stale_seconds{` + card + `}`), "sensors, overdue"},
				{onHost(`gpu_ecc_stale_seconds{` + card + `}`), "errors, overdue"}, {onHost(`gpu_processes_stale_seconds{` + card + `}`), "processes, overdue"}}},
		{title: "Time of a reading", desc: "How long the GPU took to tell its figures.", unit: units.Seconds, none: "unknown GPU", limits: above, steps: aging,
			queries: []query{{onHost(`gpu_snapshot_duration_seconds{` + card + `}`), "all"}, {onHost(`gpu_detail_duration_seconds{` + card + `}`), "{{detail}}"}}},
	}
}
