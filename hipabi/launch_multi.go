package hipabi

import "C"

import (
	"unsafe"

	"github.com/rocwire/rocwire/hip"
)

// multiLaunch is one launch on several devices.
type multiLaunch struct {
	t     hip.Thread
	parts []*launch
	seen  map[*device]bool
}

func (m *multiLaunch) done() {
	for _, l := range m.parts {
		l.done()
	}
}

// shaped judges what is looked at before the kernel of a part: where it is
// launched, and workgroups of nothing.
func shaped(block hip.Dim3, stream hip.Stream) hip.Error {
	switch {
	case block.X == 0 || block.Y == 0 || block.Z == 0:
		return hip.ErrorInvalidConfiguration
	case stream == hip.StreamNull:
		return hip.ErrorInvalidHandle
	}
	return hip.Success
}

// add takes the part of one device: f on a stream of it.
func (m *multiLaunch) add(f *function, grid, block hip.Dim3, shared uint64, stream hip.Stream, args hip.Ptr, cooperative bool) hip.Error {
	l := start(f)
	m.parts = append(m.parts, l)
	if m.seen[l.dev] {
		return hip.ErrorInvalidDevice
	}
	m.seen[l.dev] = true
	err := l.grid(grid, block, shared)
	if err == hip.Success && cooperative {
		err = l.cooperative()
	}
	if err == hip.Success {
		err = l.params(pointer(uintptr(args)))
	}
	if err == hip.Success {
		err = l.on(m.t, uint64(stream))
	}
	return err
}

func (m *multiLaunch) send(flags uint32) hip.Error {
	list := make([]hip.Launch, len(m.parts))
	for i, l := range m.parts {
		list[i] = l.Launch
	}
	return runtime().LaunchKernelMultiDevice(m.t, list, flags)
}

// deviceOf is the device of a stream, which must be one.
func deviceOf(t hip.Thread, s hip.Stream) (int32, hip.Error) {
	if s <= hip.StreamPerThread {
		return t.Device, hip.Success
	}
	d, err := runtime().StreamGetDevice(t, s)
	if err != hip.Success {
		return 0, hip.ErrorInvalidValue
	}
	return d, hip.Success
}

// multiCount checks the number of devices.
func multiCount(list unsafe.Pointer, n int64) hip.Error {
	devices, err := runtime().GetDeviceCount()
	switch {
	case err != hip.Success:
		return err
	case list == nil, n <= 0, n > int64(devices):
		return hip.ErrorInvalidValue
	}
	return hip.Success
}

// multiFlags checks the flags.
func multiFlags(flags uint32) hip.Error {
	if flags > hip.CooperativeLaunchMultiDeviceNoPreSync|hip.CooperativeLaunchMultiDeviceNoPostSync {
		return hip.ErrorInvalidValue
	}
	return hip.Success
}

// launchHostFunctions is a launch of kernels that are named by host functions,
// each on the device of its stream.
func launchHostFunctions(thread uint64, list unsafe.Pointer, n int32, flags uint32, cooperative bool) hip.Error {
	if err := multiCount(list, int64(n)); err != hip.Success {
		return err
	}
	m := &multiLaunch{t: threadOf(thread), seen: map[*device]bool{}}
	defer m.done()
	parts := unsafe.Slice((*hip.LaunchParams)(list), n)
	functions := make([]*function, n)
	for i, p := range parts {
		d, err := deviceOf(m.t, p.Stream)
		if err != hip.Success {
			return err
		}
		functions[i], err = registered.function(hip.Thread{ID: m.t.ID, Device: d}, uintptr(p.Func))
		if err == hip.ErrorInvalidDeviceFunction {
			err = hip.ErrorInvalidSymbol // what AMD's library calls it here
		}
		if err != hip.Success {
			return err
		}
	}
	if err := multiFlags(flags); err != hip.Success {
		return err
	}
	for i, p := range parts {
		err := shaped(p.BlockDim, p.Stream)
		if err == hip.Success {
			err = m.add(functions[i], p.GridDim, p.BlockDim, p.SharedMem, p.Stream, p.Args, cooperative)
		}
		if err != hip.Success {
			return err
		}
	}
	return m.send(flags)
}

//export rw_hipExtLaunchMultiKernelMultiDevice
func rw_hipExtLaunchMultiKernelMultiDevice(thread uint64, list unsafe.Pointer, n int32, flags uint32) int32 {
	return int32(launchHostFunctions(thread, list, n, flags, false))
}

//export rw_hipLaunchCooperativeKernelMultiDevice
func rw_hipLaunchCooperativeKernelMultiDevice(thread uint64, list unsafe.Pointer, n int32, flags uint32) int32 {
	return int32(launchHostFunctions(thread, list, n, flags, true))
}

//export rw_hipModuleLaunchCooperativeKernelMultiDevice
func rw_hipModuleLaunchCooperativeKernelMultiDevice(thread uint64, list unsafe.Pointer, n, flags uint32) int32 {
	err := multiCount(list, int64(n))
	if err == hip.Success {
		err = multiFlags(flags)
	}
	if err != hip.Success {
		return int32(err)
	}
	m := &multiLaunch{t: threadOf(thread), seen: map[*device]bool{}}
	defer m.done()
	parts := unsafe.Slice((*hip.FunctionLaunchParams)(list), n)
	block := func(p *hip.FunctionLaunchParams) hip.Dim3 {
		return hip.Dim3{X: p.BlockDimX, Y: p.BlockDimY, Z: p.BlockDimZ}
	}
	for i := range parts {
		p := &parts[i]
		if _, err := deviceOf(m.t, p.HStream); err != hip.Success {
			return int32(err)
		}
		if err := shaped(block(p), p.HStream); err != hip.Success {
			return int32(err)
		}
	}
	for i := range parts {
		p := &parts[i]
		f := modules.function(p.Function)
		if f == nil {
			return int32(hip.ErrorInvalidHandle)
		}
		err := m.add(f, hip.Dim3{X: p.GridDimX, Y: p.GridDimY, Z: p.GridDimZ}, block(p), uint64(p.SharedMemBytes), p.HStream, p.KernelParams, true)
		if err != hip.Success {
			return int32(err)
		}
	}
	return int32(m.send(flags))
}
