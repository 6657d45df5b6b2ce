package smiremote

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/s2"
	"github.com/vmihailenco/msgpack/v5"

	"github.com/rocwire/rocwire/exporter/rpcstats"
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

// packed is the last snapshot as it went over the wire, for all clients.
type packed struct {
	mu     sync.Mutex
	number uint64 // of the view; 0: nothing yet
	plain  []byte
	s2     []byte
}

// snapshot is the encoded snapshot; it must not be changed.
func (h *Handler) snapshot(ctx context.Context, pack bool) ([]byte, error) {
	view, number, err := h.shared.View(ctx)
	if err != nil {
		return nil, err
	}
	p := &h.packed
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.number == 0 || p.number != number {
		if p.plain, err = encodeSnapshot(view); err != nil {
			return nil, err
		}
		p.number, p.s2 = number, nil
	}
	if !pack {
		return p.plain, nil
	}
	if p.s2 == nil {
		p.s2 = s2.Encode(nil, p.plain)
	}
	return p.s2, nil
}

// encodeSnapshot leaves s as it is.
func encodeSnapshot(s *smi.Snapshot) ([]byte, error) {
	c := *s
	c.Devices = append([]smi.DeviceSnapshot(nil), s.Devices...)
	for i := range c.Devices {
		d := &c.Devices[i]
		for _, p := range d.Processes {
			if len(p.Command) > maxTold || len(p.Name) > maxTold {
				d.Processes = append([]smi.Process(nil), d.Processes...)
				clip(d.Processes)
				break
			}
		}
	}
	var b bytes.Buffer
	if err := msgpack.NewEncoder(&b).Encode(&c); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

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
