package simgpu

import (
	"encoding/binary"
	"errors"
	"sync"

	"github.com/rocwire/rocwire/codeobject"
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu/exec"
	"github.com/rocwire/rocwire/simgpu/queue"
	"github.com/rocwire/rocwire/simgpu/vmem"
)

// module is a loaded code object.
type module struct {
	d      *device
	object *codeobject.Object
	alloc  *vmem.Alloc

	formats map[uint64]string // of its kernels' buffered printf
	lines   sourceLines

	mu        sync.Mutex
	functions map[string]hip.Function // that were asked for
}

// function is a kernel of a module.
type function struct {
	m      *module
	kernel *codeobject.Kernel
	desc   exec.Descriptor
	entry  uint64
}

// moduleError is the HIP error for an image that cannot be loaded.
func moduleError(err error) hip.Error {
	switch {
	case errors.Is(err, codeobject.ErrNoBinary):
		return hip.ErrorNoBinaryForGpu
	case errors.Is(err, codeobject.ErrUndefined):
		return hip.ErrorSharedObjectSymbolNotFound
	}
	return hip.ErrorInvalidImage
}

// ModuleLoadData loads a code object (a bundle will do as well) into card
// memory.
func (r *Runtime) ModuleLoadData(t hip.Thread, image []byte) (hip.Module, hip.Error) {
	d, e := r.enter(t)
	if e != hip.Success {
		return 0, e
	}
	defer r.leave()
	if len(image) == 0 {
		return 0, hip.ErrorInvalidValue
	}
	m, err := d.load(image, nil)
	if err != nil {
		e, ok := err.(hip.Error)
		if !ok {
			e = moduleError(err)
		}
		r.o.Logf("simgpu: card %d: module of %d bytes: %s: %v", d.id, len(image), e.Name(), err)
		return 0, e
	}
	h := hip.Module(r.handle())
	r.modules.put(h, m)
	return h, hip.Success
}

func (d *device) load(image []byte, define map[string]uint64) (*module, error) {
	elf, err := codeobject.Select(image, d.r.product.target)
	if err != nil {
		return nil, err
	}
	object, err := codeobject.Parse(elf)
	if err != nil {
		return nil, err
	}
	defer object.Forget() // the bytes are the caller's
	if object.MemSize == 0 {
		return nil, hip.ErrorInvalidImage
	}
	a, e := d.allocate(object.MemSize, vmem.Code, 0)
	if e != hip.Success {
		return nil, e
	}
	mem := vmem.Raw(a.Base, a.Size)
	if err := object.LoadWith(mem, a.Base, define); err != nil {
		d.r.release(a)
		return nil, err
	}
	for _, g := range object.Globals {
		if g.Managed != nil { // code reaches the variable through a pointer
			binary.LittleEndian.PutUint64(mem[g.Addr:], a.Base+g.Managed.Addr)
		}
	}
	return &module{d: d, object: object, alloc: a, formats: printfFormats(object.Printf), lines: d.r.linesOf(elf), functions: map[string]hip.Function{}}, nil
}

// ModuleUnload ends a module and its functions, after everything its device
// was told to do is done.
func (r *Runtime) ModuleUnload(t hip.Thread, h hip.Module) hip.Error {
	_, e := r.enter(t)
	if e != hip.Success {
		return e
	}
	defer r.leave()
	if h == 0 {
		return hip.ErrorInvalidHandle
	}
	m, ok := r.modules.take(h)
	if !ok {
		return hip.ErrorNotFound
	}
	r.functions.takeIf(func(f *function) bool { return f.m == m })
	blame(m.alloc, callOf("hipModuleUnload", t))
	queue.WaitAll(m.d.queues.All())
	r.unload(m)
	return hip.Success
}

// unload gives a module's memory back. Nothing executes it.
func (r *Runtime) unload(m *module) {
	r.space.Load().program.Invalidate(m.alloc.Base, m.alloc.Pages())
	if noteOf(m.alloc).freed.CompareAndSwap(false, true) {
		r.release(m.alloc)
	}
}

// ModuleGetFunction finds a kernel by name.
func (r *Runtime) ModuleGetFunction(t hip.Thread, h hip.Module, name string) (hip.Function, hip.Error) {
	_, e := r.enter(t)
	if e != hip.Success {
		return 0, e
	}
	defer r.leave()
	if name == "" {
		return 0, hip.ErrorInvalidValue
	}
	m, e := r.module(h)
	if e != hip.Success {
		return 0, e
	}
	k := m.object.Kernels[name]
	if k == nil {
		r.o.Logf("simgpu: card %d: the module has no kernel %q", m.d.id, name)
		return 0, hip.ErrorNotFound
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if f, ok := m.functions[name]; ok {
		return f, hip.Success
	}
	kd := &k.Descriptor
	f := hip.Function(r.handle())
	r.functions.put(f, &function{m: m, kernel: k, entry: m.alloc.Base + k.Entry, desc: exec.Descriptor{
		GroupSegmentSize: k.GroupSize, PrivateSegmentSize: k.PrivateSize, KernargSize: k.KernargSize,
		EntryOffset: kd.EntryOffset, Rsrc1: kd.Rsrc1, Rsrc2: kd.Rsrc2, Rsrc3: kd.Rsrc3,
		Properties: kd.Properties, KernargPreload: kd.KernargPreload,
	}})
	m.functions[name] = f
	return f, hip.Success
}

// ModuleGetGlobal finds a variable by name. Of a managed variable it is the
// pointer that code goes through; the value has the name with ".managed" behind.
func (r *Runtime) ModuleGetGlobal(t hip.Thread, h hip.Module, name string) (hip.Ptr, uint64, hip.Error) {
	_, e := r.enter(t)
	if e != hip.Success {
		return 0, 0, e
	}
	defer r.leave()
	if name == "" {
		return 0, 0, hip.ErrorInvalidValue
	}
	m, e := r.module(h)
	if e != hip.Success {
		return 0, 0, e
	}
	g := m.object.Globals[name]
	if g == nil {
		return 0, 0, hip.ErrorNotFound
	}
	return hip.Ptr(m.alloc.Base + g.Addr), g.Size, hip.Success
}

func (r *Runtime) module(h hip.Module) (*module, hip.Error) {
	if h == 0 {
		return nil, hip.ErrorInvalidHandle
	}
	m, ok := r.modules.get(h)
	if !ok {
		return nil, hip.ErrorNotFound
	}
	return m, m.d.status()
}
