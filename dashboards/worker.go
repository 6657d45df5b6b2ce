package dashboards

import "github.com/grafana/grafana-foundation-sdk/go/units"

func workerBoard() board {
	return board{
		uid: workerUID, title: "rocwire: worker health", desc: "Whether workers and exporters do their work: sessions, refusals, traffic, collectors, deliveries to sinks, and the scrapes themselves.",
		vars:   []variable{varCluster, varHost, varInstance},
		events: []event{sessionsStarted},
		rows: []row{
			{"Now", workerNow()},
			{"Clients", workerClients()},
			{"Exporter", workerExporter()},
			{"Deliveries", workerSinks()},
			{"Scrapes", workerScrapes()},
		},
	}
}

func workerNow() []panel {
	return []panel{
		{kind: number, title: "Targets down", desc: "Exporters that Prometheus does not reach.", unit: units.Short, none: "no exporter", steps: anyBad,
			queries: []query{{`sum(1 - up{` + inst + `})`, "down"}}},
		{kind: number, title: "Sources down", desc: "Exporters that cannot ask their GPUs, or their remote worker.", unit: units.Short, none: "no exporter", steps: anyBad,
			queries: []query{{`sum(1 - gpu_exporter_source_up{` + inst + `})`, "down"}}},
		{kind: number, title: "Sessions", desc: "Remote programs connected now.", unit: units.Short, none: "no worker",
			queries: []query{{`sum(hip_sessions{` + inst + `})`, "sessions"}}},
		{kind: number, title: "Refused", desc: "Connections that got no session in the time shown.", unit: units.Short, none: "no worker", steps: anyOdd,
			queries: []query{{`sum(` + grown("hip_worker_refused_connections_total", inst) + `)`, "refused"}}},
		{kind: number, title: "Waiting for sinks", desc: "Data in the queues of all sinks.", unit: units.BytesIEC, none: "no sink",
			queries: []query{{`sum(gpu_exporter_sink_queue_bytes{` + inst + `})`, "waiting"}}},
		{kind: number, title: "Dropped", desc: "Records that sinks never got, in the time shown.", unit: units.Short, none: "no sink", steps: anyBad,
			queries: []query{{`sum(` + grown("gpu_exporter_sink_dropped_records_total", inst) + `)`, "dropped"}}},
		{kind: listing, title: "Exporters", desc: "What runs where.", unit: units.Short, none: "no exporter", h: 6,
			queries: []query{{sumOnHost("host, instance, version, goversion", `gpu_exporter_build_info{`+inst+`}`), ""}, {sumOnHost("host, instance", `gpu_exporter_source_up{`+inst+`}`), ""},
				{sumOnHost("host, instance", `hip_sessions{`+inst+`}`), ""}},
			columns: []column{{title: "Host", label: "host", link: link{fleetUID, map[string]string{"host": "Host"}}}, {title: "Instance", label: "instance"}, {title: "Version", label: "version"}, {title: "Go", label: "goversion"},
				{}, {title: "Source up", unit: units.Short, steps: mustBeUp}, {title: "Sessions", unit: units.Short}}},
	}
}

func workerClients() []panel {
	return []panel{
		{kind: stack, title: "Sessions", desc: "Remote programs connected to each worker.", unit: units.Short, none: "no worker", limits: above, link: link{processUID, map[string]string{"host": "host"}},
			queries: []query{{sumOnHost("host", `hip_sessions{`+inst+`}`), "{{host}}"}}},
		{title: "Sessions started and refused", desc: "Connections in each step: those that became a session, and those that got none.", unit: units.Short, none: "no worker", limits: above,
			queries: []query{{sumOnHost("host", over("hip_worker_sessions_total", inst, "increase", "$__rate_interval")), "{{host}} started"},
				{sumOnHost("host", over("hip_worker_refused_connections_total", inst, "increase", "$__rate_interval")), "{{host}} refused"}}},
		{title: "Traffic", desc: "Bytes from and to remote programs.", unit: units.BytesPerSecondSI, none: "no worker", limits: above,
			queries: []query{{sumOnHost("host", rate("hip_worker_received_bytes_total", inst)), "{{host}} received"}, {sumOnHost("host", rate("hip_worker_sent_bytes_total", inst)), "{{host}} sent"}}},
		{title: "Calls", desc: "HIP calls executed, per second.", unit: units.OpsPerSecond, none: "no worker", limits: above, link: link{latencyUID, map[string]string{"host": "host"}},
			queries: []query{{sumOnHost("host", rate("hip_worker_calls_total", inst)), "{{host}}"}}},
	}
}

func workerExporter() []panel {
	return []panel{
		{kind: states, title: "Collectors", desc: "Whether each part of the exporter knew all it wanted to know.", unit: units.Short, none: "no exporter", values: okBad, steps: mustBeUp,
			queries: []query{{onHost(`gpu_exporter_collector_success{` + inst + `}`), "{{host}} {{collector}}"}}},
		{title: "Time of collectors", desc: "What each part of the exporter takes of a scrape. Scrapes answer from memory.", unit: units.Seconds, none: "no exporter", limits: above, steps: []step{{0.1, orange}, {1, red}},
			queries: []query{{onHost(`gpu_exporter_collector_duration_seconds{` + inst + `}`), "{{host}} {{collector}}"}}},
		{title: "Oldest figures", desc: "Age of the figures of the GPU that has told its own longest ago.", unit: units.Seconds, none: "no GPU", limits: above, steps: aging,
			queries: []query{{`max by (host) (` + onHost(`gpu_snapshot_age_seconds{`+inst+`}`) + `)`, "{{host}}"}}},
		{title: "Series left out", desc: "In each step: more than --max-series of one metric, or the same one twice; and processes beyond --max-processes.", unit: units.Short, none: "no exporter", limits: above, steps: anyOdd,
			queries: []query{{sumOnHost("host, collector", over("gpu_exporter_dropped_series_total", inst, "increase", "$__rate_interval")), "{{host}} {{collector}}"},
				{sumOnHost("host", over("gpu_process_dropped_total", inst, "increase", "$__rate_interval")), "{{host}} processes"}}},
	}
}

func workerSinks() []panel {
	const legend = "{{host}} {{sink}}"
	return []panel{
		{kind: states, title: "Sinks", desc: "Whether the last delivery to each sink succeeded.", unit: units.Short, none: "no sink", values: upDn, steps: mustBeUp,
			queries: []query{{onHost(`gpu_exporter_sink_up{` + inst + `}`), legend}}},
		{title: "Queues", desc: "Data that waits on disk for each sink.", unit: units.BytesIEC, none: "no sink", limits: above,
			queries: []query{{onHost(`gpu_exporter_sink_queue_bytes{` + inst + `}`), legend}}},
		{title: "Oldest record", desc: "How long the oldest record has been waiting. What is older than the queue's limit is dropped.", unit: units.Seconds, none: "no sink", limits: above, steps: []step{{60, orange}, {3600, red}},
			queries: []query{{onHost(`gpu_exporter_sink_queue_oldest_seconds{` + inst + `}`), legend}}},
		{title: "Sent", desc: "Data that sinks took.", unit: units.BytesPerSecondSI, none: "no sink", limits: above,
			queries: []query{{onHost(rate("gpu_exporter_sink_sent_bytes_total", inst)), legend}}},
		{title: "Records", desc: "Records waiting for each sink. Those in memory only are lost when the exporter ends: it has no --queue-dir, or the disk takes no more.", unit: units.Short, none: "no sink", limits: above,
			queries: []query{{onHost(`gpu_exporter_sink_queue_records{` + inst + `}`), legend}, {onHost(`gpu_exporter_sink_queue_memory_records{` + inst + `}`), legend + " in memory only"}}},
		{title: "Failures and drops", desc: "In each step: deliveries that failed and are tried again, and records that sinks never got.", unit: units.Short, none: "no sink", limits: above, steps: anyOdd,
			queries: []query{{onHost(over("gpu_exporter_sink_failures_total", inst, "increase", "$__rate_interval")), legend + " failed"},
				{onHost(over("gpu_exporter_sink_dropped_records_total", inst, "increase", "$__rate_interval")), legend + " dropped: {{reason}}"}}},
	}
}

func workerScrapes() []panel {
	const legend = "{{job}} {{instance}}"
	return []panel{
		{kind: states, title: "Targets", desc: "Whether Prometheus reached each exporter.", unit: units.Short, none: "no exporter", values: upDn, steps: mustBeUp, w: 8,
			queries: []query{{`up{` + inst + `}`, legend}}},
		{title: "Time of scrapes", desc: "As Prometheus measured it.", unit: units.Seconds, none: "no exporter", limits: above, steps: []step{{1, orange}, {5, red}}, w: 8,
			queries: []query{{`scrape_duration_seconds{` + inst + `}`, legend}}},
		{title: "Samples", desc: "In each scrape: what an exporter costs Prometheus.", unit: units.Short, none: "no exporter", limits: above, w: 8,
			queries: []query{{`scrape_samples_scraped{` + inst + `}`, legend}}},
		{title: "Processor time", desc: "Used by the exporter, or the worker it is in.", unit: units.PercentUnit, none: "the exporter does not tell", limits: above,
			queries: []query{{onHost(rate("process_cpu_seconds_total", inst)), "{{host}} {{job}}"}}},
		{title: "Memory", desc: "Resident memory of the exporter, or the worker it is in; sessions have processes of their own.", unit: units.BytesIEC, none: "the exporter does not tell", limits: above,
			queries: []query{{onHost(`process_resident_memory_bytes{` + inst + `}`), "{{host}} {{job}}"}}},
	}
}
