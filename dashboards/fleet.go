package dashboards

import "github.com/grafana/grafana-foundation-sdk/go/units"

// rowOfGPU are the columns that tell a GPU, and where they lead.
var (
	hostColumn = column{title: "Host", label: "host", link: link{workerUID, map[string]string{"host": "Host"}}}
	gpuColumn  = column{title: "GPU", label: "gpu", link: toGPURow}
	toGPURow   = link{gpuUID, map[string]string{"host": "Host", "gpu": "GPU"}}
	toGPU      = link{gpuUID, map[string]string{"host": "host", "gpu": "gpu"}}
	toWorker   = link{workerUID, map[string]string{"host": "host"}}
)

const gpuLegend = "{{host}} GPU {{gpu}}"

// hottest is each GPU's highest temperature, and busiest how busy its kernels keep it.
var (
	hottest = `max by (job, instance, gpu) (gpu_temperature_celsius{` + card + `})`
	busiest = `gpu_activity_ratio{engine="gfx",` + card + `}`
	fill4   = `(gpu_vram_used_bytes{` + card + `} / on (job, instance, gpu) gpu_vram_size_bytes{` + card + `})`
)

func fleetBoard() board {
	return board{
		uid: fleetUID, title: "rocwire: fleet", desc: "All GPUs of all hosts at a glance: which are up, how busy, how full, how hot, and what is wrong.",
		vars:   []variable{varCluster, varHost, varInstance, varGPU},
		events: []event{sessionsStarted, eccEvent, throttleEvent},
		rows: []row{
			{"Now", fleetNow()},
			{"GPUs", fleetGPUs()},
			{"Errors and limits", fleetErrors()},
			{"Work", fleetWork()},
		},
	}
}

func fleetNow() []panel {
	return []panel{
		{kind: number, w: 3, title: "Hosts", desc: "Exporters that tell where their GPUs are.", unit: units.Short, none: "no exporter",
			queries: []query{{`count(gpu_host_info{` + inst + `})`, "hosts"}}},
		{kind: number, w: 3, title: "GPUs", desc: "GPUs known to the exporters.", unit: units.Short, none: "no GPU",
			queries: []query{{`count(gpu_up{` + card + `})`, "GPUs"}}},
		{kind: number, w: 3, title: "GPUs down", desc: "GPUs that do not tell their figures now.", unit: units.Short, none: "no GPU", steps: anyBad,
			queries: []query{{`sum(1 - gpu_up{` + card + `})`, "GPUs down"}}},
		{kind: number, w: 3, title: "Busy", desc: "Mean share of time in which kernels ran.", unit: units.PercentUnit, none: "not told", limits: share,
			queries: []query{{`avg(` + busiest + `)`, "busy"}}},
		{kind: number, w: 3, title: "Device memory in use", desc: "Of GPUs that tell how much they use.", unit: units.PercentUnit, none: "not told", limits: share, steps: fullness,
			queries: []query{{`sum(gpu_vram_used_bytes{` + card + `}) / sum(gpu_vram_size_bytes{` + card + `} and on (job, instance, gpu) gpu_vram_used_bytes)`, "in use"}}},
		{kind: number, w: 3, title: "Power", desc: "Drawn by all GPUs together.", unit: units.Watt, none: "not told",
			queries: []query{{`sum(gpu_power_watts{` + card + `})`, "power"}}},
		{kind: number, w: 3, title: "Sessions", desc: "Remote programs connected to workers.", unit: units.Short, none: "no worker",
			queries: []query{{`sum(hip_sessions{` + inst + `})`, "sessions"}}},
		{kind: number, w: 3, title: "Calls", desc: "HIP calls that workers executed, per second.", unit: units.OpsPerSecond, none: "no worker",
			queries: []query{{`sum(` + rate("hip_worker_calls_total", inst) + `)`, "calls"}}},
	}
}

func fleetGPUs() []panel {
	return []panel{
		{kind: listing, title: "All GPUs", desc: "One line per GPU, the busiest first. Click a GPU to see all of it.", unit: units.Short, none: "no GPU", sort: "Busy", h: 10,
			queries: []query{
				{sumOnHost("host, gpu, name", `gpu_up{`+card+`} * on (job, instance, gpu) group_left (name) gpu_info{`+card+`}`), ""},
				{sumOnHost("host, gpu", busiest), ""},
				{sumOnHost("host, gpu", `gpu_vram_used_bytes{`+card+`}`), ""},
				{sumOnHost("host, gpu", fill4), ""},
				{sumOnHost("host, gpu", `gpu_power_watts{`+card+`}`), ""},
				{sumOnHost("host, gpu", hottest), ""},
				{sumOnHost("host, gpu", `gpu_processes{`+card+`}`), ""},
			},
			columns: []column{
				hostColumn, gpuColumn, {title: "Model", label: "name"},
				{title: "Up", unit: units.Short, steps: mustBeUp},
				{title: "Busy", unit: units.PercentUnit},
				{title: "Memory in use", unit: units.BytesIEC},
				{title: "Full", unit: units.PercentUnit, steps: fullness},
				{title: "Power", unit: units.Watt},
				{title: "Hottest", unit: units.Celsius, steps: heatness},
				{title: "Processes", unit: units.Short},
			}},
		{title: "Busy", desc: "Share of time in which kernels ran.", unit: units.PercentUnit, none: "no GPU tells how busy it is", limits: share, link: toGPU,
			queries: []query{{onHost(busiest), gpuLegend}}},
		{title: "Device memory", desc: "Share of each GPU's memory in use.", unit: units.PercentUnit, none: "no GPU tells its memory", limits: share, steps: fullness, link: toGPU,
			queries: []query{{onHost(fill4), gpuLegend}}},
		{title: "Hottest sensor", desc: "The highest temperature of each GPU.", unit: units.Celsius, none: "no GPU tells a temperature", steps: heatness, link: toGPU,
			queries: []query{{onHost(hottest), gpuLegend}}},
		{kind: stack, title: "Power by host", desc: "Drawn by the GPUs of each host.", unit: units.Watt, none: "no GPU tells its power", limits: above, link: toWorker,
			queries: []query{{sumOnHost("host", `gpu_power_watts{`+card+`}`), "{{host}}"}}},
		{kind: states, title: "Up and down", desc: "When each GPU told its figures, and when not.", unit: units.Short, none: "no GPU", values: upDn, steps: mustBeUp, link: toGPU, w: 24, h: 7,
			queries: []query{{onHost(`gpu_up{` + card + `}`), gpuLegend}}},
	}
}

func fleetErrors() []panel {
	return []panel{
		{title: "New ECC errors", desc: "Memory and data errors found in each step. Uncorrectable ones lose data.", unit: units.Short, none: "no GPU counts errors", limits: above, steps: anyOdd, link: toGPU,
			queries: []query{{onHost(over("gpu_ecc_errors_total", card, "increase", "$__rate_interval")), gpuLegend + " {{severity}}"}}},
		{title: "Clocks lowered", desc: "Share of time in which the strictest limit lowered each GPU's clocks.", unit: units.PercentUnit, none: "no GPU tells its limits", limits: share, steps: held, link: toGPU,
			queries: []query{{onHost(`max by (job, instance, gpu) (` + rate("gpu_throttle_violation_seconds_total", card) + `)`), gpuLegend}}},
		{title: "Events", desc: "What drivers reported, in each step: resets, faults of kernels, lost GPUs, processes coming and going.", unit: units.Short, none: "drivers report no events", limits: above,
			queries: []query{{sumOnHost("host, kind", over("gpu_events_total", card, "increase", "$__rate_interval")), "{{host}} {{kind}}"}}},
		{kind: bars, title: "Energy", desc: "Used by the GPUs of each host in the time shown.", unit: units.Joule, none: "no GPU counts energy", limits: above,
			queries: []query{{sumOnHost("host", grown("gpu_energy_joules_total", card)), "{{host}}"}}},
	}
}

func fleetWork() []panel {
	return []panel{
		{kind: stack, title: "Sessions by host", desc: "Remote programs connected to each worker.", unit: units.Short, none: "no worker", limits: above, link: toWorker,
			queries: []query{{sumOnHost("host", `hip_sessions{`+inst+`}`), "{{host}}"}}},
		{kind: stack, title: "Calls by host", desc: "HIP calls that each worker executed, per second.", unit: units.OpsPerSecond, none: "no worker", limits: above, link: toWorker,
			queries: []query{{sumOnHost("host", rate("hip_worker_calls_total", inst)), "{{host}}"}}},
	}
}
