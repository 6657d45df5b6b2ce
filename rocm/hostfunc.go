package rocm

/*
#include <stdint.h>
#include "library.h"
*/
import "C"

import (
	"runtime/cgo"

	"github.com/rocwire/rocwire/hip"
)

// LaunchHostFunc is hipLaunchHostFunc.
func (r *Runtime) LaunchHostFunc(t hip.Thread, s hip.Stream, f func()) hip.Error {
	wait := r.behind(t, s)
	h := cgo.NewHandle(func() {
		wait()
		f()
	})
	err := hip.Error(C.rocm_host_func(r.table, C.int32_t(t.Device), C.uint64_t(s), C.uintptr_t(h)))
	if err != hip.Success {
		h.Delete()
	}
	return err
}

//export rocmHostFunc
func rocmHostFunc(handle uintptr) {
	h := cgo.Handle(handle)
	f := h.Value().(func())
	h.Delete()
	f()
}
