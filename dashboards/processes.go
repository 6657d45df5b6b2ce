package dashboards

import "github.com/grafana/grafana-foundation-sdk/go/units"

const clientLegend = "{{client_user}}@{{client_host}} {{client_executable}} {{client_pid}}"

// clientOf are the labels that tell a remote program.
const clientOf = "client_host, client_user, client_executable, client_pid"

func processBoard() board {
	return board{
		uid: processUID, title: "rocwire: processes and remote clients", desc: "Who uses the GPUs: processes, the remote programs behind them, their pods, what they hold and how busy they keep the GPUs.",
		vars:   []variable{varCluster, varHost, varInstance, varGPU, varNamespace, varPod},
		events: []event{sessionsStarted},
		rows: []row{
			{"Now", processNow()},
			{"Processes", processList()},
			{"By remote client", processClients()},
			{"By pod", processPods()},
			{"Sessions", processSessions()},
		},
	}
}

func processNow() []panel {
	return []panel{
		{kind: number, title: "Processes", desc: "That hold memory or queues on the chosen GPUs.", unit: units.Short, none: "no process",
			queries: []query{{`count(` + owners() + `)`, "processes"}}},
		{kind: number, title: "Remote clients", desc: "Sessions behind the chosen processes.", unit: units.Short, none: "no client",
			queries: []query{{`count(count by (job, instance, session) (` + owners() + ` and gpu_process_info{session!=""}))`, "clients"}}},
		{kind: number, title: "Device memory", desc: "Held by the chosen processes.", unit: units.BytesIEC, none: "no process",
			queries: []query{{`sum(` + ofOwner(`gpu_process_vram_bytes{`+card+`}`) + `)`, "held"}}},
		{kind: number, title: "GPU time", desc: "GPU seconds per second in which their kernels ran; 1 is one GPU kept busy.", unit: units.PercentUnit, none: "not told",
			queries: []query{{`sum(` + ofOwner(rate("gpu_process_busy_seconds_total", card)) + `)`, "busy"}}},
		{kind: number, title: "Copy time", desc: "The same for copies by the GPUs' copy engines.", unit: units.PercentUnit, none: "not told",
			queries: []query{{`sum(` + ofOwner(rate("gpu_process_sdma_seconds_total", card)) + `)`, "copying"}}},
		{kind: number, title: "Not shown", desc: "Processes left out in the time shown because there were too many on one GPU (--max-processes).", unit: units.Short, none: "no GPU", steps: anyOdd,
			queries: []query{{`sum(` + grown("gpu_process_dropped_total", card) + `)`, "not shown"}}},
	}
}

func processList() []panel {
	row := "host, gpu, pid, name, namespace, pod, " + clientOf
	of := func(expr string) string {
		return sumOnHost(row, whose(expr, "name", "client_host", "client_user", "client_executable", "client_pid"))
	}
	return []panel{
		{kind: listing, title: "Processes", desc: "What each process holds, with the remote program it serves. The pod is that program's, or the process's own.", unit: units.Short, none: "no process", sort: "Memory", h: 11,
			queries: []query{
				{of(`sum without (name, origin, session, client_host, client_pid, client_executable, client_user, client_container, client_pod, client_namespace, client_job) (gpu_process_vram_bytes{` + card + `})`), ""},
				{of(rate("gpu_process_busy_seconds_total", card)), ""},
				{of(`gpu_process_compute_units{` + card + `}`), ""},
			},
			columns: []column{
				hostColumn, gpuColumn, {title: "PID", label: "pid"}, {title: "Program", label: "name"}, {title: "Namespace", label: "namespace"}, {title: "Pod", label: "pod"},
				{title: "Client host", label: "client_host"}, {title: "User", label: "client_user"}, {title: "Client program", label: "client_executable"}, {title: "Client PID", label: "client_pid"},
				{title: "Memory", unit: units.BytesIEC}, {title: "Busy", unit: units.PercentUnit}, {title: "Compute units", unit: units.Short},
			}},
	}
}

func processClients() []panel {
	by := func(expr string) string {
		return `sum by (` + clientOf + `) (` + ofOwner(expr, "client_host", "client_user", "client_executable", "client_pid") + `)`
	}
	vram := `sum by (job, instance, gpu, pid) (gpu_process_vram_bytes{` + card + `})`
	lent := `sum by (job, instance, gpu, pid) ({__name__=~"gpu_process_gtt_bytes|gpu_process_host_memory_bytes",` + card + `})`
	return []panel{
		{kind: stack, title: "Device memory by client", desc: "Held for each remote program, on all chosen GPUs. Programs of the machine itself have no client.", unit: units.BytesIEC, none: "no process", limits: above,
			queries: []query{{by(vram), clientLegend}}},
		{kind: stack, title: "GPU time by client", desc: "GPU seconds per second used for each remote program.", unit: units.PercentUnit, none: "not told", limits: above,
			queries: []query{{by(rate("gpu_process_busy_seconds_total", card)), clientLegend}}},
		{kind: stack, title: "Copy time by client", desc: "Time of the GPUs' copy engines, per second.", unit: units.PercentUnit, none: "not told", limits: above,
			queries: []query{{by(rate("gpu_process_sdma_seconds_total", card)), clientLegend}}},
		{kind: stack, title: "Compute units by client", desc: "Compute units occupied for each remote program now.", unit: units.Short, none: "not told", limits: above,
			queries: []query{{by(`gpu_process_compute_units{` + card + `}`), clientLegend}}},
		{title: "Evicted", desc: "Share of time for which queues had to leave a GPU, for want of memory or queues.", unit: units.PercentUnit, none: "not told", limits: above, steps: held,
			queries: []query{{by(rate("gpu_process_evicted_seconds_total", card)), clientLegend}}},
		{kind: stack, title: "Host memory by client", desc: "Memory of the host that the GPUs reach for each remote program: lent to them (GTT), or its own.", unit: units.BytesIEC, none: "not told", limits: above,
			queries: []query{{by(lent), clientLegend}}},
	}
}

func processPods() []panel {
	by := func(expr string) string { return `sum by (namespace, pod) (` + whose(expr) + `)` }
	return []panel{
		{kind: stack, title: "Device memory by pod", desc: "Of the remote client's pod if there is one, otherwise of the process's own.", unit: units.BytesIEC, none: "no process", limits: above,
			queries: []query{{by(`sum by (job, instance, gpu, pid) (gpu_process_vram_bytes{` + card + `})`), "{{namespace}}/{{pod}}"}}},
		{kind: stack, title: "GPU time by pod", desc: "GPU seconds per second used for each pod.", unit: units.PercentUnit, none: "not told", limits: above,
			queries: []query{{by(rate("gpu_process_busy_seconds_total", card)), "{{namespace}}/{{pod}}"}}},
	}
}

// sessionsOf joins the host and who the client is to what a worker tells by session.
func sessionsOf(expr string) string {
	return onHost(`(` + expr + ` * on (job, instance, session) group_left (client_host, client_user, client_executable, client_pid) hip_session_info{` + inst + `})`)
}

func processSessions() []panel {
	row := "host, session, " + clientOf
	return []panel{
		{kind: listing, title: "Sessions", desc: "Remote programs connected to workers, whatever GPU they use.", unit: units.Short, none: "no session", sort: "Memory",
			queries: []query{
				{`sum by (` + row + `) (` + sessionsOf(`(time() - hip_session_start_time_seconds{`+inst+`})`) + `)`, ""},
				{`sum by (` + row + `) (` + sessionsOf(`hip_session_vram_bytes{`+inst+`}`) + `)`, ""},
				{`sum by (` + row + `) (` + sessionsOf(rate("hip_session_calls_total", inst)) + `)`, ""},
				{`sum by (` + row + `) (` + sessionsOf(rate("hip_session_received_bytes_total", inst)) + `)`, ""},
				{`sum by (` + row + `) (` + sessionsOf(rate("hip_session_sent_bytes_total", inst)) + `)`, ""},
			},
			columns: []column{
				hostColumn, {title: "Session", label: "session"}, {title: "Client host", label: "client_host"}, {title: "User", label: "client_user"},
				{title: "Client program", label: "client_executable"}, {title: "Client PID", label: "client_pid"},
				{title: "Age", unit: units.Seconds}, {title: "Memory", unit: units.BytesIEC}, {title: "Calls", unit: units.OpsPerSecond},
				{title: "Received", unit: units.BytesPerSecondSI}, {title: "Sent", unit: units.BytesPerSecondSI},
			}},
		{kind: stack, title: "Calls by session", desc: "HIP calls executed for each remote program, per second.", unit: units.OpsPerSecond, none: "no session", limits: above,
			queries: []query{{sessionsOf(rate("hip_session_calls_total", inst)), "{{session}} " + clientLegend}}},
		{kind: stack, title: "Traffic by session", desc: "Bytes received from and sent to each remote program.", unit: units.BytesPerSecondSI, none: "no session", limits: above,
			queries: []query{{sessionsOf(rate("hip_session_received_bytes_total", inst)), "{{session}} " + clientLegend + " received"},
				{sessionsOf(rate("hip_session_sent_bytes_total", inst)), "{{session}} " + clientLegend + " sent"}}},
	}
}
