package rocm

/*
#cgo CFLAGS: -I${SRCDIR}/../hip/include
#cgo LDFLAGS: -ldl
#include <stdlib.h>
#include "library.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/rocwire/rocwire/codeobject"
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/graph/executor"
)

// ErrNoLibrary says that no libamdhip64 could be opened.
var ErrNoLibrary = errors.New("rocm: no libamdhip64")

// Runtime calls a real library. Make it with Open.
type Runtime struct {
	hip.Unimplemented
	table  *C.struct_rocm_table
	path   string
	prints atomic.Bool // a kernel was loaded that may print

	mu        sync.Mutex
	modules   map[hip.Module]map[string]*codeobject.Kernel
	functions map[hip.Function]function
	graphs    graphs
	broker    hip.Broker // nil: nothing is shared by descriptors
	allocs    allocs
	pools     sharedPools
	held      heldPools
	events    poolEvents
	imports   imports

	backlog    backlog
	several    func() bool // devices; asked once
	nulls      nullStreams
	telling    sync.RWMutex // for reading by who tells streams something; see whenQuiet
	placed     placed
	follows    follows
	gates      gates
	frees      frees
	leaving    late[hip.Stream] // that were destroyed before they had done everything
	registered extents
	variables  extents
	layers     layeredRows
}

// function is what a launch must know of a kernel.
type function struct {
	module  hip.Module
	offsets []uint32 // where each argument begins
	size    uint32   // where the last one ends
}

var (
	_ hip.Runtime    = (*Runtime)(nil)
	_ hip.Placer     = (*Runtime)(nil)
	_ hip.PoolHolder = (*Runtime)(nil)
	_ hip.Follower   = (*Runtime)(nil)
)

// Paths are where Open looks when it is given no path.
func Paths() []string {
	paths := []string{}
	if root := os.Getenv("ROCM_PATH"); root != "" {
		paths = append(paths, filepath.Join(root, "lib", "libamdhip64.so.6"))
	}
	return append(paths, "libamdhip64.so.6", "/opt/rocm/lib/libamdhip64.so.6")
}

// Open loads the library at path, or the first of Paths that there is. The
// library stays loaded: it does not support being unloaded.
func Open(path string) (*Runtime, error) {
	paths := []string{path}
	if path == "" {
		paths = Paths()
	}
	table := (*C.struct_rocm_table)(C.calloc(1, C.size_t(unsafe.Sizeof(C.struct_rocm_table{}))))
	var whys []string
	for _, p := range paths {
		name := C.CString(p)
		var why [512]C.char
		lib := C.rocm_open(name, table, &why[0], C.size_t(len(why)))
		C.free(unsafe.Pointer(name))
		if lib != nil {
			r := &Runtime{table: table, path: p, modules: map[hip.Module]map[string]*codeobject.Kernel{}, functions: map[hip.Function]function{}}
			r.graphs.issued = executor.New(r)
			r.placed.stuck = r.stuck
			r.several = sync.OnceValue(func() bool {
				n, err := r.GetDeviceCount()
				return err == hip.Success && n > 1
			})
			r.pools.exported = map[hip.MemPool]hip.IpcMemHandle{}
			r.held.poolSet = poolSet{map[hip.MemPool]int32{}, map[hip.Ptr]poolMemory{}}
			return r, nil
		}
		whys = append(whys, C.GoString(&why[0]))
	}
	C.free(unsafe.Pointer(table))
	return nil, fmt.Errorf("%w: %s", ErrNoLibrary, strings.Join(whys, "; "))
}

// Path is what was opened.
func (r *Runtime) Path() string { return r.path }

// Prints reports whether kernels were loaded that may print.
func (r *Runtime) Prints() bool { return r.prints.Load() }

// ModuleLoadData is hipModuleLoadData. The image's metadata is kept: it says
// where each argument of a kernel lies.
func (r *Runtime) ModuleLoadData(t hip.Thread, image []byte) (hip.Module, hip.Error) {
	object, err := codeobject.Parse(image)
	if err != nil {
		return 0, hip.ErrorInvalidImage
	}
	for _, g := range object.Globals {
		if g.Managed != nil { // a library gives such a variable memory of its own choice, and does not say where the pointer to it is
			return 0, hip.ErrorNotSupported
		}
	}
	var m C.uint64_t
	if e := hip.Error(C.rocm_load(r.table, C.int32_t(t.Device), unsafe.Pointer(&image[0]), &m)); e != hip.Success {
		return 0, e
	}
	for _, k := range object.Kernels {
		if k.Uses(codeobject.ArgHiddenPrintfBuffer) || k.Uses(codeobject.ArgHiddenHostcallBuffer) {
			r.prints.Store(true)
		}
	}
	r.mu.Lock()
	r.modules[hip.Module(m)] = object.Kernels
	r.mu.Unlock()
	return hip.Module(m), hip.Success
}

// ModuleUnload is hipModuleUnload.
func (r *Runtime) ModuleUnload(t hip.Thread, module hip.Module) hip.Error {
	ended := r.variables.drop(func(e extent) bool { return e.module == module }) // at once: their addresses may be others'
	err := r.moduleUnload(t, module)
	if err != hip.Success {
		for _, e := range ended {
			r.variables.add(e)
		}
	} else {
		r.mu.Lock()
		delete(r.modules, module)
		for f, of := range r.functions {
			if of.module == module {
				delete(r.functions, f)
			}
		}
		r.mu.Unlock()
	}
	return err
}

// ModuleGetFunction is hipModuleGetFunction.
func (r *Runtime) ModuleGetFunction(t hip.Thread, module hip.Module, name string) (hip.Function, hip.Error) {
	f, err := r.moduleGetFunction(t, module, name)
	if err != hip.Success {
		return 0, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	of := function{module: module}
	if k := r.modules[module][name]; k != nil {
		for _, a := range k.Args {
			of.offsets = append(of.offsets, a.Offset)
		}
		of.size = k.ExplicitSize
	}
	r.functions[f] = of
	return f, hip.Success
}

// arguments says where each argument of a launch begins.
func (r *Runtime) arguments(l *hip.Launch) ([]uint32, hip.Error) {
	r.mu.Lock()
	of, ok := r.functions[l.Function]
	r.mu.Unlock()
	if !ok {
		return nil, hip.ErrorInvalidHandle
	}
	if uint64(len(l.Args)) < uint64(of.size) { // the library would read on
		return nil, hip.ErrorInvalidValue
	}
	return of.offsets, hip.Success
}

// LaunchKernel is hipModuleLaunchKernel and its relatives.
func (r *Runtime) LaunchKernel(t hip.Thread, l *hip.Launch) hip.Error {
	offsets, err := r.arguments(l)
	if err != hip.Success {
		return err
	}
	return r.tell(t, l.Stream, launchCost(l), func(at hip.Stream) hip.Error {
		c := cLaunch(l)
		c.stream = C.uint64_t(at)
		return hip.Error(C.rocm_launch(r.table, C.int32_t(t.Device), &c, unsafe.Pointer(unsafe.SliceData(l.Args)), C.size_t(len(l.Args)),
			(*C.uint32_t)(unsafe.SliceData(offsets)), C.size_t(len(offsets))))
	})
}

func cLaunch(l *hip.Launch) C.struct_rocm_launch {
	c := C.struct_rocm_launch{
		function: C.uint64_t(l.Function), stream: C.uint64_t(l.Stream), start: C.uint64_t(l.Start), stop: C.uint64_t(l.Stop),
		grid: cDim(l.Grid), block: cDim(l.Block), global: cDim(l.GlobalSize),
		shared: C.uint32_t(l.SharedMem), flags: C.uint32_t(l.Flags),
	}
	if l.GlobalSize == (hip.Dim3{}) && (l.Start != 0 || l.Stop != 0) {
		c.global = cDim(hip.Dim3{X: l.Grid.X * l.Block.X, Y: l.Grid.Y * l.Block.Y, Z: l.Grid.Z * l.Block.Z})
	}
	return c
}

func cDim(d hip.Dim3) [3]C.uint32_t {
	return [3]C.uint32_t{C.uint32_t(d.X), C.uint32_t(d.Y), C.uint32_t(d.Z)}
}

// alone is a copy of a struct in memory of its own: cgo looks at all of the
// memory that an argument points into, and what a request was decoded to has
// Go's pointers in it. Also, AMD's library writes to structs that it calls const.
func alone[T any](p *T) unsafe.Pointer {
	if p == nil {
		return nil
	}
	x := new(T)
	*x = *p
	return unsafe.Pointer(x)
}
