package dashboards

import (
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/units"
)

const (
	localTime = "hip_local_call_duration_seconds"
	localOps  = inst + `,op=~"$op"`
)

// ofLocal joins labels of the chosen local processes to what has pid.
func ofLocal(expr string, labels ...string) string {
	return expr + ` * on (job, instance, pid) group_left (` + strings.Join(labels, ", ") + `) hip_local_process_info{` + inst + `,namespace=~"$namespace",pod=~"$pod"}`
}

const localLegend = "{{host}} {{pid}} {{name}} {{pod}}"

// localBy adds up by process.
func localBy(expr string) string {
	return sumOnHost("host, pid, name, pod", ofLocal(`sum by (job, instance, pid) (`+expr+`)`, "name", "pod"))
}

// localLe are buckets of the chosen processes, by le and more labels.
func localLe(by, metric, sel string) string {
	return `sum by (` + by + `) (` + ofLocal(rate(metric+"_bucket", sel)) + `)`
}

func localBoard() board {
	return board{
		uid: localUID, title: "rocwire: local processes", desc: "HIP programs of the machine itself, unmodified, as eBPF sees them: calls, copies, allocations, kernels.",
		vars: []variable{varCluster, varHost, varInstance, varLocalNS, varLocalPod, varLocalOp},
		rows: []row{
			{"Now", localNow()},
			{"Calls", localCallPanels()},
			{"Memory and copies", localMemory()},
			{"Kernels", localKernels()},
			{"Watching", localWatching()},
		},
	}
}

func localNow() []panel {
	return []panel{
		{kind: number, w: 6, title: "Programs seen", desc: "That called HIP while they were watched.", unit: units.Short, none: "nothing is watched (--ebpf)",
			queries: []query{{`count(hip_local_process_info{` + inst + `,namespace=~"$namespace",pod=~"$pod"})`, "programs"}}},
		{kind: number, w: 6, title: "Calls", desc: "HIP calls of these programs, per second.", unit: units.OpsPerSecond, none: "no program",
			queries: []query{{`sum(` + ofLocal(`sum by (job, instance, pid) (`+rate("hip_local_calls_total", localOps)+`)`) + `)`, "calls"}}},
		{kind: number, w: 6, title: "Allocated", desc: "GPU memory that these programs asked for and did not free.", unit: units.BytesIEC, none: "no program",
			queries: []query{{`sum(` + ofLocal(`hip_local_allocated_bytes{`+inst+`}`) + `)`, "allocated"}}},
		{kind: number, w: 6, title: "Kernels", desc: "Kernels that these programs started, per second.", unit: units.OpsPerSecond, none: "no program",
			queries: []query{{`sum(` + ofLocal(rate("hip_local_kernel_launches_total", inst)) + `)`, "kernels"}}},
		{kind: listing, title: "Programs", desc: "Who they are, and what they do.", unit: units.Short, none: "no program", sort: "Allocated",
			queries: []query{
				{sumOnHost("host, pid, name, executable, library, user, namespace, pod", ofLocal(`hip_local_allocated_bytes{`+inst+`}`, "name", "executable", "library", "user", "namespace", "pod")), ""},
				{sumOnHost("host, pid", ofLocal(`sum by (job, instance, pid) (`+rate("hip_local_calls_total", localOps)+`)`)), ""},
				{sumOnHost("host, pid", ofLocal(rate("hip_local_kernel_launches_total", inst))), ""},
				{sumOnHost("host, pid", ofLocal(`sum by (job, instance, pid) (`+rate("hip_local_copied_bytes_total", inst)+`)`)), ""},
			},
			columns: []column{
				hostColumn, {title: "PID", label: "pid"}, {title: "Program", label: "name"}, {title: "Executable", label: "executable"}, {title: "HIP library", label: "library"},
				{title: "User", label: "user"}, {title: "Namespace", label: "namespace"}, {title: "Pod", label: "pod"},
				{title: "Allocated", unit: units.BytesIEC}, {title: "Calls", unit: units.OpsPerSecond}, {title: "Kernels", unit: units.OpsPerSecond}, {title: "Copied", unit: units.BytesPerSecondSI},
			}},
	}
}

func localCallPanels() []panel {
	return []panel{
		{kind: heat, title: "How long calls took", desc: "From entry to return, measured in the kernel.", unit: units.Seconds, none: "no call",
			queries: []query{{localLe("le", localTime, localOps), "{{le}}"}}},
		{title: "p99 by function", desc: "One of a hundred calls takes longer.", unit: units.Seconds, none: "no call", limits: above, steps: slow,
			queries: []query{{`histogram_quantile(0.99, ` + localLe("op, le", localTime, localOps) + `)`, "{{op}}"}}},
		{kind: stack, title: "Calls by function", desc: "Per second.", unit: units.OpsPerSecond, none: "no call", limits: above,
			queries: []query{{`sum by (op) (` + ofLocal(rate("hip_local_calls_total", localOps)) + `)`, "{{op}}"}}},
		{kind: stack, title: "Failing calls", desc: "Per second, by function and result.", unit: units.OpsPerSecond, none: "no call has failed", limits: above, steps: anyOdd,
			queries: []query{{`sum by (op, code) (` + ofLocal(rate("hip_local_calls_total", failed+localOps)) + `)`, "{{op}} {{code}}"}}},
	}
}

func localMemory() []panel {
	return []panel{
		{kind: stack, title: "Allocated by program", desc: "GPU memory asked for and not freed since the program is watched.", unit: units.BytesIEC, none: "no program", limits: above,
			queries: []query{{localBy(`hip_local_allocated_bytes{` + inst + `}`), localLegend}}},
		{kind: stack, title: "Allocations by program", desc: "Of GPU memory, per second.", unit: units.OpsPerSecond, none: "no program", limits: above,
			queries: []query{{localBy(rate("hip_local_allocations_total", inst)), localLegend}}},
		{kind: stack, title: "Other memory by program", desc: "Managed memory and page-locked host memory asked for and not freed.", unit: units.BytesIEC, none: "no program", limits: above, w: 24,
			queries: []query{{localBy(`hip_local_allocated_managed_bytes{` + inst + `}`), localLegend + " managed"}, {localBy(`hip_local_allocated_host_bytes{` + inst + `}`), localLegend + " host"}}},
		{kind: stack, title: "Copied, by kind", desc: "Bytes copied with HIP; default is what HIP finds out from the addresses.", unit: units.BytesPerSecondSI, none: "no copy", limits: above,
			queries: []query{{`sum by (kind) (` + ofLocal(rate("hip_local_copied_bytes_total", inst)) + `)`, "{{kind}}"}}},
		{kind: stack, title: "Copied, by program", desc: "Bytes copied with HIP.", unit: units.BytesPerSecondSI, none: "no copy", limits: above,
			queries: []query{{localBy(rate("hip_local_copied_bytes_total", inst)), localLegend}}},
	}
}

func localKernels() []panel {
	const grid, block = "hip_local_kernel_grid_threads", "hip_local_kernel_block_threads"
	return []panel{
		{kind: stack, title: "Kernels by program", desc: "Started, per second.", unit: units.OpsPerSecond, none: "no program", limits: above, w: 8,
			queries: []query{{localBy(rate("hip_local_kernel_launches_total", inst)), localLegend}}},
		{kind: heat, title: "Grids", desc: "How many kernels had how many threads. Small grids leave compute units without work.", unit: units.Short, none: "no kernel", w: 8,
			queries: []query{{localLe("le", grid, inst), "{{le}}"}}},
		{kind: heat, title: "Blocks", desc: "How many kernels had how many threads in a block. Blocks that are no multiple of a wave's 64 threads leave lanes idle.", unit: units.Short, none: "no kernel", w: 8,
			queries: []query{{localLe("le", block, inst), "{{le}}"}}},
	}
}

func localWatching() []panel {
	return []panel{
		{title: "Libraries watched", desc: "HIP library files whose functions are watched on each host.", unit: units.Short, none: "nothing is watched (--ebpf)", limits: above,
			queries: []query{{sumOnHost("host", `hip_local_libraries{`+inst+`}`), "{{host}}"}}},
		{title: "Not counted", desc: "What could not be counted in each step, by reason.", unit: units.Short, none: "nothing is watched (--ebpf)", limits: above, steps: anyOdd,
			queries: []query{{sumOnHost("host, reason", over("hip_local_dropped_total", inst, "increase", "$__rate_interval")), "{{host}} {{reason}}"}}},
	}
}
