package smiremote

import (
	"os"
	"time"

	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/wire"
)

// ServerInfo is what a worker tells about itself.
type ServerInfo struct {
	Version string       `json:"version" msgpack:"v"`
	Backend string       `json:"backend" msgpack:"b"`                    // what drives the cards: "sim", "amdsmi", "sysfs"
	Host    string       `json:"host,omitempty" msgpack:"h,omitempty"`   // name of its machine
	PID     uint32       `json:"pid,omitempty" msgpack:"p,omitempty"`    // there
	Start   time.Time    `json:"start,omitzero" msgpack:"t,omitempty"`   // by its clock; zero: it is too old to tell
	Uptime  smi.Duration `json:"uptime_seconds" msgpack:"u,omitempty"`   // when it answered
	Set     bool         `json:"settings_allowed" msgpack:"s,omitempty"` // to whom asked
	Kill    bool         `json:"kill_allowed" msgpack:"k,omitempty"`     // to whom asked
	Faults  bool         `json:"faults" msgpack:"f,omitempty"`           // the cards can be told to fail: they are simulated
	Quotas  bool         `json:"quotas_allowed" msgpack:"q,omitempty"`   // to whom asked
}

// Operator reports whether a client may do what concerns others: it is on this
// machine and, where the kernel says whose it is, of this process's user or root. It is
// the default of HandlerOptions.AllowKill.
func Operator(peer wire.Peer) bool {
	if c := peer.Credentials; c != nil {
		return c.UID == 0 || int(c.UID) == os.Geteuid()
	}
	return peer.Local()
}

func (c *conn) server() *ServerInfo {
	o := &c.h.opt
	i := &ServerInfo{
		Version: o.Version, Backend: o.Backend, PID: uint32(os.Getpid()), Start: c.h.start.UTC(), Uptime: smi.Duration(time.Since(c.h.start)),
		Set: o.AllowSet, Kill: o.Kill != nil && o.AllowKill(c.peer), Faults: smi.InjectorOf(o.Source) != nil,
		Quotas: o.AllowSet && smi.LimiterOf(o.Source) != nil,
	}
	i.Host, _ = os.Hostname() // empty if it cannot be found out
	return i
}

// kill ends a session. The id was checked to be short.
func (c *conn) kill(id string) error {
	o := &c.h.opt
	switch {
	case o.Kill == nil:
		return smi.Errorf(smi.ErrNotSupported, "there are no sessions here")
	case !o.AllowKill(c.peer):
		return smi.Errorf(smi.ErrNoPermission, "sessions are ended for clients on the worker's own machine only, through a Unix socket for its user and root")
	case id == "":
		return smi.Errorf(smi.ErrInvalid, "which session?")
	}
	return o.Kill(id, c.peer.String())
}
