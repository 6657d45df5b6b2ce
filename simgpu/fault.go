package simgpu

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu/exec"
)

// nilDereference is what Go says of an access to the first page of addresses: it is a pointer like any other here, but no fault with an address.
const nilDereference = "runtime error: invalid memory address or nil pointer dereference"

// guard runs f, which touches device memory or memory at an address that a
// program gave. It returns the address where that faulted, 0 for none.
func guard(f func()) (addr uint64) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		e := recover()
		if e == nil {
			return
		}
		re, ok := e.(runtime.Error)
		if !ok {
			panic(e)
		}
		if a, ok := re.(interface{ Addr() uintptr }); ok {
			addr = max(uint64(a.Addr()), 1)
			return
		}
		if re.Error() != nilDereference {
			panic(e)
		}
		addr = 1
	}()
	f()
	return 0
}

// faultError is the HIP error of a kernel's fault.
func faultError(err error) hip.Error {
	switch {
	case errors.Is(err, exec.ErrMemory):
		return hip.ErrorIllegalAddress
	case errors.Is(err, exec.ErrInstruction):
		return hip.ErrorIllegalState
	}
	return hip.ErrorLaunchFailure
}

// kernelFault ends the context of d because of what a kernel did.
func (d *device) kernelFault(st *stream, err error) {
	if err == nil || d.status() != hip.Success && errors.Is(err, errClosed) {
		return
	}
	detail := err.Error()
	var f *exec.Fault
	errors.As(err, &f)
	if f != nil && f.PC != 0 {
		detail += d.r.sourceOf(f.PC)
	}
	if f != nil && f.Kind == exec.MemoryFault {
		near := d.r.neighbour(f.Addr)
		detail += " (" + near + ")"
		d.meter.Faulted(f.Addr, fmt.Sprintf("%s; by %q%s, workgroup (%d,%d,%d), wave %d, lane %d", near, f.Inst, d.r.sourceOf(f.PC),
			f.Workgroup[0], f.Workgroup[1], f.Workgroup[2], f.Wave, f.Lane))
	}
	d.fail(st, faultError(err), detail)
}

// fail ends the context of d with an error and tells about it, once, and before any
// call answers with it: a program that ends when it has its answer has heard why.
func (d *device) fail(st *stream, e hip.Error, detail string) {
	d.failing.Lock()
	defer d.failing.Unlock()
	if d.status() != hip.Success {
		return
	}
	d.r.o.Logf("simgpu: card %d: %s: %s", d.id, e.Name(), detail)
	d.r.o.OnAsyncError(d.id, st.handle, e, detail)
	d.end(e, e)
}

// copyFault is the error of a copy that faulted at addr: the context's end if
// that is device memory (it was freed while the copy ran), otherwise only this
// call's.
func (d *device) copyFault(st *stream, what string, addr uint64) hip.Error {
	if s := d.r.space.Load(); s == nil || !s.Contains(addr, 1) {
		d.r.o.Logf("simgpu: card %d: %s: host address %#x cannot be accessed", d.id, what, addr)
		return hip.ErrorInvalidValue
	}
	d.fail(st, hip.ErrorIllegalAddress, fmt.Sprintf("%s faulted at address %#x (%s)", what, addr, d.r.neighbour(addr)))
	return hip.ErrorIllegalAddress
}
