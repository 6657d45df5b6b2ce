package simgpu

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/graph/executor"
	"github.com/rocwire/rocwire/simgpu/card"
	"github.com/rocwire/rocwire/simgpu/exec"
	"github.com/rocwire/rocwire/simgpu/queue"
	"github.com/rocwire/rocwire/simgpu/vmem"
)

// Runtime is a HIP runtime over simulated cards: one process's view of them.
// Safe for concurrent use.
type Runtime struct {
	hip.Unimplemented
	o       Options
	product *product
	own     *Segment // nil if the segment was given
	session *card.Session
	devices []*device
	cores   *exec.Cores

	spaceMu sync.Mutex // taken to make space, not to use it
	space   atomic.Pointer[space]

	registered registered
	freed      freedList
	traced     tracing
	profiling  *profiling // nil: nobody wants it
	turn       sync.Mutex // of kernels that execute one after the other; see Options.Deterministic

	handles   atomic.Uint64
	streams   table[hip.Stream, *stream]
	events    table[hip.Event, *event]
	modules   table[hip.Module, *module]
	functions table[hip.Function, *function]
	arrays    table[hip.Array, *array]
	textures  table[hip.TextureObject, *object]
	surfaces  table[hip.SurfaceObject, *object]
	physicals table[hip.GenericAllocation, *physical]
	pools     table[hip.MemPool, *pool]
	graphs    *executor.Executor

	gate    *queue.Gate // of everything that touches the cards' memory
	mapped  mappedWindows
	showing sync.Mutex // held while devices are told of windows
	shares  shares
	buffers atomic.Uint32 // numbers of memory that someone asked for

	multi   sync.Mutex   // held while a launch on several devices is queued
	closing sync.RWMutex // held for reading by calls, for writing by Close
	closed  bool
}

// space is the address space and what executes in it.
type space struct {
	*vmem.Space
	placed  bool // ReserveRange chose the range
	program *exec.Program
	views   []*exec.Memory // as each device sees it; nil: they see the same
}

// device is one card as this process uses it: what HIP calls a primary context.
type device struct {
	r     *Runtime
	id    int32
	card  int // index among the segment's
	meter *card.Meter
	props *props

	queues *queue.Queues
	null   *stream

	fault   atomic.Int32  // hip.Error that ended the context, 0: alive
	failing sync.Mutex    // held while a failure is told
	resets  atomic.Uint32 // of the card, when the context began
	renew   sync.Mutex    // held where a context begins, and where the card's condition ends one: it must be the one that was looked at
	mu      sync.Mutex
	ctx     context.Context // ends with the context
	cancel  context.CancelCauseFunc

	granted  uint64        // capacity set aside for MallocAt and not used; mu
	pooled   atomic.Uint64 // bytes of the pools, in whole pages
	imported uint64        // bytes of other processes that are open; mu
	peers    map[int32]bool
	pool     hip.MemPool // its own
	args     kernargs
	limits   limits

	services services
}

var (
	_ hip.Runtime = (*Runtime)(nil)
	_ hip.Placer  = (*Runtime)(nil)
	_ hip.Direct  = (*Runtime)(nil)
)

// errClosed is the cause of a kernel's end when its runtime or device is closed.
var errClosed = errors.New("simgpu: closed")

// New makes a runtime. Errors: ErrOptions, and those of the segment.
func New(o Options) (*Runtime, error) {
	switch {
	case o.Session != nil:
		o.Cards, o.MemoryBytes, o.Segment = o.Session.Cards(), o.Session.Card(0).Capacity(), nil
	case o.Segment != nil:
		o.Cards, o.MemoryBytes = o.Segment.Cards(), o.Segment.Capacity(0)
	}
	if err := o.complete(); err != nil {
		return nil, err
	}
	r := &Runtime{product: products[o.Arch], cores: exec.NewCores(o.Workers), gate: queue.NewGate(), session: o.Session}
	if r.session == nil {
		var err error
		if o.Segment == nil {
			if o.Segment, err = CreateSegment(o); err != nil {
				return nil, err
			}
			r.own = o.Segment
		}
		if r.session, err = o.Segment.Attach(o.PID); err != nil {
			if r.own != nil {
				r.own.Close()
			}
			return nil, err
		}
	}
	r.o = o
	if o.Profile {
		r.startProfile()
	}
	r.handles.Store(16)
	r.graphs = executor.New(r)
	for i, c := range o.Visible {
		d := &device{r: r, id: int32(i), card: c, meter: r.session.Card(c), queues: queue.New(r.gate, o.now()), peers: map[int32]bool{}}
		d.props = r.product.properties(c, r.session.Card(c).Capacity())
		d.resets.Store(d.meter.Condition().Resets)
		d.null = &stream{d: d, q: d.queues.Null(), share: r.share(0)}
		d.ctx, d.cancel = context.WithCancelCause(context.Background())
		p := newPool(d, defaultProps(d.id))
		d.pool = p.handle
		r.pools.put(p.handle, p)
		d.limits.init()
		r.devices = append(r.devices, d)
	}
	return r, nil
}

// Untranslated is how often kernel code that is executed much was not translated
// to machine code, see exec.Program.Untranslated.
func (r *Runtime) Untranslated() uint64 {
	if s := r.space.Load(); s != nil {
		return s.program.Untranslated()
	}
	return 0
}

// Segment is the segment of the runtime's cards; nil if that is another process's.
func (r *Runtime) Segment() *Segment { return r.o.Segment }

// Close stops what runs and releases everything. It waits for work in
// progress, but not for a host function that does not return. Calls after it
// answer ErrorDeinitialized.
func (r *Runtime) Close() error {
	for _, d := range r.devices {
		d.end(hip.ErrorDeinitialized, errClosed)
	}
	// The queues run empty now, so calls that wait come back. New ones do not
	// get in.
	r.closing.Lock()
	defer r.closing.Unlock()
	if r.closed {
		return nil
	}
	r.closed = true
	for _, d := range r.devices {
		queue.WaitAll(d.queues.All())
	}
	r.profiling.stop()
	r.traced.end(&r.o.Trace, r.o.Logf)
	if s := r.space.Load(); s != nil {
		s.Each(func(a *vmem.Alloc) bool { r.unshare(noteOf(a)); return true })
		s.Close()
	}
	r.withdraw()
	r.session.Detach()
	if r.own != nil {
		r.own.Close()
	}
	return nil
}

// end ends the context of a device: running kernels are cancelled with cause,
// queued work is dropped, calls answer e. The first end counts; Deinitialized
// overrides.
func (d *device) end(e hip.Error, cause error) {
	if !d.fault.CompareAndSwap(0, int32(e)) && e == hip.ErrorDeinitialized {
		d.fault.Store(int32(e))
	}
	d.queues.Abort()
	d.mu.Lock()
	cancel := d.cancel
	d.mu.Unlock()
	cancel(cause)
}

// status is what ended the device's context, Success while it lives.
func (d *device) status() hip.Error { return hip.Error(d.fault.Load()) }

// enter begins a call for the calling thread's device; leave ends it, unless
// enter returned an error: ErrorInvalidDevice, or what ended the context. No
// call is made within a call.
func (r *Runtime) enter(t hip.Thread) (*device, hip.Error) {
	d, e := r.enterAny(t.Device)
	if e != hip.Success {
		return nil, e
	}
	if !d.meter.Well(d.resets.Load()) {
		d.attend()
	}
	if e := d.status(); e != hip.Success {
		r.leave()
		return nil, e
	}
	return d, hip.Success
}

// enterAny is enter for any device, whatever became of its context.
func (r *Runtime) enterAny(id int32) (*device, hip.Error) {
	if id < 0 || int(id) >= len(r.devices) {
		return nil, hip.ErrorInvalidDevice
	}
	r.closing.RLock()
	if r.closed {
		r.closing.RUnlock()
		return nil, hip.ErrorDeinitialized
	}
	return r.devices[id], hip.Success
}

func (r *Runtime) leave() { r.closing.RUnlock() }

// memory is the address space, reserved now if it has not been before.
func (r *Runtime) memory() (*space, hip.Error) {
	if s := r.space.Load(); s != nil {
		return s, hip.Success
	}
	r.spaceMu.Lock()
	defer r.spaceMu.Unlock()
	if s := r.space.Load(); s != nil {
		return s, hip.Success
	}
	vs, err := vmem.ReserveAny(64<<20, vmem.Options{VirtualPart: virtualPart})
	if err != nil {
		r.o.Logf("simgpu: %v", err)
		return nil, hip.ErrorOutOfMemory
	}
	return r.adopt(vs, false)
}

// adopt makes vs the address space. spaceMu is held.
func (r *Runtime) adopt(vs *vmem.Space, placed bool) (*space, hip.Error) {
	size := vs.Size()
	if len(r.devices) > 1 { // each may access other reserved addresses
		size = vs.Virtual() - vs.Base()
	}
	m, err := exec.NewMemory(vs.Base(), size)
	if err != nil {
		vs.Close()
		r.o.Logf("simgpu: %v", err)
		return nil, hip.ErrorInvalidValue
	}
	s := &space{Space: vs, placed: placed, program: exec.NewProgram(r.product.arch, m, exec.Options{
		Logf:    func(format string, args ...any) { r.o.Logf("simgpu: "+format, args...) },
		Profile: r.profiling.of(),
	})}
	s.program.Watch(r.o.Check, r.o.Trace.Kernel != "")
	if len(r.devices) > 1 {
		for range r.devices {
			s.views = append(s.views, m.View())
		}
	}
	r.space.Store(s)
	return s, hip.Success
}

// view is the memory as d sees it, nil for the program's.
func (s *space) view(d *device) *exec.Memory {
	if s.views == nil {
		return nil
	}
	return s.views[d.id]
}

// handle is a new handle. All kinds share one sequence: a stream's handle is
// never an event's.
func (r *Runtime) handle() uint64 { return r.handles.Add(1) }

// table finds objects by handle.
type table[H ~uint64, T any] struct {
	mu sync.RWMutex
	m  map[H]T
}

func (t *table[H, T]) get(h H) (T, bool) {
	t.mu.RLock()
	v, ok := t.m[h]
	t.mu.RUnlock()
	return v, ok
}

func (t *table[H, T]) put(h H, v T) {
	t.mu.Lock()
	if t.m == nil {
		t.m = map[H]T{}
	}
	t.m[h] = v
	t.mu.Unlock()
}

// take removes and returns.
func (t *table[H, T]) take(h H) (T, bool) {
	t.mu.Lock()
	v, ok := t.m[h]
	delete(t.m, h)
	t.mu.Unlock()
	return v, ok
}

// list is all that f chooses.
func (t *table[H, T]) list(f func(T) bool) (list []T) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, v := range t.m {
		if f(v) {
			list = append(list, v)
		}
	}
	return list
}

// takeIf removes and returns all that f chooses.
func (t *table[H, T]) takeIf(f func(T) bool) []T {
	t.mu.Lock()
	defer t.mu.Unlock()
	var list []T
	for h, v := range t.m {
		if f(v) {
			list = append(list, v)
			delete(t.m, h)
		}
	}
	return list
}
