package smiremote

import (
	"strings"
	"time"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/rocwire/rocwire/calls/rpcstats"
	"github.com/rocwire/rocwire/smi"
)

// encode is the MessagePack form of what a worker tells.
func encode(v any) ([]byte, error) {
	switch v := v.(type) {
	case []smi.Process:
		clip(v)
	case []smi.Event:
		for i := range v {
			v[i].Message = cut(v[i].Message)
		}
	}
	return msgpack.Marshal(v)
}

// clip makes texts that other programs chose as short as a client wants them.
func clip(ps []smi.Process) {
	for i := range ps {
		p := &ps[i]
		p.Command, p.Name = cut(p.Command), cut(p.Name)
	}
}

func cut(s string) string {
	if len(s) <= maxTold {
		return s
	}
	return strings.ToValidUTF8(s[:maxTold], "") + "…"
}

// maxTold is how much of a text is told, well within maxText.
const maxTold = 1 << 10

// callTotal is a rpcstats.CallTotal on the wire.
type callTotal struct {
	Op    string    `msgpack:"o"`
	Side  string    `msgpack:"s"`
	Code  string    `msgpack:"c"`
	Since time.Time `msgpack:"t"`
	Hist  []byte    `msgpack:"h"` // rpcstats.Hist's own encoding
}

func encodeCalls(calls []rpcstats.CallTotal) []callTotal {
	list := make([]callTotal, len(calls))
	for i := range calls {
		c := &calls[i]
		list[i] = callTotal{Op: c.Op, Side: c.Side, Code: c.Code, Since: c.Since, Hist: c.Hist.AppendEncode(nil)}
	}
	return list
}
