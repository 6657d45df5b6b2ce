package rpcstats

import (
	"sync"
	"sync/atomic"
	"time"
)

// maxCodes bounds the results other than 0 that are counted apart for one
// function, and maxOps the functions; the rest is counted as CodeOther, OpOther.
const (
	maxCodes = 16
	maxOps   = 1024
)

// Recorder counts calls as they happen. All methods may be called from any
// goroutine at any time.
type Recorder struct {
	side  Side
	pages [256]atomic.Pointer[page] // by the opcode's high byte
	other opCell

	mu  sync.Mutex // taken to add a function or a result, never to count
	ops int
}

// page holds the functions whose opcodes share a high byte.
type page [256]atomic.Pointer[opCell]

// opCell holds the series of one function.
type opCell struct {
	ok     cell                        // result 0
	failed atomic.Pointer[[]*codeCell] // copied when it grows
}

type codeCell struct {
	code int32
	cell
}

// cell is one series since the last Take.
type cell struct {
	nanos   atomic.Uint64
	zero    atomic.Uint64
	buckets [NumBuckets]atomic.Uint64
}

// NewRecorder returns a recorder for one side of the connection.
func NewRecorder(side Side) *Recorder { return &Recorder{side: side} }

// Record counts one call of function op that ended with code after d.
func (r *Recorder) Record(op uint16, code int32, d time.Duration) {
	if p := r.pages[op>>8].Load(); p != nil {
		if c := p[op&0xFF].Load(); c != nil && code == 0 {
			c.ok.add(d)
			return
		}
	}
	r.recordSlow(op, code, d)
}

func (c *cell) add(d time.Duration) {
	b, ok := BucketOf(d)
	if !ok {
		c.zero.Add(1)
		return
	}
	c.nanos.Add(uint64(d))
	c.buckets[b-MinBucket].Add(1)
}

func (r *Recorder) recordSlow(op uint16, code int32, d time.Duration) {
	c := r.op(op)
	if code == 0 {
		c.ok.add(d)
		return
	}
	if f := c.find(code); f != nil {
		f.add(d)
		return
	}
	r.mu.Lock()
	f := c.find(code)
	if f == nil {
		f = c.grow(code)
	}
	r.mu.Unlock()
	f.add(d)
}

// op is the cell of a function, made if need be.
func (r *Recorder) op(op uint16) *opCell {
	if op == OpOther {
		return &r.other
	}
	slot := &r.pages[op>>8]
	if p := slot.Load(); p != nil {
		if c := p[op&0xFF].Load(); c != nil {
			return c
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	p := slot.Load()
	if p == nil {
		p = new(page)
		slot.Store(p)
	}
	c := p[op&0xFF].Load()
	if c == nil {
		if r.ops >= maxOps {
			return &r.other
		}
		r.ops++
		c = new(opCell)
		p[op&0xFF].Store(c)
	}
	return c
}

func (c *opCell) find(code int32) *cell {
	l := c.failed.Load()
	if l == nil {
		return nil
	}
	for _, f := range *l {
		if f.code == code {
			return &f.cell
		}
	}
	if len(*l) > maxCodes { // the last one is CodeOther
		return &(*l)[maxCodes].cell
	}
	return nil
}

// grow adds a result; the caller holds the recorder's lock.
func (c *opCell) grow(code int32) *cell {
	var old []*codeCell
	if l := c.failed.Load(); l != nil {
		old = *l
	}
	if len(old) == maxCodes {
		code = CodeOther
	}
	f := &codeCell{code: code}
	l := append(old[:len(old):len(old)], f)
	c.failed.Store(&l)
	return &f.cell
}

// Take returns what was counted since the last Take and starts again from
// nothing; nil when that is nothing. A call that is being counted at the same
// moment appears in this delta or in the next, never in both.
func (r *Recorder) Take() *Delta {
	d := &Delta{Side: r.side}
	r.other.take(d, OpOther)
	for hi := range r.pages {
		p := r.pages[hi].Load()
		if p == nil {
			continue
		}
		for lo := range p {
			if c := p[lo].Load(); c != nil {
				c.take(d, uint16(hi<<8|lo))
			}
		}
	}
	if len(d.Series) == 0 {
		return nil
	}
	return d
}

func (c *opCell) take(d *Delta, op uint16) {
	c.ok.take(d, op, 0)
	if l := c.failed.Load(); l != nil {
		for _, f := range *l {
			f.cell.take(d, op, f.code)
		}
	}
}

func (c *cell) take(d *Delta, op uint16, code int32) {
	var h Hist
	for i := range c.buckets {
		if c.buckets[i].Load() != 0 {
			h.Buckets = append(h.Buckets, Bucket{Index: i + MinBucket, Count: c.buckets[i].Swap(0)})
		}
	}
	if c.zero.Load() != 0 {
		h.Zero = c.zero.Swap(0)
	}
	if len(h.Buckets) == 0 && h.Zero == 0 {
		return // a sum without a count waits for its count
	}
	h.Nanos = c.nanos.Swap(0)
	d.Series = append(d.Series, Series{Op: op, Code: code, Hist: h})
}
