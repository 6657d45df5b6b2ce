//go:build linux && amd64

package ebpf

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/features"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/ringbuf"
	"github.com/cilium/ebpf/rlimit"
)

// kernel is what runs in the kernel: the programs, their tables, and what they hang on.
type kernel struct {
	objs  probeObjects
	multi bool // one link for all functions of a file
	hooks []io.Closer
	execs *ringbuf.Reader
	sel   *selection
	ops   *ops
	room  room
}

// ops number functions, as cookies and tables do.
type ops struct {
	mu    sync.Mutex
	ids   map[string]int
	names []string
}

// maxOps is how many functions have numbers; the rest is not watched. Names of
// functions that are not known come from files that anybody may make.
const maxOps = 2048

func (o *ops) id(name string) (int, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	id, ok := o.ids[name]
	if !ok && len(o.names) < maxOps {
		id, ok = len(o.names), true
		o.ids[name], o.names = id, append(o.names, name)
	}
	return id, ok
}

func (o *ops) name(id uint32) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if int(id) < len(o.names) {
		return o.names[id]
	}
	return "other"
}

// checkKernel says what the kernel lacks.
func checkKernel() error {
	switch err := features.HaveProgramHelper(ebpf.Kprobe, asm.FnGetAttachCookie); {
	case err == nil:
	case errors.Is(err, ebpf.ErrNotSupported):
		return &SupportError{ErrUnsupported, "the kernel is too old: Linux 5.15 is needed (bpf_get_attach_cookie)", err}
	default:
		return explain("the kernel loads no eBPF program", err)
	}
	if features.HaveBPFLinkUprobeMulti() == nil {
		return nil
	}
	if _, err := os.Stat("/sys/bus/event_source/devices/uprobe"); err != nil {
		return &SupportError{ErrUnsupported, "the kernel has no uprobes (CONFIG_UPROBE_EVENTS)", err}
	}
	return nil
}

// load puts programs and tables into the kernel.
func load(o *Options) (*kernel, error) {
	if err := checkRights(); err != nil {
		return nil, err
	}
	if err := checkProc(o.Proc); err != nil {
		return nil, err
	}
	if err := checkKernel(); err != nil {
		return nil, err
	}
	if err := rlimit.RemoveMemlock(); err != nil { // before Linux 5.11 tables counted as locked memory
		return nil, explain("the limit of locked memory cannot be raised", err)
	}
	spec, err := loadProbe()
	if err != nil {
		return nil, err
	}
	k := &kernel{multi: !o.noMulti && features.HaveBPFLinkUprobeMulti() == nil, ops: &ops{ids: map[string]int{}}}
	if k.sel, err = newSelection(o.Functions); err != nil {
		return nil, err
	}
	if !k.multi {
		for _, name := range []string{"enter", "leave"} {
			spec.Programs[name].AttachType = ebpf.AttachNone
		}
	}
	for name, n := range map[string]int{
		"processes": o.MaxProcesses, "totals_of": 2 * o.MaxProcesses, "series_of": o.MaxSeries, "failures": o.MaxSeries,
		"allocations": o.MaxAllocations, "threads": o.MaxThreads,
	} {
		spec.Maps[name].MaxEntries = uint32(n)
	}
	if err := spec.LoadAndAssign(&k.objs, nil); err != nil {
		if refused := (*ebpf.VerifierError)(nil); errors.As(err, &refused) {
			return nil, &SupportError{ErrUnsupported, "the kernel does not take the programs", err}
		}
		return nil, explain("the kernel does not take the programs", err)
	}
	for key, n := range []int{setSeries: o.MaxSeries / 8, setAllocations: o.MaxAllocations / 2} {
		if err := k.objs.Settings.Put(uint32(key), uint64(max(n, 1))); err != nil {
			return nil, errors.Join(explain("settings", err), k.close())
		}
	}
	for name, p := range map[string]*ebpf.Program{"sched_process_exit": k.objs.ThreadExit, "sched_process_exec": k.objs.ProcessExec} {
		l, err := link.AttachRawTracepoint(link.RawTracepointOptions{Name: name, Program: p})
		if err != nil {
			return nil, errors.Join(explain("the tracepoint "+name, err), k.close())
		}
		k.hooks = append(k.hooks, l)
	}
	if k.execs, err = ringbuf.NewReader(k.objs.Execs); err != nil {
		return nil, errors.Join(explain("the ring buffer", err), k.close())
	}
	return k, nil
}

// Indices of settings and drops, as bpf/tables.h has them.
const (
	setSeries      = 0
	setAllocations = 1
)

// dropReasons are the label values of enum drop.
var dropReasons = []string{"process", "thread", "series", "allocation", "unreadable", "abandoned"}

// point is one function of a file.
type point struct{ offset, cookie uint64 }

// points are the functions of a library that are to be watched, each place once:
// several names may stand for one, and then one that is known is better.
func (k *kernel) points(f io.ReaderAt) ([]point, error) {
	list, err := symbols(f)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(list, func(a, b symbol) int { return unknownLast(a.name) - unknownLast(b.name) })
	var points []point
	taken := map[uint64]bool{}
	for _, s := range list {
		name, fn, ok := k.sel.of(s.name)
		if !ok || taken[s.offset] {
			continue
		}
		id, ok := k.ops.id(name)
		if !ok {
			break
		}
		taken[s.offset] = true
		points = append(points, point{s.offset, fn.cookie(id)})
	}
	if len(points) == 0 {
		return nil, fmt.Errorf("%w: it exports none of the functions that are to be watched", errLibrary)
	}
	return points, nil
}

func unknownLast(name string) int {
	if _, ok := known[name]; ok {
		return 0
	}
	return 1
}

// attach puts probes on a library. Those on returns come first: a call whose entry is
// noted and whose return is not would seem never to end.
func (k *kernel) attach(f *os.File) (links []io.Closer, err error) {
	points, err := k.points(f)
	if err != nil {
		return nil, err
	}
	ex, err := link.OpenExecutable(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			(&library{links: links, changed: make(answer[bool])}).close()
			links = nil
		}
	}()
	if k.multi {
		o := &link.UprobeMultiOptions{}
		for _, p := range points {
			o.Addresses, o.Cookies = append(o.Addresses, p.offset), append(o.Cookies, p.cookie)
		}
		l, err := ex.UretprobeMulti(nil, k.objs.Leave, o)
		if err != nil {
			return links, err
		}
		links = append(links, l)
		if l, err = ex.UprobeMulti(nil, k.objs.Enter, o); err != nil {
			return links, err
		}
		return append(links, l), nil
	}
	for _, p := range points {
		o := &link.UprobeOptions{Address: p.offset, Cookie: p.cookie}
		l, err := ex.Uretprobe("", k.objs.Leave, o)
		if err != nil {
			return links, err
		}
		links = append(links, l)
		if l, err = ex.Uprobe("", k.objs.Enter, o); err != nil {
			return links, err
		}
		links = append(links, l)
	}
	return links, nil
}

func (k *kernel) close() error {
	var errs []error
	if k.execs != nil {
		errs = append(errs, k.execs.Close())
	}
	for _, h := range k.hooks {
		errs = append(errs, h.Close())
	}
	return errors.Join(append(errs, k.objs.Close())...)
}
