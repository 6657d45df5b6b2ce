package hipabi

import "C"

import (
	"unsafe"

	"github.com/rocwire/rocwire/hip"
)

// symbol is the device variable that a host variable stands for, on the
// thread's device: its address and size in bytes.
func symbol(t hip.Thread, host uintptr) (hip.Ptr, uint64, hip.Error) {
	registered.mu.RLock()
	v := registered.vars[host]
	registered.mu.RUnlock()
	if v == nil {
		return 0, 0, hip.ErrorInvalidSymbol
	}
	m, err := v.binary.module(t)
	if err != hip.Success {
		return 0, 0, err
	}
	if v.pointer != nil {
		return v.placed, v.size, hip.Success
	}
	p, n, err := runtime().ModuleGetGlobal(t, m.handle, v.name)
	if err == hip.ErrorNotFound {
		err = hip.ErrorInvalidSymbol
	}
	return p, n, err
}

// within is the address of n bytes at an offset into a symbol.
func within(t hip.Thread, host uintptr, offset, n uint64) (hip.Ptr, hip.Error) {
	p, size, err := symbol(t, host)
	if err != hip.Success {
		return 0, err
	}
	if offset > size || n > size-offset {
		return 0, hip.ErrorInvalidValue
	}
	return p + hip.Ptr(offset), hip.Success
}

//export rw_hipGetSymbolAddress
func rw_hipGetSymbolAddress(thread uint64, out unsafe.Pointer, host uintptr) int32 {
	if out == nil {
		return int32(hip.ErrorInvalidValue)
	}
	p, _, err := symbol(threadOf(thread), host)
	if err == hip.Success {
		*(*hip.Ptr)(out) = p
	}
	return int32(err)
}

//export rw_hipGetSymbolSize
func rw_hipGetSymbolSize(thread uint64, out unsafe.Pointer, host uintptr) int32 {
	if out == nil {
		return int32(hip.ErrorInvalidValue)
	}
	_, n, err := symbol(threadOf(thread), host)
	if err == hip.Success {
		*(*uint64)(out) = n
	}
	return int32(err)
}

// symbolKind checks the direction of a copy to a symbol, or from one.
func symbolKind(kind int32, to bool) hip.Error {
	switch hip.MemcpyKind(kind) {
	case hip.MemcpyDefault, hip.MemcpyDeviceToDevice, hip.MemcpyDeviceToDeviceNoCU:
		return hip.Success
	case hip.MemcpyHostToDevice:
		if to {
			return hip.Success
		}
	case hip.MemcpyDeviceToHost:
		if !to {
			return hip.Success
		}
	}
	return hip.ErrorInvalidMemcpyDirection
}

//export rw_hipMemcpyToSymbol
func rw_hipMemcpyToSymbol(thread uint64, host, src uintptr, n, offset uint64, kind int32) int32 {
	t := threadOf(thread)
	err := symbolKind(kind, true)
	if err != hip.Success {
		return int32(err)
	}
	p, err := within(t, host, offset, n)
	if err == hip.Success {
		err = runtime().Memcpy(t, p, hip.Ptr(src), n, hip.MemcpyKind(kind))
	}
	return int32(err)
}

//export rw_hipMemcpyToSymbolAsync
func rw_hipMemcpyToSymbolAsync(thread uint64, host, src uintptr, n, offset uint64, kind int32, stream uint64) int32 {
	t := threadOf(thread)
	err := symbolKind(kind, true)
	if err != hip.Success {
		return int32(err)
	}
	s, err := resolveStream(t, hip.Stream(stream))
	if err != hip.Success {
		return int32(err)
	}
	p, err := within(t, host, offset, n)
	if err == hip.Success {
		err = runtime().MemcpyAsync(t, p, hip.Ptr(src), n, hip.MemcpyKind(kind), s)
	}
	return int32(err)
}

//export rw_hipMemcpyFromSymbol
func rw_hipMemcpyFromSymbol(thread uint64, dst, host uintptr, n, offset uint64, kind int32) int32 {
	t := threadOf(thread)
	err := symbolKind(kind, false)
	if err != hip.Success {
		return int32(err)
	}
	p, err := within(t, host, offset, n)
	if err == hip.Success {
		err = runtime().Memcpy(t, hip.Ptr(dst), p, n, hip.MemcpyKind(kind))
	}
	return int32(err)
}

//export rw_hipMemcpyFromSymbolAsync
func rw_hipMemcpyFromSymbolAsync(thread uint64, dst, host uintptr, n, offset uint64, kind int32, stream uint64) int32 {
	t := threadOf(thread)
	err := symbolKind(kind, false)
	if err != hip.Success {
		return int32(err)
	}
	s, err := resolveStream(t, hip.Stream(stream))
	if err != hip.Success {
		return int32(err)
	}
	p, err := within(t, host, offset, n)
	if err == hip.Success {
		err = runtime().MemcpyAsync(t, hip.Ptr(dst), p, n, hip.MemcpyKind(kind), s)
	}
	return int32(err)
}
