package worker

import (
	"errors"
	"log/slog"
	"os"
	"time"

	"github.com/rocwire/rocwire/calls/rpctrace"
	"github.com/rocwire/rocwire/internal/loglimit"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/wire"
	"github.com/rocwire/rocwire/worker/access"
	"github.com/rocwire/rocwire/worker/admission"
	"github.com/rocwire/rocwire/worker/audit"
	"github.com/rocwire/rocwire/worker/confine"
)

// Defaults of a Config.
const (
	DefaultPort         = 18515
	DefaultMaxSessions  = 256
	DefaultWarm         = 1
	DefaultHelloTimeout = 10 * time.Second
	DefaultStartTimeout = wire.DefaultConnectTimeout - 5*time.Second
	DefaultGrace        = 5 * time.Second
	DefaultStall        = 60 * time.Second
)

// Errors of a Config that cannot be served.
var (
	// ErrPortInUse: another program listens there already.
	ErrPortInUse = errors.New("port in use")
)

// Backend is where the GPUs of a worker come from, seen from the parent.
type Backend struct {
	Name    string     // "sim" or "rocm"
	Source  smi.Source // management data of the cards, nil if there is none
	Devices []int      // indices of the cards that sessions use
	Args    []string   // further arguments for a session process, which say how to open the runtime
	// Seat makes what one session process has of the backend's, before it is started; nil if it needs nothing.
	Seat func() (Seat, error)
	// SourceName is what Source reads, for people: "sim", "amdsmi", "sysfs"; empty is Name.
	SourceName string
	// NoSource says why Source is nil.
	NoSource string
	// Local is the number in this process's namespace of a process that Source tells of, false if it has none; nil: Source tells it.
	Local func(*smi.Process) (pid uint32, ok bool)
	// Usage is the memory that a session process holds now of some cards, of all if none is named, in bytes; nil if that is not known.
	Usage func(pid int, cards ...int) (bytes uint64, ok bool)
	// Free is the memory of a card that nobody holds, in bytes; nil if that is not known.
	Free func(card int) uint64
	// Capacity is the memory of each card in bytes, by index, where that is this machine's own memory; nil where it is not.
	Capacity []uint64
	// Own is how much of this machine's memory a session process takes for itself, beside what its client has it take, in bytes at most.
	Own uint64
	// Needs is what a session process needs of the machine beyond Files.
	Needs confine.Needs
}

// Seat is what a session process has of its backend's, and what the backend keeps for it.
type Seat interface {
	Files() []*os.File // that it inherits, as descriptors FirstFile and up
	Started(pid int)   // is told once it is started
	Close()            // takes back what it held: it is gone, or was not started
	// Limit is how many bytes of a card's memory it gets from now on, whatever it asks for; what it holds it keeps.
	Limit(card int, bytes uint64)
}

// Config says how to serve.
type Config struct {
	Listen   string // address to listen on; empty means 127.0.0.1, or none if there is a Socket
	Port     int    // 0: a free one
	Insecure bool   // allow addresses beyond loopback although nobody is authenticated
	Socket   Socket // for clients on this machine
	TLS      TLS    // of the network address, which then takes nothing else
	NoShare  bool   // do not share memory with clients on this machine
	AllowV1  bool   // serve clients of the earlier protocol (hipv1) on other machines, too, which can neither say who they are nor protect what they send
	// Access says whom the server believes. Insecure, Open and Log are filled in.
	Access access.Config
	// Audit records who was let in and what was changed; nil: nothing does.
	Audit *audit.Log

	Backend Backend
	// Command starts a session process: program and first arguments. Backend.Args follow.
	Command []string

	// Confine is the boundary that the operating system draws around session processes.
	Confine confine.Options

	// HostMemory is how many bytes of this machine's memory a session may take (package hostmem); 0 follows from its quota and the machine.
	HostMemory uint64
	// Quota is what a session may have of each card, unless SetQuota says otherwise. What is not set is not limited.
	Quota smi.Quota
	// Most is what a session may have of each card at most, whatever Quota, its client's identity or SetQuota says.
	Most smi.Quota

	// ModuleCache is how many bytes of code objects are kept for later sessions of the same user; 0: DefaultModuleCache, negative: none.
	ModuleCache int64

	MaxSessions  int           // at once; more are refused
	Warm         int           // session processes kept ready
	HelloTimeout time.Duration // until a new connection has said who it is
	// StartTimeout is how long a client waits for its session process, the wait for its turn included. By default it is less than what clients wait for,
	// so that they hear what is wrong rather than nothing.
	StartTimeout time.Duration
	Grace        time.Duration // for session processes to end by themselves when the worker stops
	Stall        time.Duration // without a report after which a session process is killed
	Park         time.Duration // for a session to wait for its client when their connection was cut; 0: it ends with it

	// Limits of clients, by where they come from and who they are. Limits.Sessions is MaxSessions.
	Limits admission.Limits

	// AllowSet lets clients that have the right to change the cards and set quotas. With Insecure, where nobody is asked who he is, that is everybody,
	// and everybody may end sessions.
	AllowSet bool

	// Spans takes the spans of traced calls, a few at a time. It is called on goroutines of the sessions and must not block; client is what
	// the session's client says of itself. Nil: no calls are traced.
	Spans func(client smi.Client, session string, spans []rpctrace.Span)

	Version string
	Log     *slog.Logger // clients and session processes decide how much there is to log: it is limited (internal/loglimit)
}

func (b *Backend) sourceName() string {
	switch {
	case b.Source == nil:
		return "none"
	case b.SourceName != "":
		return b.SourceName
	}
	return b.Name
}

func (c *Config) defaults() {
	if c.Listen == "" && c.Socket.Path == "" {
		c.Listen = "127.0.0.1"
	}
	if c.MaxSessions == 0 {
		c.MaxSessions = DefaultMaxSessions
	}
	c.Limits.Sessions = c.MaxSessions
	if c.Warm == 0 {
		c.Warm = DefaultWarm
	}
	if c.HelloTimeout == 0 {
		c.HelloTimeout = DefaultHelloTimeout
	}
	if c.StartTimeout == 0 {
		c.StartTimeout = DefaultStartTimeout
	}
	if c.Grace == 0 {
		c.Grace = DefaultGrace
	}
	if c.Stall == 0 {
		c.Stall = DefaultStall
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	c.Log = loglimit.Logger(c.Log)
}
