package rocm

/*
#include <stdlib.h>
#include "library.h"
*/
import "C"

import (
	"runtime"
	"unsafe"

	"github.com/rocwire/rocwire/hip"
)

// maxParts bounds the devices of one launch.
const maxParts = 64

// LaunchKernelMultiDevice is hipModuleLaunchCooperativeKernelMultiDevice, or, of
// kernels that are not cooperative, hipExtLaunchMultiKernelMultiDevice. That one
// takes host functions, which there are none of here, and does no more than
// launch one after the other and wait before and after: so does this.
func (r *Runtime) LaunchKernelMultiDevice(t hip.Thread, launches []hip.Launch, flags uint32) hip.Error {
	const noPreSync, noPostSync = hip.CooperativeLaunchMultiDeviceNoPreSync, hip.CooperativeLaunchMultiDeviceNoPostSync
	if len(launches) == 0 || len(launches) > maxParts || flags&^(noPreSync|noPostSync) != 0 {
		return hip.ErrorInvalidValue
	}
	devices := make([]int32, len(launches))
	offsets := make([][]uint32, len(launches))
	cooperative := 0
	seen := map[int32]bool{}
	for i := range launches {
		l := &launches[i]
		if l.Block.X == 0 || l.Block.Y == 0 || l.Block.Z == 0 {
			return hip.ErrorInvalidConfiguration
		}
		if l.Stream <= hip.StreamPerThread {
			return hip.ErrorInvalidHandle
		}
		var err hip.Error
		if offsets[i], err = r.arguments(l); err != hip.Success {
			return err
		}
		if devices[i], err = r.StreamGetDevice(t, l.Stream); err != hip.Success {
			return err
		}
		if seen[devices[i]] {
			return hip.ErrorInvalidDevice
		}
		seen[devices[i]] = true
		if l.Flags&hip.LaunchCooperative != 0 {
			cooperative++
		}
	}
	switch cooperative {
	case len(launches):
		return r.launchCooperative(t, launches, offsets, flags)
	case 0:
	default:
		return hip.ErrorInvalidValue
	}
	wait := func() (err hip.Error) {
		for i := range launches {
			if e := r.StreamSynchronize(t, launches[i].Stream); err == hip.Success {
				err = e
			}
		}
		return err
	}
	if flags&noPreSync == 0 {
		if err := wait(); err != hip.Success {
			return err
		}
	}
	for i := range launches {
		if err := r.LaunchKernel(hip.Thread{ID: t.ID, Device: devices[i]}, &launches[i]); err != hip.Success {
			return err
		}
	}
	if flags&noPostSync == 0 {
		return wait()
	}
	return hip.Success
}

// launchCooperative launches kernels whose grids wait for each other.
func (r *Runtime) launchCooperative(t hip.Thread, launches []hip.Launch, offsets [][]uint32, flags uint32) hip.Error {
	size := C.size_t(unsafe.Sizeof(C.struct_rocm_multi_part{}))
	list := (*C.struct_rocm_multi_part)(C.calloc(C.size_t(len(launches)), size))
	if list == nil {
		return hip.ErrorOutOfMemory
	}
	defer C.free(unsafe.Pointer(list))
	var pins runtime.Pinner // the list is C's and points at memory that is Go's
	defer pins.Unpin()
	for i, part := range unsafe.Slice(list, len(launches)) {
		l := &launches[i]
		part.launch = cLaunch(l)
		if len(l.Args) > 0 {
			pins.Pin(&l.Args[0])
			part.args = unsafe.Pointer(&l.Args[0])
		}
		if n := len(offsets[i]); n > 0 {
			pins.Pin(&offsets[i][0])
			part.offsets, part.count = (*C.uint32_t)(&offsets[i][0]), C.size_t(n)
		}
		unsafe.Slice(list, len(launches))[i] = part
	}
	r.telling.RLock()
	defer r.telling.RUnlock()
	places := make([]place, len(launches))
	for i := range launches {
		var err hip.Error
		if places[i], err = r.inOrder(t, launches[i].Stream); err != hip.Success {
			return err
		}
	}
	err := hip.Error(C.rocm_launch_multi(r.table, C.int32_t(t.Device), list, C.size_t(len(launches)), C.uint32_t(flags)))
	for i := range launches {
		places[i].told()
		err = r.queued(t, launches[i].Stream, launchCost(&launches[i]), err)
	}
	return err
}
