package page

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/rocwire/rocwire/exporter"
	"github.com/rocwire/rocwire/exporter/local"
	"github.com/rocwire/rocwire/smi"
)

// Local is what programs of this machine do with HIP, as the kernel sees it. Totals
// are since a program was first seen.
type Local struct {
	Libraries int            `json:"libraries"` // files whose functions are watched
	Programs  []LocalProgram `json:"programs"`  // those with most memory first
	LeftOut   int            `json:"programs_left_out"`
	Dropped   uint64         `json:"dropped_total"` // of what happened, because it was too much
}

// LocalProgram is one program.
type LocalProgram struct {
	PID        uint32             `json:"pid"`
	Name       string             `json:"name"`
	Executable string             `json:"executable"`
	Library    string             `json:"library"`
	User       string             `json:"user"`
	Container  string             `json:"container"`
	Pod        string             `json:"pod"`
	Namespace  string             `json:"namespace"`
	Since      time.Time          `json:"since"`
	Ended      bool               `json:"ended"`
	Calls      uint64             `json:"calls_total"`
	Failed     uint64             `json:"failed_total"`
	CallRate   smi.Opt[float64]   `json:"calls_per_second"`
	Launches   uint64             `json:"kernel_launches_total"`
	LaunchRate smi.Opt[float64]   `json:"kernel_launches_per_second"`
	Copied     uint64             `json:"copied_bytes_total"`
	CopyRate   smi.Opt[float64]   `json:"copied_bytes_per_second"`
	Held       smi.Opt[smi.Bytes] `json:"allocated_bytes"` // of the GPU, now
	Functions  []LocalFunction    `json:"functions"`       // those with most time first
}

// LocalFunction is what a program spent in one function.
type LocalFunction struct {
	Op      string  `json:"op"`
	Calls   uint64  `json:"calls"`
	Failed  uint64  `json:"failed"`
	Latency Latency `json:"latency"`
}

const (
	maxLocal          = 256
	maxLocalFunctions = 8
)

// localOf tells of local programs, nil if nothing watches them. The caller holds the lock.
func (p *Page) localOf(r *exporter.Reading) *Local {
	l := &r.Local
	if r.LocalErr != nil || l.Libraries == 0 && len(l.Processes) == 0 && len(l.Dropped) == 0 {
		return nil
	}
	v := &Local{Libraries: l.Libraries, Programs: []LocalProgram{}}
	for _, d := range l.Dropped {
		v.Dropped += d.Count
	}
	list := make([]*local.Process, len(l.Processes))
	for i := range l.Processes {
		list[i] = &l.Processes[i]
	}
	slices.SortStableFunc(list, func(a, b *local.Process) int { return cmp.Compare(b.Device.Held.Or(0), a.Device.Held.Or(0)) })
	if len(list) > maxLocal {
		v.LeftOut = len(list) - maxLocal
		list = list[:maxLocal]
	}
	for _, x := range list {
		v.Programs = append(v.Programs, p.programOf(x))
	}
	return v
}

func (p *Page) programOf(x *local.Process) LocalProgram {
	pid := strconv.FormatUint(uint64(x.PID), 10)
	v := LocalProgram{
		PID: x.PID, Name: clean(x.Name), Executable: clean(x.Executable), Library: clean(x.Library), User: clean(x.User),
		Container: clean(x.Container.Name), Pod: clean(x.Container.Pod), Namespace: clean(x.Container.Namespace), Since: x.Since, Ended: x.Ended,
		Launches: x.Launches, Copied: copied(x), Functions: []LocalFunction{},
		CallRate:   p.now(keyOf(seriesLocalCalls, "pid", pid)),
		LaunchRate: p.now(keyOf(seriesLocalLaunch, "pid", pid)),
		CopyRate:   p.now(keyOf(seriesLocalCopied, "pid", pid)),
	}
	if n, ok := x.Device.Held.Get(); ok {
		v.Held = smi.Some(smi.Bytes(n))
	}
	for i := range x.Calls {
		c := &x.Calls[i]
		f := LocalFunction{Op: clean(c.Op)}
		for _, k := range c.Codes {
			f.Calls += k.Count
			if !succeeded(k.Code) {
				f.Failed += k.Count
			}
		}
		v.Calls += f.Calls
		v.Failed += f.Failed
		if c.Latency.Count() > 0 {
			f.Latency = latencyOf(&c.Latency)
			v.Functions = append(v.Functions, f)
		}
	}
	slices.SortStableFunc(v.Functions, func(a, b LocalFunction) int { return cmp.Compare(b.Latency.Total, a.Latency.Total) })
	v.Functions = v.Functions[:min(len(v.Functions), maxLocalFunctions)]
	return v
}

func copied(x *local.Process) (n uint64) {
	for _, c := range x.Copies {
		n += c.Bytes
	}
	return n
}

// local notes what a program does.
func (s *store) local(x *local.Process) {
	if x.Ended {
		return
	}
	pid := strconv.FormatUint(uint64(x.PID), 10)
	var calls uint64
	for i := range x.Calls {
		for _, k := range x.Calls[i].Codes {
			calls += k.Count
		}
	}
	s.counter(keyOf(seriesLocalCalls, "pid", pid), rankProcess, float64(calls))
	s.counter(keyOf(seriesLocalLaunch, "pid", pid), rankProcess, float64(x.Launches))
	s.counter(keyOf(seriesLocalCopied, "pid", pid), rankProcess, float64(copied(x)))
	gauge(s, keyOf(seriesLocalHeld, "pid", pid), rankProcess, x.Device.Held)
}
