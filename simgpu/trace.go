package simgpu

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/rocwire/rocwire/simgpu/exec"
)

// Trace says which wave's instructions are told of: of the first dispatch of a
// kernel whose workgroup has it. No kernel: none.
type Trace struct {
	Kernel    string // its name, or a pattern as path.Match has them
	Workgroup uint64 // its number, x first
	Wave      int
	JSON      bool         // a line of JSON for each instruction, for scripts
	Limit     int          // instructions; 0 is DefaultTraceLimit
	Write     func([]byte) // takes the lines; nil: the program's standard error
}

// DefaultTraceLimit is how many instructions are told of when nobody says how many.
const DefaultTraceLimit = 10000

// ParseTrace reads KERNEL[,WORKGROUP[,WAVE]].
func ParseTrace(s string) (t Trace, err error) {
	parts := strings.Split(s, ",")
	if t.Kernel = parts[0]; t.Kernel == "" || len(parts) > 3 {
		return t, fmt.Errorf("%q is not KERNEL[,WORKGROUP[,WAVE]]", s)
	}
	if _, err := path.Match(t.Kernel, ""); err != nil {
		return t, fmt.Errorf("%q is no name of a kernel, nor a pattern for names", t.Kernel)
	}
	if len(parts) > 1 {
		if t.Workgroup, err = strconv.ParseUint(parts[1], 10, 64); err != nil {
			return t, fmt.Errorf("workgroup %q", parts[1])
		}
	}
	if len(parts) > 2 {
		if t.Wave, err = strconv.Atoi(parts[2]); err != nil || t.Wave < 0 {
			return t, fmt.Errorf("wave %q", parts[2])
		}
	}
	return t, nil
}

// tracing is what was told of so far.
type tracing struct {
	mu       sync.Mutex
	told     int
	fits     bool     // a kernel that was launched
	launched []string // others, mostLaunched of them
}

// mostLaunched is how many kernels are named to somebody who wants to be told of one that was not launched.
const mostLaunched = 20

// watch has a dispatch tell of the wave, if the kernel is the one.
func (t *tracing) watch(d *device, x *exec.Dispatch) {
	o := &d.r.o.Trace
	fits, _ := path.Match(o.Kernel, x.Kernel)
	t.mu.Lock()
	if t.fits = t.fits || fits; !fits && len(t.launched) <= mostLaunched && !slices.Contains(t.launched, x.Kernel) {
		t.launched = append(t.launched, x.Kernel)
	}
	t.mu.Unlock()
	if !fits {
		return
	}
	groups := [2]uint64{(uint64(x.Grid[0]) + uint64(x.Group[0]) - 1) / uint64(x.Group[0]), (uint64(x.Grid[1]) + uint64(x.Group[1]) - 1) / uint64(x.Group[1])}
	x.Traced = func(g [3]uint32, wave int) bool {
		return wave == o.Wave && uint64(g[0])+groups[0]*(uint64(g[1])+groups[1]*uint64(g[2])) == o.Workgroup
	}
	x.OnTrace = func(s *exec.Step) {
		t.mu.Lock()
		defer t.mu.Unlock()
		limit := o.Limit
		if limit == 0 {
			limit = DefaultTraceLimit
		}
		if t.told++; t.told > limit+1 {
			return
		}
		write := o.Write
		if write == nil {
			write = func(b []byte) { d.r.o.OnOutput(true, b) }
		}
		if t.told == limit+1 {
			write([]byte(stopped(o.JSON, limit)))
			return
		}
		if o.JSON {
			b, err := json.Marshal(s)
			if err == nil {
				write(append(b, '\n'))
			}
			return
		}
		write([]byte(stepText(s, d.r.sourceOf(s.PC))))
	}
}

// end says why nothing was told of.
func (t *tracing) end(o *Trace, logf func(format string, args ...any)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case o.Kernel == "" || t.told > 0:
	case t.fits:
		logf("simgpu: trace: no launch of %s had wave %d of workgroup %d", o.Kernel, o.Wave, o.Workgroup)
	case len(t.launched) == 0:
		logf("simgpu: trace: %s was not launched, nor was any other kernel", o.Kernel)
	default:
		names, more := t.launched[:min(len(t.launched), mostLaunched)], ""
		if len(t.launched) > mostLaunched {
			more = ", …"
		}
		logf("simgpu: trace: %s was not launched; these were: %s%s", o.Kernel, strings.Join(names, ", "), more)
	}
}

// stopped is the last line.
func stopped(json bool, limit int) string {
	if json {
		return fmt.Sprintf("{\"limit\":%d}\n", limit)
	}
	return fmt.Sprintf("(no more: the trace is limited to %d instructions)\n", limit)
}

// stepText is an instruction for people.
func stepText(s *exec.Step, source string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%#x %s", s.PC, s.Inst)
	if source != "" {
		fmt.Fprintf(&b, "  ;%s", source)
	}
	b.WriteByte('\n')
	for _, c := range s.Changed {
		fmt.Fprintf(&b, "    %s =%s\n", c.Register, lanesText(c.Values))
	}
	if len(s.Addresses) > 0 {
		fmt.Fprintf(&b, "    address%s\n", lanesText(s.Addresses))
	}
	return b.String()
}

// lanesText are values of lanes; those that ascend by the same step together.
func lanesText(list []exec.Lane) string {
	var b strings.Builder
	for i := 0; i < len(list); {
		if list[i].Lane < 0 {
			fmt.Fprintf(&b, " %#x", list[i].Value)
			i++
			continue
		}
		j := i + 1
		var step uint64
		if j < len(list) {
			step = list[j].Value - list[i].Value
		}
		for j < len(list) && list[j].Lane == list[j-1].Lane+1 && list[j].Value-list[j-1].Value == step {
			j++
		}
		switch {
		case j-i < 3:
			j = i + 1
			fmt.Fprintf(&b, " [%d]%#x", list[i].Lane, list[i].Value)
		case step == 0:
			fmt.Fprintf(&b, " [%d-%d]%#x", list[i].Lane, list[j-1].Lane, list[i].Value)
		default:
			fmt.Fprintf(&b, " [%d-%d]%#x%s…", list[i].Lane, list[j-1].Lane, list[i].Value, signed(step))
		}
		i = j
	}
	return b.String()
}

// signed is a difference of addresses or values.
func signed(d uint64) string {
	if int64(d) < 0 {
		return fmt.Sprintf("-%#x", -d)
	}
	return fmt.Sprintf("+%#x", d)
}
