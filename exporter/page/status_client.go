package page

import (
	"strconv"
	"time"

	"github.com/rocwire/rocwire/smi"
)

// Client is the program on another machine that a session belongs to. Only Address
// was seen by the worker; the rest is the client's word.
type Client struct {
	Address    string `json:"address"`
	Host       string `json:"host"`
	PID        uint32 `json:"pid"`
	Executable string `json:"executable"`
	User       string `json:"user"`
	Container  string `json:"container"`
	Pod        string `json:"pod"`
	Namespace  string `json:"namespace"`
	Job        string `json:"job"`
}

func clientOf(c *smi.Client) *Client {
	if c == nil {
		return nil
	}
	v := Client(*c)
	cleanAll(&v.Address, &v.Host, &v.Executable, &v.User, &v.Container, &v.Pod, &v.Namespace, &v.Job)
	return &v
}

// Process is one process on one card.
type Process struct {
	GPU          int                `json:"gpu"`
	PID          uint32             `json:"pid"`
	Name         string             `json:"name"`
	User         string             `json:"user"`
	VRAM         smi.Opt[smi.Bytes] `json:"vram_bytes"`
	GTT          smi.Opt[smi.Bytes] `json:"gtt_bytes"`
	Busy         smi.Opt[smi.Ratio] `json:"busy_ratio"` // seconds its kernels ran in each second of the last step; over 1 when several run at once
	ComputeUnits smi.Opt[int]       `json:"compute_units"`
	Container    string             `json:"container"`
	Pod          string             `json:"pod"`
	Namespace    string             `json:"namespace"`
	Session      string             `json:"session"`
	Client       *Client            `json:"client"` // null: a local program
}

// processOf tells of a process; the caller holds the lock.
func (p *Page) processOf(x *smi.Process) Process {
	v := Process{
		GPU: x.Device, PID: x.PID, Name: clean(x.Name), User: clean(x.User), VRAM: x.VRAM, GTT: x.GTT, ComputeUnits: x.CUOccupancy,
		Session: clean(x.Session), Client: clientOf(x.Client),
	}
	if c := x.Container; c != nil {
		v.Container, v.Pod, v.Namespace = clean(c.Name), clean(c.Pod), clean(c.Namespace)
		if v.Container == "" {
			v.Container = clean(c.ID[:min(len(c.ID), 12)])
		}
	}
	if b, ok := p.store.last(keyOf(seriesProcBusy, "gpu", strconv.Itoa(x.Device), "pid", strconv.FormatUint(uint64(x.PID), 10))); ok {
		v.Busy = smi.Some(smi.Ratio(b))
	}
	return v
}

// now is a series' newest figure.
func (p *Page) now(k key) smi.Opt[float64] {
	if v, ok := p.store.last(k); ok {
		return smi.Some(v)
	}
	return smi.None[float64]()
}

// Session is one client process at the worker. Totals are since it began.
type Session struct {
	ID       string             `json:"session"`
	PID      uint32             `json:"pid"` // the process on the worker's machine that serves it
	Client   *Client            `json:"client"`
	Start    time.Time          `json:"start"`
	GPUs     []int              `json:"gpus"`
	VRAM     smi.Opt[smi.Bytes] `json:"vram_bytes"`
	BytesIn  smi.Opt[smi.Bytes] `json:"received_bytes_total"`
	BytesOut smi.Opt[smi.Bytes] `json:"sent_bytes_total"`
	Calls    smi.Opt[uint64]    `json:"calls_total"`
	InRate   smi.Opt[float64]   `json:"received_bytes_per_second"`
	OutRate  smi.Opt[float64]   `json:"sent_bytes_per_second"`
	CallRate smi.Opt[float64]   `json:"calls_per_second"`
}

// sessionOf tells of a session; the caller holds the lock.
func (p *Page) sessionOf(x *smi.Session) Session {
	id := clean(x.ID)
	return Session{
		ID: id, PID: x.PID, Client: clientOf(&x.Client), Start: x.Start, GPUs: append([]int{}, x.Devices[:min(len(x.Devices), maxCards)]...), VRAM: x.VRAM,
		BytesIn: x.BytesIn, BytesOut: x.BytesOut, Calls: x.Calls,
		InRate:   p.now(keyOf(seriesSessIn, "session", id)),
		OutRate:  p.now(keyOf(seriesSessOut, "session", id)),
		CallRate: p.now(keyOf(seriesSessCalls, "session", id)),
	}
}
