package smi

import "time"

// Process is the use one process makes of one card. A process that uses two
// cards has two rows.
type Process struct {
	Device int    `json:"device" msgpack:"i,omitempty"` // index of the card
	PID    uint32 `json:"pid" msgpack:"p"`              // on the machine that holds the card
	Name   string `json:"name,omitempty" msgpack:"n,omitempty"`

	VRAM       Opt[Bytes] `json:"vram_bytes" msgpack:"v,omitempty"`
	GTT        Opt[Bytes] `json:"gtt_bytes" msgpack:"g,omitempty"`
	HostMemory Opt[Bytes] `json:"host_memory_bytes" msgpack:"h,omitempty"` // host memory the card can reach, outside GTT

	// Running totals since the process began to use the card; they never fall.
	Busy    Opt[Duration] `json:"busy_seconds" msgpack:"b,omitempty"`    // its kernels were running
	SDMA    Opt[Duration] `json:"sdma_seconds" msgpack:"d,omitempty"`    // its copies were running
	Evicted Opt[Duration] `json:"evicted_seconds" msgpack:"e,omitempty"` // its queues had to leave the card

	// Time its work kept single kinds of engine busy, as the graphics driver counts it;
	// work that HIP sends is not in it.
	GFXTime    Opt[Duration] `json:"gfx_engine_seconds" msgpack:"gt,omitempty"`
	EncodeTime Opt[Duration] `json:"encode_engine_seconds" msgpack:"et,omitempty"`

	CUOccupancy Opt[int] `json:"cu_occupancy" msgpack:"c,omitempty"` // compute units it occupies now

	Command   string     `json:"command,omitempty" msgpack:"x,omitempty"` // its command line
	User      string     `json:"user,omitempty" msgpack:"u,omitempty"`
	Container *Container `json:"container" msgpack:"k,omitempty"` // that it runs in; nil outside of one, or when that is unknown
	// InnerPID is its number inside of its container.
	InnerPID uint32 `json:"container_pid,omitempty" msgpack:"q,omitempty"`

	Origin  string  `json:"origin,omitempty" msgpack:"o,omitempty"`  // where the figures come from: one of the Origin… constants
	Session string  `json:"session,omitempty" msgpack:"s,omitempty"` // the worker session this process serves
	Client  *Client `json:"client" msgpack:"r,omitempty"`            // who that session belongs to; nil for a local program
}

// Where a process's figures come from.
const (
	OriginSession = "session" // counted by the worker's session itself
	OriginSim     = "sim"     // the simulated card
	OriginAMDSMI  = "amd-smi" // AMD's management library
	OriginKFD     = "kfd"     // /sys/class/kfd/kfd/proc
	OriginFDInfo  = "fdinfo"  // /proc/PID/fdinfo
)

// Container is what a process runs in. Its identity follows from the process's
// cgroup; the names were told by the kubelet.
type Container struct {
	ID        string `json:"id,omitempty" msgpack:"i,omitempty"` // 64 hexadecimal digits
	Name      string `json:"name,omitempty" msgpack:"n,omitempty"`
	PodUID    string `json:"pod_uid,omitempty" msgpack:"u,omitempty"`
	Pod       string `json:"pod,omitempty" msgpack:"p,omitempty"`
	Namespace string `json:"namespace,omitempty" msgpack:"s,omitempty"`
}

// Client is a program on another machine that uses a card through a worker, as it
// named itself when it connected. Only Address was seen by the worker itself; a
// client that is not authenticated may claim anything in the other fields.
type Client struct {
	Address    string `json:"address,omitempty" msgpack:"a,omitempty"` // the connection's other end
	Host       string `json:"host,omitempty" msgpack:"h,omitempty"`
	PID        uint32 `json:"pid,omitempty" msgpack:"p,omitempty"`
	Executable string `json:"executable,omitempty" msgpack:"x,omitempty"`
	User       string `json:"user,omitempty" msgpack:"u,omitempty"`
	Container  string `json:"container,omitempty" msgpack:"c,omitempty"`
	Pod        string `json:"pod,omitempty" msgpack:"o,omitempty"`
	Namespace  string `json:"namespace,omitempty" msgpack:"n,omitempty"`
	Job        string `json:"job,omitempty" msgpack:"j,omitempty"` // of a batch system; only whoever gave it its token says so
}

// Session is one client process at a worker.
type Session struct {
	ID      string     `json:"id" msgpack:"i"`
	PID     uint32     `json:"pid,omitempty" msgpack:"p,omitempty"` // the process on the worker's machine that serves it
	Client  Client     `json:"client" msgpack:"r"`
	Start   time.Time  `json:"start" msgpack:"t"`
	Devices []int      `json:"devices" msgpack:"d,omitempty"` // indices of the cards it may use
	VRAM    Opt[Bytes] `json:"vram_bytes" msgpack:"v,omitempty"`

	// Running totals since Start.
	BytesIn  Opt[Bytes]  `json:"bytes_in" msgpack:"bi,omitempty"`  // from the client
	BytesOut Opt[Bytes]  `json:"bytes_out" msgpack:"bo,omitempty"` // to the client
	Calls    Opt[uint64] `json:"calls" msgpack:"c,omitempty"`      // requests executed

	Quotas []SessionQuota `json:"quotas,omitempty" msgpack:"q,omitempty"` // of the cards where it has one

	Transport string `json:"transport,omitempty" msgpack:"w,omitempty"` // what its client's connection goes through, a Transport…; empty: not known
	Parked    bool   `json:"parked,omitempty" msgpack:"pk,omitempty"`   // its client's connection is cut, and it waits for the client
}

// What a session's connection goes through.
const (
	TransportTCP    = "tcp"
	TransportTLS    = "tls"
	TransportUnix   = "unix"
	TransportShared = "shared-memory"
)

// SessionTotals are a worker's running totals since it started, the sessions that
// have ended included.
type SessionTotals struct {
	Started  Opt[uint64] `json:"started" msgpack:"s,omitempty"` // sessions that began
	Refused  Opt[uint64] `json:"refused" msgpack:"f,omitempty"` // connections that got no session
	BytesIn  Opt[Bytes]  `json:"bytes_in" msgpack:"i,omitempty"`
	BytesOut Opt[Bytes]  `json:"bytes_out" msgpack:"o,omitempty"`
	Calls    Opt[uint64] `json:"calls" msgpack:"c,omitempty"`

	// Code objects that the worker keeps for later sessions; not available: it keeps none.
	ModulesHeld  Opt[Bytes]  `json:"modules_held" msgpack:"mb,omitempty"`
	ModuleHits   Opt[uint64] `json:"module_hits" msgpack:"mh,omitempty"`   // loads that needed no bytes
	ModulesSaved Opt[Bytes]  `json:"modules_saved" msgpack:"ms,omitempty"` // bytes that were not sent for that

	DroppedSpans Opt[uint64] `json:"dropped_spans" msgpack:"ds,omitempty"` // of traced calls that were left out: too many, or kernels whose end nobody saw; not available: none are traced

	// How often code of kernels that a simulated card executes much was not translated to machine code, because there was no memory for it or the
	// system grants none that can be executed: kernels are many times as slow then.
	Untranslated Opt[uint64] `json:"untranslated" msgpack:"ut,omitempty"`
}

// Sessions lists a worker's clients. It must answer from memory, at once.
type Sessions interface {
	Sessions() []Session
}

// SessionTotaler is a Sessions that keeps totals as well.
type SessionTotaler interface {
	SessionTotals() SessionTotals
}
