package hipabi

/*
#include <stdlib.h>
*/
import "C"

import (
	"sync/atomic"
	"unsafe"

	"github.com/rocwire/rocwire/codeobject"
	"github.com/rocwire/rocwire/hip"
)

// function is a kernel of a loaded module.
type function struct {
	handle hip.Function
	module *module
	kernel *codeobject.Kernel

	gone       atomic.Bool            // its module is unloaded
	host       atomic.Uintptr         // the host function that stands for it, 0 if none is known
	dynamic    atomic.Int32           // the most dynamic LDS a launch may ask for, in bytes; -1: what is left
	name       atomic.Pointer[C.char] // for hipKernelNameRef, made once
	maxThreads uint64
}

func newFunction(h hip.Function, m *module, k *codeobject.Kernel) *function {
	f := &function{handle: h, module: m, kernel: k, maxThreads: uint64(k.MaxFlatWorkgroupSize)}
	f.dynamic.Store(-1)
	return f
}

// cName is the kernel's name as a C string that stays valid.
func (f *function) cName() *C.char {
	if p := f.name.Load(); p != nil {
		return p
	}
	p := C.CString(f.kernel.Name)
	if !f.name.CompareAndSwap(nil, p) {
		C.free(unsafe.Pointer(p))
	}
	return f.name.Load()
}

//export rw_kernelName
func rw_kernelName(h uint64) *C.char {
	if f := modules.function(hip.Function(h)); f != nil {
		return f.cName()
	}
	return nil
}

// limits is what a device and a kernel's bounds leave to one workgroup.
func (f *function) limits(d *device) (threads, lds uint64) {
	threads = uint64(d.prop.MaxThreadsPerBlock)
	if f.maxThreads != 0 {
		threads = min(threads, f.maxThreads)
	}
	if lds = d.prop.SharedMemPerBlock; lds > uint64(f.kernel.GroupSize) {
		return threads, lds - uint64(f.kernel.GroupSize)
	}
	return threads, 0
}

// attribute answers hipFuncGetAttribute.
func (f *function) attribute(d *device, a hip.FunctionAttribute) (int32, hip.Error) {
	threads, lds := f.limits(d)
	switch a {
	case hip.DrvFuncAttributeMaxThreadsPerBlock:
		return int32(threads), hip.Success
	case hip.DrvFuncAttributeSharedSizeBytes:
		return int32(f.kernel.GroupSize), hip.Success
	case hip.DrvFuncAttributeLocalSizeBytes:
		return int32(f.kernel.PrivateSize), hip.Success
	case hip.DrvFuncAttributeNumRegs:
		return int32(f.registers()), hip.Success
	case hip.DrvFuncAttributePtxVersion, hip.DrvFuncAttributeBinaryVersion:
		return d.prop.Major*10 + d.prop.Minor, hip.Success
	case hip.DrvFuncAttributeMaxDynamicSharedSizeBytes:
		if n := f.dynamic.Load(); n >= 0 {
			return n, hip.Success
		}
		return int32(lds), hip.Success
	case hip.DrvFuncAttributeConstSizeBytes, hip.DrvFuncAttributeCacheModeCa, hip.DrvFuncAttributePreferredSharedMemoryCarveout:
		return 0, hip.Success
	}
	return 0, hip.ErrorInvalidValue
}

// registers is the number of vector registers that a lane uses.
func (f *function) registers() uint32 {
	if n := f.kernel.VGPRs; n != 0 {
		return n
	}
	return uint32(f.kernel.Descriptor.VGPRs())
}

//export rw_hipFuncGetAttribute
func rw_hipFuncGetAttribute(thread uint64, value unsafe.Pointer, attribute int32, h uint64) int32 {
	if value == nil {
		return int32(hip.ErrorInvalidValue)
	}
	f, d, err := functionOn(h)
	if err != hip.Success {
		return int32(err)
	}
	v, err := f.attribute(d, hip.FunctionAttribute(attribute))
	if err == hip.Success {
		*(*int32)(value) = v
	}
	return int32(err)
}

// functionOn is a function by its handle, with its device.
func functionOn(h uint64) (*function, *device, hip.Error) {
	f := modules.function(hip.Function(h))
	if f == nil {
		return nil, nil, hip.ErrorInvalidHandle
	}
	return f, f.module.device, hip.Success
}

// kernelOf is the function that a program names by a host function or, as many
// calls allow, by its handle.
func kernelOf(t hip.Thread, p uintptr) (*function, *device, hip.Error) {
	f, err := registered.function(t, p)
	if err == hip.ErrorInvalidDeviceFunction {
		if g := modules.function(hip.Function(p)); g != nil {
			f, err = g, hip.Success
		}
	}
	if err != hip.Success {
		return nil, nil, err
	}
	return f, f.module.device, hip.Success
}

// symbolError is what some calls answer to a host function that stands for no kernel.
func symbolError(fn uintptr, err hip.Error) hip.Error {
	if fn != 0 && err == hip.ErrorInvalidDeviceFunction {
		return hip.ErrorInvalidSymbol
	}
	return err
}

//export rw_hipFuncGetAttributes
func rw_hipFuncGetAttributes(thread uint64, out unsafe.Pointer, fn uintptr) int32 {
	if out == nil {
		return int32(hip.ErrorInvalidValue)
	}
	f, d, err := kernelOf(threadOf(thread), fn)
	if err != hip.Success {
		return int32(symbolError(fn, err))
	}
	get := func(a hip.FunctionAttribute) int32 {
		v, _ := f.attribute(d, a) // every attribute asked for below exists
		return v
	}
	*(*hip.FuncAttributes)(out) = hip.FuncAttributes{
		BinaryVersion:             get(hip.DrvFuncAttributeBinaryVersion),
		LocalSizeBytes:            uint64(f.kernel.PrivateSize),
		MaxDynamicSharedSizeBytes: get(hip.DrvFuncAttributeMaxDynamicSharedSizeBytes),
		MaxThreadsPerBlock:        get(hip.DrvFuncAttributeMaxThreadsPerBlock),
		NumRegs:                   get(hip.DrvFuncAttributeNumRegs),
		PtxVersion:                get(hip.DrvFuncAttributePtxVersion),
		SharedSizeBytes:           uint64(f.kernel.GroupSize),
	}
	return int32(hip.Success)
}

//export rw_hipFuncSetAttribute
func rw_hipFuncSetAttribute(thread uint64, fn uintptr, attribute int32, value int32) int32 {
	if fn != 0 && (attribute < 0 || attribute > int32(hip.FuncAttributeMax)) {
		return int32(hip.ErrorInvalidValue)
	}
	f, d, err := kernelOf(threadOf(thread), fn)
	if err != hip.Success {
		return int32(err)
	}
	switch hip.FuncAttribute(attribute) {
	case hip.FuncAttributeMaxDynamicSharedMemorySize:
		if _, lds := f.limits(d); value < 0 || uint64(value) > lds {
			return int32(hip.ErrorInvalidValue)
		}
		f.dynamic.Store(value)
	case hip.FuncAttributePreferredSharedMemoryCarveout: // a hint, of no use: LDS is not carved out of a cache
		if value < -1 || value > 100 {
			return int32(hip.ErrorInvalidValue)
		}
	}
	return int32(hip.Success) // what cannot be set at all is no mistake, and stays
}

// Cache and bank configurations are hints that no AMD GPU takes.

//export rw_hipFuncSetCacheConfig
func rw_hipFuncSetCacheConfig(thread uint64, fn uintptr, config int32) int32 {
	if fn == 0 {
		return int32(hip.ErrorInvalidDeviceFunction)
	}
	return rw_hipDeviceSetCacheConfig(thread, config)
}

//export rw_hipFuncSetSharedMemConfig
func rw_hipFuncSetSharedMemConfig(thread uint64, fn uintptr, config int32) int32 {
	if fn == 0 {
		return int32(hip.ErrorInvalidDeviceFunction)
	}
	return rw_hipDeviceSetSharedMemConfig(thread, config)
}

//export rw_hipGetFuncBySymbol
func rw_hipGetFuncBySymbol(thread uint64, out unsafe.Pointer, fn uintptr) int32 {
	if out == nil {
		return int32(hip.ErrorInvalidValue)
	}
	f, err := registered.function(threadOf(thread), fn)
	if err != hip.Success {
		return int32(err)
	}
	*(*hip.Function)(out) = f.handle
	return int32(hip.Success)
}
