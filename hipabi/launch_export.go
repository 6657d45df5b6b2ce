package hipabi

import "C"

import (
	"unsafe"

	"github.com/rocwire/rocwire/hip"
)

// moduleLaunch is the launch of a function by its handle.
func moduleLaunch(h uint64) (*launch, hip.Error) {
	f := modules.function(hip.Function(h))
	if f == nil {
		return nil, hip.ErrorInvalidHandle
	}
	return start(f), hip.Success
}

// send is the end of every launch.
func (l *launch) send(t hip.Thread, stream uint64, params, extra unsafe.Pointer) hip.Error {
	err := l.args(params, extra)
	if err == hip.Success {
		err = l.on(t, stream)
	}
	if err == hip.Success {
		err = runtime().LaunchKernel(t, &l.Launch)
	}
	return err
}

//export rw_hipModuleLaunchKernel
func rw_hipModuleLaunchKernel(thread uint64, h uint64, gx, gy, gz, bx, by, bz, shared uint32, stream uint64, params, extra unsafe.Pointer) int32 {
	l, err := moduleLaunch(h)
	if err != hip.Success {
		return int32(err)
	}
	defer l.done()
	if err = l.moduleGrid(hip.Dim3{X: gx, Y: gy, Z: gz}, hip.Dim3{X: bx, Y: by, Z: bz}, uint64(shared)); err == hip.Success {
		err = l.send(threadOf(thread), stream, params, extra)
	}
	return int32(err)
}

//export rw_hipModuleLaunchCooperativeKernel
func rw_hipModuleLaunchCooperativeKernel(thread uint64, h uint64, gx, gy, gz, bx, by, bz, shared uint32, stream uint64, params unsafe.Pointer) int32 {
	l, err := moduleLaunch(h)
	if err != hip.Success {
		return int32(err)
	}
	defer l.done()
	err = l.grid(hip.Dim3{X: gx, Y: gy, Z: gz}, hip.Dim3{X: bx, Y: by, Z: bz}, uint64(shared))
	if err == hip.Success {
		err = l.cooperative()
	}
	if err == hip.Success {
		err = l.send(threadOf(thread), stream, params, nil)
	}
	return int32(err)
}

//export rw_hipExtModuleLaunchKernel
func rw_hipExtModuleLaunchKernel(thread uint64, h uint64, gx, gy, gz, bx, by, bz uint32, shared uint64, stream uint64, params, extra unsafe.Pointer, startEvent, stopEvent uint64, flags uint32) int32 {
	l, err := moduleLaunch(h)
	if err != hip.Success {
		return int32(err)
	}
	defer l.done()
	l.Start, l.Stop = hip.Event(startEvent), hip.Event(stopEvent)
	if err = l.global(hip.Dim3{X: gx, Y: gy, Z: gz}, hip.Dim3{X: bx, Y: by, Z: bz}, shared); err == hip.Success {
		err = l.send(threadOf(thread), stream, params, extra)
	}
	return int32(err)
}

//export rw_hipHccModuleLaunchKernel
func rw_hipHccModuleLaunchKernel(thread uint64, h uint64, gx, gy, gz, bx, by, bz uint32, shared uint64, stream uint64, params, extra unsafe.Pointer, startEvent, stopEvent uint64) int32 {
	return rw_hipExtModuleLaunchKernel(thread, h, gx, gy, gz, bx, by, bz, shared, stream, params, extra, startEvent, stopEvent, 0)
}

// hostLaunch is the launch of a kernel that the program names by a host function, or
// by its handle, as libraries of HIP 7 give it:
// on the device of the stream, whichever is the thread's. It becomes t's.
func hostLaunch(t *hip.Thread, fn uintptr, stream uint64) (*launch, hip.Error) {
	if s := hip.Stream(stream); s > hip.StreamPerThread {
		if d, err := runtime().StreamGetDevice(*t, s); err == hip.Success {
			t.Device = d // no stream at all is judged with the launch
		}
	}
	f, _, err := kernelOf(*t, fn)
	if err != hip.Success {
		return nil, err
	}
	return start(f), hip.Success
}

//export rw_hipLaunchKernel
func rw_hipLaunchKernel(thread uint64, fn uintptr, grid, block unsafe.Pointer, args unsafe.Pointer, shared uint64, stream uint64) int32 {
	return rw_hipExtLaunchKernel(thread, fn, grid, block, args, shared, stream, 0, 0, 0)
}

//export rw_hipExtLaunchKernel
func rw_hipExtLaunchKernel(thread uint64, fn uintptr, grid, block unsafe.Pointer, args unsafe.Pointer, shared uint64, stream uint64, startEvent, stopEvent uint64, flags int32) int32 {
	t := threadOf(thread)
	l, err := hostLaunch(&t, fn, stream)
	if err != hip.Success {
		return int32(err)
	}
	defer l.done()
	l.Start, l.Stop = hip.Event(startEvent), hip.Event(stopEvent)
	if err = l.grid(*(*hip.Dim3)(grid), *(*hip.Dim3)(block), shared); err == hip.Success {
		err = l.send(t, stream, args, nil)
	}
	return int32(err)
}

//export rw_hipLaunchCooperativeKernel
func rw_hipLaunchCooperativeKernel(thread uint64, fn uintptr, grid, block unsafe.Pointer, args unsafe.Pointer, shared uint32, stream uint64) int32 {
	t := threadOf(thread)
	if _, err := deviceOf(t, hip.Stream(stream)); err != hip.Success {
		return int32(hip.ErrorContextIsDestroyed) // where other launches say ErrorInvalidValue
	}
	l, err := hostLaunch(&t, fn, stream)
	if err != hip.Success {
		return int32(symbolError(fn, err))
	}
	defer l.done()
	err = l.cooperativeGrid(*(*hip.Dim3)(grid), *(*hip.Dim3)(block), uint64(shared))
	if err == hip.Success {
		err = l.cooperative()
	}
	if err == hip.Success {
		err = l.send(t, stream, args, nil)
	}
	return int32(err)
}

// rw_launchByPtr is hipLaunchByPtr: the arguments are already laid out.
//
//export rw_launchByPtr
func rw_launchByPtr(thread uint64, fn uintptr, grid, block unsafe.Pointer, shared uint64, stream uint64, args unsafe.Pointer, size uint64) int32 {
	t := threadOf(thread)
	l, err := hostLaunch(&t, fn, stream)
	if err != hip.Success {
		return int32(err)
	}
	defer l.done()
	err = l.grid(*(*hip.Dim3)(grid), *(*hip.Dim3)(block), shared)
	if err == hip.Success {
		err = l.packed(args, size)
	}
	if err == hip.Success {
		err = l.on(t, stream)
	}
	if err == hip.Success {
		err = runtime().LaunchKernel(t, &l.Launch)
	}
	return int32(err)
}
