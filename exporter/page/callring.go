package page

import (
	"encoding/binary"
	"iter"
	"time"

	"github.com/rocwire/rocwire/calls/rpcstats"
)

// callRing keeps, for each of the last steps, the histograms of the calls that ended
// in it: those of all functions in one piece of bytes,
//
//	each: uvarint number of the call (see calls), length of the histogram, histogram
//
// so that what a quiet hour costs is next to nothing. It is not safe for several
// goroutines.
type callRing struct {
	maxBytes int
	bytes    int
	steps    [][]byte // nil: not measured
	head     int64    // the newest step
	tail     int64    // no step before it is kept

	calls   []rpcstats.Call // by their numbers
	numbers map[rpcstats.Call]int
	free    []int  // numbers whose calls no step has any more
	fresh   []int  // numbers that the step under way has used
	looked  int64  // the step in which there were none
	names   int    // bytes they take
	left    uint64 // histograms of calls that got no number

	last   map[rpcstats.Call]*rpcstats.Hist // totals at the end of lastAt
	lastAt int64                            // negative: there is none
}

const (
	maxCalls   = 4096 // kinds of calls that are told apart; what is more is left out
	namesShare = 3    // they may take this part of the bound, so that steps have room
	callBytes  = 128  // what a kind of call takes beside its names
)

func newCallRing(steps int, maxBytes int64, head int64) *callRing {
	return &callRing{maxBytes: int(maxBytes), steps: make([][]byte, steps), head: head, tail: head + 1, numbers: map[rpcstats.Call]int{}, lastAt: -1}
}

// maxDelay is how many steps old the last totals may be. When they are older nobody
// knows when the calls since then were.
const maxDelay = 2

// put notes the running totals at the end of a step. A kind of call that was not among
// the last totals has begun since; the first totals of all only say where to begin.
func (c *callRing) put(step int64, totals []rpcstats.CallTotal) {
	last, known := c.last, c.lastAt >= 0 && step-c.lastAt <= maxDelay
	c.lastAt = step
	c.last = make(map[rpcstats.Call]*rpcstats.Hist, len(totals))
	var b, h []byte
	c.fresh = c.fresh[:0]
	for i := range totals {
		t := &totals[i]
		c.last[t.Call] = &t.Hist
		if !known {
			continue
		}
		d := grown(&t.Hist, last[t.Call])
		if d.Count() == 0 {
			continue
		}
		n, ok := c.number(t.Call, step)
		if !ok {
			c.left++
			continue
		}
		c.fresh = append(c.fresh, n)
		h = d.AppendEncode(h[:0])
		b = binary.AppendUvarint(b, uint64(n))
		b = binary.AppendUvarint(b, uint64(len(h)))
		b = append(b, h...)
	}
	if known && b == nil {
		b = []byte{}
	}
	c.set(step, b)
}

// number is the number of a call, which it gets for as long as a step has it.
func (c *callRing) number(call rpcstats.Call, step int64) (int, bool) {
	if n, ok := c.numbers[call]; ok {
		return n, true
	}
	room := func() bool { return len(c.free) > 0 || len(c.calls) < maxCalls && c.names < c.maxBytes/namesShare }
	if !room() && c.looked < step { // which need not be found out again for each
		c.looked = step
		c.forget()
	}
	if !room() {
		return 0, false
	}
	n := len(c.calls)
	if k := len(c.free); k > 0 {
		n, c.free = c.free[k-1], c.free[:k-1]
		c.calls[n] = call
	} else {
		c.calls = append(c.calls, call)
	}
	c.numbers[call] = n
	c.names += sizeOf(call)
	c.bytes += sizeOf(call)
	return n, true
}

func sizeOf(call rpcstats.Call) int {
	return len(call.Op) + len(call.Side) + len(call.Code) + callBytes
}

// forget frees the numbers of the calls that no step has any more: what was called before an hour is of no use to what is called now.
func (c *callRing) forget() {
	used := make([]bool, len(c.calls))
	for _, n := range c.fresh {
		used[n] = true
	}
	for _, p := range c.steps {
		for len(p) > 0 {
			n, k := binary.Uvarint(p)
			size, l := binary.Uvarint(p[k:])
			p = p[k+l+int(size):]
			used[n] = true
		}
	}
	for call, n := range c.numbers {
		if !used[n] {
			delete(c.numbers, call)
			c.calls[n] = rpcstats.Call{}
			c.free = append(c.free, n)
			c.names -= sizeOf(call)
			c.bytes -= sizeOf(call)
		}
	}
}

// set keeps a step. When all are too much the oldest go.
func (c *callRing) set(step int64, b []byte) {
	n := int64(len(c.steps))
	for i := max(c.head+1, step-n+1); i <= step; i++ {
		c.drop(i)
	}
	if b != nil {
		c.steps[step%n] = append(make([]byte, 0, len(b)), b...)
		c.bytes += len(b)
	}
	c.head = step
	for c.tail = max(c.tail, step-n+1); c.bytes > c.maxBytes && c.tail <= step; c.tail++ {
		c.drop(c.tail)
	}
}

func (c *callRing) drop(step int64) {
	slot := &c.steps[step%int64(len(c.steps))]
	c.bytes -= len(*slot)
	*slot = nil
}

// begin is the first step of which something may be known.
func (c *callRing) begin() int64 { return max(c.tail, c.head-int64(len(c.steps))+1) }

// grown is by how much a total grew. One that fell began anew, from nothing.
func grown(now, before *rpcstats.Hist) rpcstats.Hist {
	if before == nil {
		return *now
	}
	if now.Nanos < before.Nanos || now.Zero < before.Zero {
		return *now
	}
	d := rpcstats.Hist{Nanos: now.Nanos - before.Nanos, Zero: now.Zero - before.Zero}
	rest := before.Buckets
	for _, b := range now.Buckets {
		if len(rest) > 0 && rest[0].Index == b.Index {
			if b.Count < rest[0].Count {
				return *now
			}
			b.Count -= rest[0].Count
			rest = rest[1:]
		}
		if b.Count > 0 {
			d.Buckets = append(d.Buckets, b)
		}
	}
	if len(rest) > 0 { // a bucket that was there is gone
		return *now
	}
	return d
}

// measured says whether the calls of a step are known.
func (c *callRing) measured(step int64) bool {
	return step >= c.begin() && step <= c.head && c.steps[step%int64(len(c.steps))] != nil
}

// seconds is how much of the time from step a up to b has known calls.
func (c *callRing) seconds(a, b int64, step time.Duration) (s float64) {
	for at := a; at < b; at++ {
		if c.measured(at) {
			s += step.Seconds()
		}
	}
	return s
}

// all are the histograms of the steps from a up to b whose calls are wanted.
func (c *callRing) all(a, b int64, want func(*rpcstats.Call) bool) iter.Seq2[*rpcstats.Call, *rpcstats.Hist] {
	return func(yield func(*rpcstats.Call, *rpcstats.Hist) bool) {
		wanted := make([]bool, len(c.calls))
		for i := range c.calls {
			wanted[i] = want(&c.calls[i])
		}
		for step := max(a, c.begin()); step < b && step <= c.head; step++ {
			for p := c.steps[step%int64(len(c.steps))]; len(p) > 0; {
				n, k := binary.Uvarint(p)
				size, l := binary.Uvarint(p[k:])
				body := p[k+l : k+l+int(size)]
				p = p[k+l+int(size):]
				if !wanted[n] {
					continue
				}
				h, err := rpcstats.DecodeHist(body)
				if err != nil {
					continue // of a total whose buckets were not in order
				}
				if !yield(&c.calls[n], &h) {
					return
				}
			}
		}
	}
}
