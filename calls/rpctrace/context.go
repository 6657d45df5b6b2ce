package rpctrace

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"time"
)

// Context is what both sides of a session know of its traces. A nil one traces
// nothing.
type Context struct {
	trace  [16]byte
	parent [8]byte // zero: each call is a trace of its own
	seed   uint64
	limit  uint64 // a call is traced if its hash is not above
}

// NewContext is that of a Hello: of every calls one is traced. It is nil if every is 0.
// A parent that is no trace context is none.
func NewContext(parent string, seed uint64, every uint32) *Context {
	if every == 0 {
		return nil
	}
	c := &Context{seed: seed, limit: math.MaxUint64 / uint64(every)}
	if p, ok := ParseTraceParent(parent); ok {
		c.trace, c.parent = p.TraceID, p.Parent
	}
	return c
}

// Traced reports whether a call is.
func (c *Context) Traced(request uint32) bool {
	return c != nil && c.hash(request, 0) <= c.limit
}

// hash mixes the number of a request and a purpose with the seed (SplitMix64).
func (c *Context) hash(request uint32, purpose uint64) uint64 {
	x := c.seed + (uint64(request)|purpose<<32)*0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// TraceID is the trace that a call is part of, as W3C Trace Context writes it; "" if it
// is not traced.
func (c *Context) TraceID(request uint32) string {
	if !c.Traced(request) {
		return ""
	}
	s := c.Span(&Record{Request: request, Kind: Client}, "", "")
	return hex.EncodeToString(s.TraceID[:])
}

func (c *Context) id(request uint32, k Kind) (id [8]byte) {
	binary.BigEndian.PutUint64(id[:], max(1, c.hash(request, uint64(k)))) // 0 is no identity
	return id
}

// Span is the record of a call with its identity. Its Start is since 1970.
func (c *Context) Span(r *Record, op, code string) Span {
	s := Span{
		TraceID: c.trace, ID: c.id(r.Request, r.Kind), Parent: c.parent, Kind: r.Kind, Op: op, Code: code,
		Start: time.Unix(0, r.Start), Duration: r.Duration, Bytes: r.Bytes,
		Device: -1, Stream: r.Stream, Kernel: r.Kernel, Grid: r.Grid, Block: r.Block,
	}
	if r.Kind == Kernel {
		s.Device = int(r.Device)
	}
	if c.parent == ([8]byte{}) {
		const high, low = 16, 17 // purposes beyond the kinds
		binary.BigEndian.PutUint64(s.TraceID[:8], max(1, c.hash(r.Request, high)))
		binary.BigEndian.PutUint64(s.TraceID[8:], max(1, c.hash(r.Request, low)))
	}
	if r.Kind > Client && !r.Alone {
		s.Parent = c.id(r.Request, r.Kind-1)
	}
	return s
}
