package dashboards

import "github.com/grafana/grafana-foundation-sdk/go/units"

// byPool adds up what has job and instance by cluster and pool.
func byPool(by, expr string) string {
	if by != "" {
		by = ", " + by
	}
	return `sum by (cluster, pool` + by + `) (` + inPool(expr) + `)`
}

func inPool(expr string) string {
	return expr + ` * on (job, instance) group_left (cluster, pool, host) gpu_host_info{` + inst + `}`
}

func poolBoard() board {
	return board{
		uid: poolUID, title: "rocwire: TensorFusion pools", desc: "Each pool's GPUs: how many, how busy, how much memory is free, who shares them.",
		vars:   []variable{varCluster, varPool, varPoolInst},
		events: []event{sessionsStarted},
		rows: []row{
			{"Pools", poolList()},
			{"Room", poolRoom()},
			{"Shares", poolShares()},
			{"Hosts", poolHosts()},
		},
	}
}

const (
	poolLegend = "{{cluster}}/{{pool}}"
	// taken and free are each GPU's memory; one that does not tell what is used has neither.
	taken = `gpu_vram_used_bytes{` + inst + `}`
	free  = `(gpu_vram_size_bytes{` + inst + `} - on (job, instance, gpu) gpu_vram_used_bytes{` + inst + `})`
	idle  = `gpu_activity_ratio{engine="gfx",` + inst + `}`
)

func poolList() []panel {
	return []panel{
		{kind: listing, title: "Pools", desc: "One line per pool, that with the least free memory last.", unit: units.Short, none: "no exporter tells its pool (--pool)", sort: "Free memory",
			queries: []query{
				{`count by (cluster, pool) (count by (cluster, pool, host) (gpu_host_info{` + inst + `}))`, ""},
				{`count by (cluster, pool) (` + inPool(`gpu_up{`+inst+`}`) + `)`, ""},
				{byPool("", `gpu_up{`+inst+`}`), ""},
				{`avg by (cluster, pool) (` + inPool(idle) + `)`, ""},
				{byPool("", `gpu_vram_size_bytes{`+inst+`}`), ""},
				{byPool("", free), ""},
				{byPool("", `hip_sessions{`+inst+`}`), ""},
				{byPool("", `gpu_power_watts{`+inst+`}`), ""},
			},
			columns: []column{
				{title: "Cluster", label: "cluster"}, {title: "Pool", label: "pool", link: link{poolUID, map[string]string{"pool": "Pool"}}},
				{title: "Hosts", unit: units.Short}, {title: "GPUs", unit: units.Short}, {title: "Up", unit: units.Short}, {title: "Busy", unit: units.PercentUnit},
				{title: "Memory", unit: units.BytesIEC}, {title: "Free memory", unit: units.BytesIEC}, {title: "Sessions", unit: units.Short}, {title: "Power", unit: units.Watt},
			}},
	}
}

func poolRoom() []panel {
	return []panel{
		{title: "Busy", desc: "Mean share of time in which kernels ran on the pool's GPUs.", unit: units.PercentUnit, none: "no pool", limits: share,
			queries: []query{{`avg by (cluster, pool) (` + inPool(idle) + `)`, poolLegend}}},
		{title: "Free memory", desc: "Device memory of each pool that nobody uses.", unit: units.BytesIEC, none: "no pool", limits: above,
			queries: []query{{byPool("", free), poolLegend}}},
		{title: "Memory in use", desc: "Share of the device memory of each pool.", unit: units.PercentUnit, none: "no pool", limits: share, steps: fullness,
			queries: []query{{byPool("", taken) + ` / ` + byPool("", `(gpu_vram_size_bytes{`+inst+`} and on (job, instance, gpu) gpu_vram_used_bytes)`), poolLegend}}},
		{title: "Roomiest GPU", desc: "Most memory free on one GPU of the pool: the largest program that still fits.", unit: units.BytesIEC, none: "no pool", limits: above,
			queries: []query{{`max by (cluster, pool) (` + inPool(free) + `)`, poolLegend}}},
		{kind: stack, title: "Sessions", desc: "Remote programs that use each pool.", unit: units.Short, none: "no pool", limits: above,
			queries: []query{{byPool("", `hip_sessions{`+inst+`}`), poolLegend}}},
		{kind: stack, title: "GPUs in use", desc: "GPUs of each pool on which a process is.", unit: units.Short, none: "no pool", limits: above,
			queries: []query{{byPool("", `(gpu_processes{`+inst+`} > bool 0)`), poolLegend}}},
	}
}

func poolShares() []panel {
	who := clientFirst(`gpu_process_info{` + inst + `}`)
	of := func(expr string) string {
		return byPool("namespace, pod", expr+` * on (job, instance, gpu, pid) group_left (namespace, pod) `+who)
	}
	const legend = poolLegend + " {{namespace}}/{{pod}}"
	vram, busy := of(`sum by (job, instance, gpu, pid) (gpu_process_vram_bytes{`+inst+`})`), of(rate("gpu_process_busy_seconds_total", inst))
	gpus := `count by (cluster, pool) (` + inPool(`gpu_up{`+inst+`}`) + `)`
	return []panel{
		{kind: stack, title: "Memory by pod", desc: "Device memory of the pool that each pod holds: the remote client's pod, or the process's own.", unit: units.BytesIEC, none: "no process", limits: above, link: link{processUID, map[string]string{"namespace": "namespace", "pod": "pod"}},
			queries: []query{{vram, legend}}},
		{kind: stack, title: "GPU time by pod", desc: "GPU seconds per second that each pod uses.", unit: units.PercentUnit, none: "not told", limits: above, link: link{processUID, map[string]string{"namespace": "namespace", "pod": "pod"}},
			queries: []query{{busy, legend}}},
		{kind: stack, title: "Share of the pool's memory", desc: "What each pod holds of all device memory of the pool.", unit: units.PercentUnit, none: "no process", limits: share,
			queries: []query{{vram + ` / on (cluster, pool) group_left () ` + byPool("", `gpu_vram_size_bytes{`+inst+`}`), legend}}},
		{kind: stack, title: "Share of the pool's time", desc: "What each pod uses of the time of all GPUs of the pool.", unit: units.PercentUnit, none: "not told", limits: share,
			queries: []query{{busy + ` / on (cluster, pool) group_left () ` + gpus, legend}}},
	}
}

func poolHosts() []panel {
	return []panel{
		{kind: listing, title: "Hosts", desc: "One line per host of the chosen pools.", unit: units.Short, none: "no host", sort: "Free memory",
			queries: []query{
				{`count by (cluster, pool, host) (` + inPool(`gpu_up{`+inst+`}`) + `)`, ""},
				{`avg by (cluster, pool, host) (` + inPool(idle) + `)`, ""},
				{byPool("host", free), ""},
				{byPool("host", `hip_sessions{`+inst+`}`), ""},
			},
			columns: []column{
				{title: "Cluster", label: "cluster"}, {title: "Pool", label: "pool"}, {title: "Host", label: "host", link: link{fleetUID, map[string]string{"host": "Host"}}},
				{title: "GPUs", unit: units.Short}, {title: "Busy", unit: units.PercentUnit}, {title: "Free memory", unit: units.BytesIEC}, {title: "Sessions", unit: units.Short},
			}},
	}
}
