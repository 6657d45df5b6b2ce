package smiremote

import (
	"context"
	"time"

	"github.com/rocwire/rocwire/calls/rpcstats"
	"github.com/rocwire/rocwire/smi"
)

// opSlowCalls asks for the slowest calls.
const opSlowCalls uint16 = 0x0855

// SlowCalls tells which calls took longest in the last minutes, at once; a
// *rpcstats.Totals does. HandlerOptions.Calls may implement it.
type SlowCalls interface {
	SlowCalls() []rpcstats.SlowCall
}

// slowCall is a rpcstats.SlowCall on the wire.
type slowCall struct {
	Session    string                `msgpack:"s"`
	Host       string                `msgpack:"h,omitempty"`
	Executable string                `msgpack:"x,omitempty"`
	PID        uint32                `msgpack:"p,omitempty"`
	Op         string                `msgpack:"o"`
	Code       string                `msgpack:"c"`
	Start      time.Time             `msgpack:"t"`
	Total      smi.Duration          `msgpack:"d"`
	Queue      smi.Opt[smi.Duration] `msgpack:"q"`
	Network    smi.Opt[smi.Duration] `msgpack:"n"`
	Execution  smi.Opt[smi.Duration] `msgpack:"e"`
	Kernel     string                `msgpack:"k,omitempty"`
	TraceID    string                `msgpack:"i,omitempty"`
}

func encodeSlowCalls(calls []rpcstats.SlowCall) []slowCall {
	known := func(d time.Duration) smi.Opt[smi.Duration] {
		if d < 0 {
			return smi.None[smi.Duration]()
		}
		return smi.Some(smi.Duration(d))
	}
	list := make([]slowCall, len(calls))
	for i := range calls {
		c := &calls[i]
		list[i] = slowCall{
			Session: c.Session, Host: cut(c.Client.Host), Executable: cut(c.Client.Executable), PID: c.Client.PID, Op: c.Op, Code: c.Code, Start: c.Start,
			Total: smi.Duration(c.Total), Queue: known(c.Queue), Network: known(c.Network), Execution: known(c.Execution), Kernel: cut(c.Kernel),
			TraceID: cut(c.TraceID),
		}
	}
	return list
}

func decodeSlowCalls(b []byte) ([]rpcstats.SlowCall, error) {
	var list []slowCall
	if err := unpack(b, &list); err != nil {
		return nil, err
	}
	calls := make([]rpcstats.SlowCall, len(list))
	for i := range list {
		c := &list[i]
		if err := moment(&c.Start); err != nil {
			return nil, err
		}
		for _, d := range [...]smi.Duration{c.Total, c.Queue.Or(0), c.Network.Or(0), c.Execution.Or(0)} {
			if d < 0 {
				return nil, bad("a call of %v s", d.Seconds())
			}
		}
		calls[i] = rpcstats.SlowCall{
			Session: c.Session, Client: rpcstats.Caller{Host: c.Host, Executable: c.Executable, PID: c.PID}, Op: c.Op, Code: c.Code, Start: c.Start,
			Total: time.Duration(c.Total), Queue: time.Duration(c.Queue.Or(-1)), Network: time.Duration(c.Network.Or(-1)),
			Execution: time.Duration(c.Execution.Or(-1)), Kernel: c.Kernel, TraceID: c.TraceID,
		}
	}
	return calls, nil
}

// SlowCalls tells which calls of the worker's clients took longest in the last ten
// minutes, slowest first. A worker that is too old is ErrNotSupported.
func (c *Client) SlowCalls(ctx context.Context) ([]rpcstats.SlowCall, error) {
	return question(ctx, c, opSlowCalls, nil, decodeSlowCalls)
}

// SlowCalls is the worker's slowest calls of the last ten minutes. The list must not
// be changed.
func (m *Mirror) SlowCalls() []rpcstats.SlowCall {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.slow
}
