package collector

import (
	"cmp"
	"strconv"

	"github.com/rocwire/rocwire/smi"
)

func init() {
	register("session", func(o *Options) collector { return &sessionCollector{o.Sessions} })
}

// quotaLabels are of what a session may have. quota_of says who has it, a token with all its sessions or the session alone, and is never empty: so
// that one expression sums both.
var quotaLabels = []string{"session", "gpu", "quota_of"}

var (
	sessions    = define(gauge, "hip_sessions", "Client processes connected to the worker.")
	sessionInfo = define(gauge, "hip_session_info",
		"Identity of a session: its client, the process on the worker that serves it, and what their connection goes through (tcp, tls, unix, shared-memory).",
		append([]string{"session", "pid", "transport", "client_address"}, clientLabels...)...)
	sessionStart = define(gauge, "hip_session_start_time_seconds", "When the session began, in seconds since 1970.", "session")
	sessionVRAM  = define(gauge, "hip_session_vram_bytes", "GPU memory the session holds, on all GPUs.", "session")
	sessionAway  = define(gauge, "hip_session_parked", "1 while the session's connection is cut and it waits for its client, otherwise 0.", "session")
	sessionIn    = define(counter, "hip_session_received_bytes_total", "Bytes received from the session's client.", "session")
	sessionOut   = define(counter, "hip_session_sent_bytes_total", "Bytes sent to the session's client.", "session")
	sessionCalls = define(counter, "hip_session_calls_total", "Calls of the session that were executed.", "session")

	sessionMemory = define(gauge, "hip_session_memory_limit_bytes",
		"GPU memory the session may have of the GPU, together with all sessions of the same quota_of, so that those count once in a sum; absent without a quota.", quotaLabels...)
	sessionCompute = define(gauge, "hip_session_compute_limit_ratio",
		"Share of the GPU's time the session's kernels may have, together with those of all sessions of the same quota_of, so that those count once in a sum; absent without a quota.", quotaLabels...)

	workerStarted = define(counter, "hip_worker_sessions_total", "Sessions the worker has started.")
	workerRefused = define(counter, "hip_worker_refused_connections_total", "Connections that got no session.")
	workerIn      = define(counter, "hip_worker_received_bytes_total", "Bytes received from clients, ended sessions included.")
	workerOut     = define(counter, "hip_worker_sent_bytes_total", "Bytes sent to clients, ended sessions included.")
	workerCalls   = define(counter, "hip_worker_calls_total", "Calls executed, ended sessions included.")
	workerModules = define(gauge, "hip_worker_modules_kept_bytes", "Code objects that the worker keeps for later sessions of the same user; absent where it keeps none.")
	workerHits    = define(counter, "hip_worker_module_hits_total", "Loads of code objects that the worker had, so that the client did not send them.")
	workerSaved   = define(counter, "hip_worker_module_saved_bytes_total", "Bytes of code objects that clients did not send because the worker had them.")
	workerSpans   = define(counter, "hip_worker_dropped_spans_total", "Spans of traced calls that were left out: there were too many, or a kernel's end was not seen; absent where no calls are traced.")
	workerSlow    = define(counter, "hip_worker_untranslated_code_total", "Times that often executed code of kernels was not translated to machine code for want of memory or of permission; simulated cards are many times as slow then.")
)

// sessionCollector makes the series of a worker's clients.
type sessionCollector struct{ src smi.Sessions }

func (c *sessionCollector) update(_ *View, emit *emitter) error {
	if c.src == nil {
		return nil
	}
	if err := Unknown(c.src); err != nil {
		return err
	}
	list := c.src.Sessions()
	emit.gauge(sessions, float64(len(list)))
	for i := range list {
		session(&list[i], emit)
	}
	if t, ok := c.src.(smi.SessionTotaler); ok {
		n := t.SessionTotals()
		counterOpt(emit, workerStarted, n.Started)
		counterOpt(emit, workerRefused, n.Refused)
		counterOpt(emit, workerIn, n.BytesIn)
		counterOpt(emit, workerOut, n.BytesOut)
		counterOpt(emit, workerCalls, n.Calls)
		gaugeOpt(emit, workerModules, n.ModulesHeld)
		counterOpt(emit, workerHits, n.ModuleHits)
		counterOpt(emit, workerSaved, n.ModulesSaved)
		counterOpt(emit, workerSpans, n.DroppedSpans)
		counterOpt(emit, workerSlow, n.Untranslated)
	}
	return nil
}

func session(s *smi.Session, emit *emitter) {
	pid := ""
	if s.PID != 0 {
		pid = strconv.FormatUint(uint64(s.PID), 10)
	}
	emit.gauge(sessionInfo, 1, append([]string{s.ID, pid, s.Transport, s.Client.Address}, clientValues(&s.Client)...)...)
	if !s.Start.IsZero() {
		emit.gauge(sessionStart, float64(s.Start.UnixNano())/1e9, s.ID)
	}
	gaugeOpt(emit, sessionVRAM, s.VRAM, s.ID)
	parked := 0.0
	if s.Parked {
		parked = 1
	}
	emit.gauge(sessionAway, parked, s.ID)
	counterOpt(emit, sessionIn, s.BytesIn, s.ID)
	counterOpt(emit, sessionOut, s.BytesOut, s.ID)
	counterOpt(emit, sessionCalls, s.Calls, s.ID)
	for _, q := range s.Quotas {
		gpu := strconv.Itoa(q.Device)
		of := cmp.Or(q.Together, "session "+s.ID)
		gaugeOpt(emit, sessionMemory, q.Memory, s.ID, gpu, of)
		gaugeOpt(emit, sessionCompute, q.Compute, s.ID, gpu, of)
	}
}
