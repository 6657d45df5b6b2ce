//go:build linux && amd64

package ebpf

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/calls/rpcstats"
	"github.com/rocwire/rocwire/exporter/local"
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/smi"
)

// program is a program that has called HIP: a process, until it executes another one.
type program struct {
	local local.Process
	start uint64    // of the process; 0: it ended before it was looked at
	over  time.Time // when it was seen to have ended
}

func newProgram(pid uint32, t *probeTotals, now time.Time) *program {
	name, _, _ := bytes.Cut(cString(t.Name[:]), []byte{0})
	p := &program{local: local.Process{PID: pid, Name: string(name), Since: now}}
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) == nil {
		p.local.Since = now.Add(min(time.Duration(int64(t.First)-ts.Nano()), 0))
	}
	return p
}

func cString(b []int8) []byte {
	s := make([]byte, len(b))
	for i, c := range b {
		s[i] = byte(c)
	}
	return s
}

// gone says whether the process has ended, or another one has its number.
func (p *program) gone(dir string, buf []byte) bool {
	st, ok := proc(dir).stat(p.local.PID, buf)
	if p.start == 0 {
		p.start = st.start
	}
	return !ok || st.ended || st.start != p.start
}

// update takes over what the kernel has counted.
func (p *program) update(t *probeTotals, series []seriesRow, failures []failureRow, ops *ops) {
	l := &p.local
	l.Launches = t.Launches
	l.Grid, l.Block = sizes(t.Grids[:], t.GridSum), sizes(t.Blocks[:], t.BlockSum)
	l.Copies = nil
	for kind, n := range t.Copies {
		if n > 0 {
			l.Copies = append(l.Copies, local.Copies{Kind: copyKinds[kind], Count: n, Bytes: t.Copied[kind]})
		}
	}
	for i, m := range []*local.Memory{&l.Device, &l.Managed, &l.Host} {
		// Two threads that allocate and free at once may be seen between each other.
		*m = local.Memory{Allocations: t.Allocations[i], Held: smi.Some(uint64(max(int64(t.Held[i]), 0)))}
	}
	calls := map[uint32]*local.Call{}
	for i := range series {
		s := &series[i]
		c := &local.Call{Op: ops.name(s.op), Latency: s.latency}
		if s.success > 0 {
			c.Codes = append(c.Codes, local.Code{Code: hip.Success.Name(), Count: s.success})
		}
		calls[s.op] = c
	}
	for _, f := range failures {
		if c := calls[f.op]; c != nil {
			c.Codes = append(c.Codes, local.Code{Code: codeName(f.code), Count: f.count})
		}
	}
	l.Calls = l.Calls[:0:0]
	for _, c := range calls {
		c.Codes = merge(c.Codes)
		l.Calls = append(l.Calls, *c)
	}
	slices.SortFunc(l.Calls, func(a, b local.Call) int { return cmp.Compare(a.Op, b.Op) })
}

// merge puts results of one name together, in order of their names.
func merge(codes []local.Code) []local.Code {
	slices.SortFunc(codes, func(a, b local.Code) int { return cmp.Compare(a.Code, b.Code) })
	out := codes[:0]
	for _, c := range codes {
		if n := len(out); n > 0 && out[n-1].Code == c.Code {
			out[n-1].Count += c.Count
		} else {
			out = append(out, c)
		}
	}
	return out
}

// codeName is the label of a result: as with remote calls, "other" if HIP has none.
func codeName(code int32) string {
	if e := hip.Error(code); e.Valid() {
		return e.Name()
	}
	return "other"
}

// copyKinds are the label values of hipMemcpyKind.
var copyKinds = [...]string{"host_to_host", "host_to_device", "device_to_host", "device_to_device", "default"}

// firstIndex is the bucket of rpcstats that a series' first one is: FIRST_INDEX of
// bpf/tables.h.
const firstIndex = -191

func durations(s *probeSeries) rpcstats.Hist {
	h := rpcstats.Hist{Nanos: s.Nanos}
	for i, n := range s.Buckets {
		if n > 0 {
			h.Buckets = append(h.Buckets, rpcstats.Bucket{Index: firstIndex + i, Count: n})
		}
	}
	return h
}

// sizes leaves out the buckets behind the last that holds anything.
func sizes(buckets []uint64, sum uint64) local.Sizes {
	n := len(buckets)
	for n > 0 && buckets[n-1] == 0 {
		n--
	}
	return local.Sizes{Buckets: slices.Clone(buckets[:n]), Sum: float64(sum)}
}

// end marks the last figures of a program: what it held is free.
func (p *program) end(now time.Time) {
	p.over = now
	p.local.Ended = true
	for _, m := range []*local.Memory{&p.local.Device, &p.local.Managed, &p.local.Host} {
		m.Held = smi.Opt[uint64]{}
	}
}
