package session

import (
	"io"
	"log/slog"
	"net"
	"time"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipv1"
)

// Memory is the account of what the client may have kept here, in bytes.
type Memory interface {
	Take(n uint64) bool
	Give(n uint64)
}

// Config is what a session needs.
type Config struct {
	Conn    net.Conn
	Runtime hip.Runtime
	Placer  hip.Placer // nil: the runtime places memory itself

	// Cards answers a question about cards with a code and what is behind it in the reply.
	Cards func(op hipv1.Op, payload []byte) (code int32, rest []byte)

	Memory Memory                      // nil: no limit
	Cost   func(hip.HandleKind) uint64 // of an object; nil: nothing
	// Costs of what is no handle.
	ModuleCost, GraphCost, PlaceCost uint64

	// Room is called before what may be queued, and may wait until there is room. May be nil.
	Room func()
	// Began and Ended are told of each call. May be nil.
	Began func(op hipv1.Op)
	Ended func(op hipv1.Op, code hip.Error, took time.Duration)

	Stall time.Duration // for which a client may not read a reply; 0: DefaultStall
	Log   *slog.Logger  // nil: none
}

// DefaultStall is how long a client may leave a reply unread.
const DefaultStall = 30 * time.Second

type unlimited struct{}

func (unlimited) Take(uint64) bool { return true }
func (unlimited) Give(uint64)      {}

func (c *Config) defaults() {
	if c.Memory == nil {
		c.Memory = unlimited{}
	}
	if c.Cost == nil {
		c.Cost = func(hip.HandleKind) uint64 { return 0 }
	}
	if c.Room == nil {
		c.Room = func() {}
	}
	if c.Began == nil {
		c.Began = func(hipv1.Op) {}
	}
	if c.Ended == nil {
		c.Ended = func(hipv1.Op, hip.Error, time.Duration) {}
	}
	if c.Stall == 0 {
		c.Stall = DefaultStall
	}
	if c.Log == nil {
		c.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
}
