package rows

// Schema is one of the tables this package fills.
type Schema struct {
	Name    string
	About   string
	Columns []Column
	Help    []string // what each column holds
}

// Tables are all schemas, in the order in which batches have them.
var Tables = []*Schema{gpuUsage, workerUsage, nodeMetrics, processUsage, rpcLatency}

// column is what a schema is written with.
type column struct {
	name string
	typ  Type // 0: a tag
	help string
}

func schema(name, about string, columns ...column) *Schema {
	s := &Schema{Name: name, About: about}
	for _, c := range columns {
		s.Columns = append(s.Columns, Column{Name: c.name, Type: max(c.typ, String), Tag: c.typ == 0})
		s.Help = append(s.Help, c.help)
	}
	return s
}

const tag Type = 0

var gpuUsage = schema("tf_gpu_usage", "One row for each card that told its figures lately, as TensorFusion's hypervisor writes them.",
	column{"uuid", tag, "name of the card, as TensorFusion has it"},
	column{"node", tag, "host of the card"},
	column{"pool", tag, "pool of the host"},
	column{"rx", Float, "bytes per second the card receives over PCIe"},
	column{"tx", Float, "bytes per second the card sends over PCIe"},
	column{"temperature", Float, "°C at the edge, or at the hot spot of a card that has no sensor there"},
	column{"memory_bytes", Int, "memory of the card in use"},
	column{"memory_percentage", Float, "the same in percent of its memory"},
	column{"compute_percentage", Float, "percent of the last moments in which compute and graphics were busy"},
	column{"compute_tflops", Float, "that share of the card's peak of dense 16-bit floats"},
	column{"power_usage", Float, "watts"},
	column{"graphics_clock_mhz", Float, "MHz of compute and graphics"},
	column{"sm_clock_mhz", Float, "the same: compute units have that clock"},
	column{"memory_clock_mhz", Float, "MHz of the memory"},
	column{"video_clock_mhz", Float, "MHz of the video engines"},
	column{"nvlink_rx", Float, "bytes per second the card reads over its XGMI links, between the last two times they were asked (30 s)"},
	column{"nvlink_tx", Float, "bytes per second the card writes over its XGMI links"},
)

var workerUsage = schema("tf_worker_usage", "One row for each card and worker: a client's session, or a pod of this host with processes on the card.",
	column{"uuid", tag, "name of the card"},
	column{"node", tag, "host of the card"},
	column{"pool", tag, "pool of the host"},
	column{"pod_name", tag, "pod of the session's client, or the pod"},
	column{"namespace", tag, "its namespace"},
	column{"workload", tag, "always null: only TensorFusion's operator knows it"},
	column{"worker", tag, "host and id of the session, such as node-1/12, or UID of the pod"},
	column{"memory_bytes", Int, "memory of the card the worker holds"},
	column{"compute_percentage", Float, "percent of the interval in which its kernels ran; where that is not counted, percent of the compute units it occupies"},
	column{"compute_tflops", Float, "that share of the card's peak of dense 16-bit floats"},
	column{"memory_percentage", Float, "memory_bytes in percent of what the worker may have: its session's quota, else the card's memory"},
	column{"compute_throttled_cnt", Int, "always null: TensorFusion's limiter counts it"},
	column{"vram_freezed_cnt", Int, "always null"},
	column{"vram_resumed_cnt", Int, "always null"},
)

var nodeMetrics = schema("tf_node_metrics", "One row for the host.",
	column{"node", tag, "the host"},
	column{"pool", tag, "its pool"},
	column{"phase", tag, "Running, or Unknown while the cards cannot be asked"},
	column{"allocated_tflops", Float, "share of the cards' peak that sessions' quotas of time are; null if no session has one"},
	column{"allocated_tflops_percent", Float, "the same in percent of the cards' peak"},
	column{"allocated_tflops_percent_virtual", Float, "always null: only TensorFusion's operator oversubscribes"},
	column{"allocated_vram_bytes", Float, "memory that processes hold on all cards, and what sessions may still take of their quotas"},
	column{"allocated_vram_percent", Float, "the same in percent of all cards' memory"},
	column{"allocated_vram_percent_virtual", Float, "always null"},
	column{"gpu_count", Int, "cards of the host"},
	column{"raw_cost", Float, "always null: prices are the operator's"},
)

var processUsage = schema("gpu_process_usage", "One row for each card and process that holds memory or queues there.",
	column{"cluster", tag, "of the host"},
	column{"node", tag, "host of the card"},
	column{"pool", tag, "pool of the host"},
	column{"gpu", tag, "index of the card on its host"},
	column{"uuid", tag, "name of the card"},
	column{"pid", tag, "process on the host"},
	column{"name", tag, "its executable's name"},
	column{"username", tag, "its user"},
	column{"pod", tag, "its pod"},
	column{"namespace", tag, "its pod's namespace"},
	column{"session", tag, "session that it serves; null for a local program"},
	column{"client_host", tag, "machine of the session's client, as the client says"},
	column{"client_user", tag, "user there"},
	column{"client_pod", tag, "pod there"},
	column{"client_namespace", tag, "its namespace"},
	column{"remote", Bool, "it works for a client on another machine"},
	column{"client_pid", Int, "process there"},
	column{"client_executable", String, "program there"},
	column{"client_address", String, "other end of its connection, as the worker sees it"},
	column{"client_job", String, "job of a batch system that its token was issued for"},
	column{"container", String, "container of the process"},
	column{"container_id", String, "its id"},
	column{"pod_uid", String, "UID of its pod"},
	column{"origin", String, "where the figures come from: session, sim, amd-smi, kfd or fdinfo"},
	column{"vram_bytes", Int, "memory of the card the process holds"},
	column{"gtt_bytes", Int, "host memory lent to the card that it holds"},
	column{"host_memory_bytes", Int, "other host memory of it that the card can reach"},
	column{"compute_units", Int, "compute units it occupies now"},
	column{"busy_ratio", Float, "share of the interval in which its kernels ran, 0 to 1"},
	column{"busy_seconds", Float, "for how long of the interval they ran"},
	column{"copy_seconds", Float, "for how long of the interval its copies ran"},
	column{"evicted_seconds", Float, "for how long of the interval its queues had to leave the card"},
	column{"interval_seconds", Float, "the interval: the time since the reading before"},
)

var rpcLatency = schema("hip_rpc_latency",
	"How long calls took: for each function, side and result that was called in the interval one row with the number and the sum, and one for each bucket with calls.",
	column{"cluster", tag, "of the host"},
	column{"node", tag, "host of the worker"},
	column{"pool", tag, "pool of the host"},
	column{"op", tag, "function, \"hipMalloc\""},
	column{"side", tag, "client (issue to return), worker (arrival to reply), and parts: queue, execution, network"},
	column{"code", tag, "result, \"hipSuccess\""},
	column{"bucket", tag, "number of the bucket, \"zero\", or \"sum\" for the row of the sum"},
	column{"le", Float, "seconds that no call of the bucket exceeds; null in the row of the sum"},
	column{"count", Uint, "calls in this bucket alone; null in the row of the sum"},
	column{"calls", Uint, "calls in all buckets; null but in the row of the sum"},
	column{"seconds", Float, "sum of how long they took; null but in the row of the sum"},
	column{"interval_seconds", Float, "the time in which these calls ended"},
)
