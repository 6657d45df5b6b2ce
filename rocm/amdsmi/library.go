package amdsmi

/*
#cgo LDFLAGS: -ldl
#include <dlfcn.h>
#include <stdlib.h>
#include "library.h"
*/
import "C"

import (
	"bytes"
	"debug/elf"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"github.com/rocwire/rocwire/smi"
)

// initGPUs is AMDSMI_INIT_AMD_GPUS.
const initGPUs = 2

// library is a loaded libamd_smi. It stays loaded: the real one does not support
// being unloaded. It is initialised while it is in use.
type library struct {
	file    string
	abi     *abi
	version version
	fn      [numFunctions]unsafe.Pointer
	instead func(function, []uint64) uint32 // called for the library, in tests of decoding

	mu   sync.Mutex
	uses int // sources that are open, and calls under way
	pump pump
}

// loaded are the libraries of this process by their file.
var loaded = struct {
	sync.Mutex
	m map[string]*library
}{m: map[string]*library{}}

// Paths are where Open looks when it is given no path: what the dynamic loader
// finds, newest ABI first, then the folders of ROCm.
func Paths() []string {
	var names []string
	for _, a := range knownABIs {
		names = append(names, soname+strconv.Itoa(a.number))
	}
	paths := slices.Clone(names)
	if root := os.Getenv("ROCM_PATH"); root != "" {
		for _, n := range append(names, "libamd_smi.so") {
			paths = append(paths, filepath.Join(root, "lib", n))
		}
	}
	paths = append(paths, "libamd_smi.so")
	for _, n := range append(names, "libamd_smi.so") {
		paths = append(paths, "/opt/rocm/lib/"+n)
	}
	return paths
}

// load loads the library at path, or the first of Paths that there is and can be
// talked to.
func load(path string) (*library, error) {
	if path != "" {
		return loadFile(path)
	}
	var first, absent error
	for _, p := range Paths() {
		l, err := loadFile(p)
		if err == nil {
			return l, nil
		}
		// What is there but cannot be used is worth more words than what is not there.
		if !strings.Contains(err.Error(), ": "+p+": cannot open shared object file") && first == nil {
			first = err
		}
		if absent == nil {
			absent = err
		}
	}
	if first == nil {
		first = smi.Errorf(smi.ErrUnavailable, "no AMD SMI library: %w", absent)
	}
	return nil, first
}

func loadFile(path string) (*library, error) {
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	var file [4096]C.char
	handle := C.rocwire_amdsmi_open(name, &file[0], C.size_t(len(file)))
	said := C.GoString(&file[0])
	if handle == nil {
		return nil, smi.Errorf(smi.ErrUnavailable, "cannot load %s: %s", path, said)
	}
	if real, err := filepath.EvalSymlinks(said); err == nil {
		said = real
	}
	loaded.Lock()
	defer loaded.Unlock()
	if l := loaded.m[said]; l != nil {
		C.dlclose(handle)
		return l, nil
	}
	l := &library{file: said}
	if err := l.identify(handle); err != nil {
		C.dlclose(handle)
		return nil, err
	}
	loaded.m[said] = l
	return l, nil
}

// ours says whether a library is one that opens librocwire.so when it is called.
func ours(f *elf.File) bool {
	s := f.Section(".rodata")
	if s == nil || s.Size > 1<<26 {
		return false
	}
	b, err := s.Data()
	return err == nil && bytes.Contains(b, []byte("librocwire.so\x00"))
}

// identify finds out which ABI the library has, and its functions.
func (l *library) identify(handle unsafe.Pointer) error {
	f, err := elf.Open(l.file)
	if err != nil {
		return smi.Errorf(smi.ErrBadData, "%s: %w", l.file, err)
	}
	defer f.Close()
	if strings.HasPrefix(filepath.Base(l.file), "librocwire") || ours(f) {
		return smi.Errorf(smi.ErrNotSupported, "%s is rocwire's own library, which asks others", l.file)
	}
	names, err := f.DynString(elf.DT_SONAME)
	if err != nil || len(names) == 0 {
		names = []string{filepath.Base(l.file)}
	}
	if l.abi, err = abiOf(l.file, names[0]); err != nil {
		return err
	}
	for i, n := range functionNames {
		c := C.CString(n)
		l.fn[i] = C.dlsym(handle, c)
		C.free(unsafe.Pointer(c))
	}
	for _, fn := range needed {
		if l.fn[fn] == nil {
			return smi.Errorf(smi.ErrNotSupported, "%s is no libamd_smi: %s is missing", l.file, functionNames[fn])
		}
	}
	m := newMemory()
	defer m.free()
	at, b := m.alloc(l.abi.layouts.version.size)
	if status := l.call(fnLibVersion, at); status != success {
		return smi.Errorf(smi.ErrNotSupported, "%s does not tell its version: %w", l.file, l.abi.failed(fnLibVersion, status))
	}
	v := &l.abi.layouts.version
	l.version = version{uint32(b.num(v.major).Or(0)), uint32(b.num(v.minor).Or(0)), uint32(b.num(v.release).Or(0))}
	return l.abi.check(l.file, l.version)
}

// call calls a function. It may take as long as it wants.
func (l *library) call(fn function, args ...uint64) uint32 {
	if l.instead != nil {
		return l.instead(fn, args)
	}
	if l.fn[fn] == nil {
		return 2 // NOT_SUPPORTED
	}
	var a [6]uint64
	copy(a[:], args)
	return uint32(C.rocwire_amdsmi_call(l.fn[fn], (*C.uint64_t)(&a[0])))
}

// acquire initialises the library for its first user.
func (l *library) acquire() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.uses == 0 {
		if status := l.call(fnInit, initGPUs); status != success {
			return l.explain(l.abi.failed(fnInit, status))
		}
	}
	l.uses++
	return nil
}

// explain says what can be done about a failure to initialise.
func (l *library) explain(err error) error {
	switch smi.CodeOf(err) {
	case smi.ErrNoDriver:
		return smi.Errorf(smi.ErrNoDriver, "%s: the amdgpu driver is not loaded: %w", l.file, err)
	case smi.ErrNoPermission:
		return smi.Errorf(smi.ErrNoPermission, "%s: %w%s", l.file, err, permissionHint(nil))
	}
	return smi.Errorf(smi.CodeOf(err), "%s cannot be initialised: %w", l.file, err)
}

// use counts a call that is about to begin.
func (l *library) use() {
	l.mu.Lock()
	l.uses++
	l.mu.Unlock()
}

// release ends a use. The last user shuts the library down: not before, as a call
// that hangs still holds what would be freed.
func (l *library) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.uses--; l.uses == 0 {
		l.call(fnShutDown)
	}
}
