package smiremote

import (
	"os"
	"time"

	"github.com/rocwire/rocwire/smi"
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
	Tokens  bool         `json:"tokens_allowed" msgpack:"to,omitempty"`  // to issue them, to whom asked
}

func (c *conn) server() *ServerInfo {
	o := &c.h.opt
	i := &ServerInfo{
		Version: o.Version, Backend: o.Backend, PID: uint32(os.Getpid()), Start: c.h.start.UTC(), Uptime: smi.Duration(time.Since(c.h.start)),
		Set: o.AllowSet && c.who.Set, Kill: o.Kill != nil && c.who.Kill, Faults: c.who.Inject && smi.InjectorOf(o.Source) != nil,
		Quotas: o.AllowSet && c.who.Set && smi.LimiterOf(o.Source) != nil,
	}
	i.Tokens = c.mayIssue() == nil
	i.Host, _ = os.Hostname() // empty if it cannot be found out
	return i
}
