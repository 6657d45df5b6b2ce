package provider

/*
#cgo CFLAGS: -std=gnu11 -Wall -Wextra -fvisibility=default
#include "callback.h"
#include "gotopology.h"
#include "virtualgpu.h"
*/
import "C"

import (
	"context"
	"os"
	"runtime/debug"
	"unsafe"

	"github.com/rocwire/rocwire/smi"
)

// theHost is this process's.
var theHost = func() *host {
	h := newHost(nil, logger(os.Getenv))
	h.ledger.file = stateFile(os.Getenv)
	return h
}()

// SetOpener says where the figures come from. It is called by the first use of the
// library, and by the first after AccelShutdown.
func SetOpener(open Opener) {
	theHost.mu.Lock()
	defer theHost.mu.Unlock()
	theHost.opener = open
}

// call answers one call of an export with the open library, and never panics.
func call(name string, f func(ctx context.Context, l *library) (result, error)) C.AccelResult {
	return guarded(name, func() (result, error) {
		l, err := theHost.init(false)
		if err != nil {
			return resultOf(err), nil // was told
		}
		ctx, cancel := context.WithTimeout(l.ctx, patience)
		defer cancel()
		return f(ctx, l)
	})
}

// change is call for what changes a card, which takes longer, and may open the library
// anew.
func change(name string, f func(ctx context.Context, l *library) error) C.AccelResult {
	return call(name, func(_ context.Context, l *library) (result, error) {
		ctx, cancel := context.WithTimeout(context.Background(), changePatience)
		defer cancel()
		err := f(ctx, l)
		return resultOf(err), err
	})
}

func guarded(name string, f func() (result, error)) (r C.AccelResult) {
	defer messages.deliver()
	defer func() {
		if p := recover(); p != nil {
			theHost.log.Error("a call failed inside", "call", name, "panic", p, "stack", string(debug.Stack()))
			r = C.AccelResult(internalError)
		}
	}()
	res, err := f()
	if err != nil {
		theHost.log.Warn("a call failed", "call", name, "error", err)
	}
	return C.AccelResult(res)
}

//export rwAccelInit
func rwAccelInit() C.AccelResult {
	return guarded("AccelInit", func() (result, error) {
		_, err := theHost.init(true)
		return resultOf(err), nil
	})
}

//export rwAccelShutdown
func rwAccelShutdown() C.AccelResult {
	return guarded("AccelShutdown", func() (result, error) {
		theHost.shutdown()
		return success, nil
	})
}

//export rwAccelDeviceCount
func rwAccelDeviceCount(n *C.size_t) C.AccelResult {
	return call("AccelGetDeviceCount", func(ctx context.Context, l *library) (result, error) {
		cards, _, err := l.cards(ctx)
		*n = C.size_t(len(cards))
		return resultOf(err), err
	})
}

//export rwAccelDevices
func rwAccelDevices(to *C.ExtendedDeviceInfo, most C.size_t, n *C.size_t) C.AccelResult {
	return call("AccelGetAllDevices", func(ctx context.Context, l *library) (result, error) {
		list, err := theHost.devices(ctx, l)
		out := array(to, most, maxCards, len(list))
		for i := range out {
			list[i].write(&out[i])
		}
		*n = C.size_t(len(out))
		return resultOf(err), err
	})
}

//export rwAccelTopology
func rwAccelTopology(to *C.ExtendedDeviceTopology) C.AccelResult {
	return call("AccelGetAllDevicesTopology", func(ctx context.Context, l *library) (result, error) {
		rows, err := theHost.topology(ctx, l)
		if goTopology() {
			writeGoTopology((*C.GoExtendedDeviceTopology)(unsafe.Pointer(to)), rows)
		} else {
			writeTopology(to, rows)
		}
		return resultOf(err), err
	})
}

//export rwAccelAssign
func rwAccelAssign(templateID, uuid *C.char, to *C.PartitionResult) C.AccelResult {
	id, card := text(templateID), text(uuid)
	return change("AccelAssignPartition", func(ctx context.Context, l *library) error {
		p, err := theHost.assign(ctx, l, id, card)
		if err == nil {
			p.write(to)
		}
		return err
	})
}

//export rwAccelRemove
func rwAccelRemove(id, uuid *C.char) C.AccelResult {
	part, card := text(id), text(uuid)
	return change("AccelRemovePartition", func(ctx context.Context, l *library) error {
		return theHost.remove(ctx, l, part, card)
	})
}

//export rwAccelLimitMemory
func rwAccelLimitMemory(uuid *C.char, bytes C.uint64_t) C.AccelResult {
	card := text(uuid)
	return change("AccelSetMemHardLimit", func(ctx context.Context, l *library) error {
		return theHost.limit(ctx, l, card, smi.Quota{Memory: smi.Some(smi.Bytes(bytes))})
	})
}

//export rwAccelLimitCompute
func rwAccelLimitCompute(uuid *C.char, percent C.uint32_t) C.AccelResult {
	card := text(uuid)
	return change("AccelSetComputeUnitHardLimit", func(ctx context.Context, l *library) error {
		return theHost.limit(ctx, l, card, smi.Quota{Compute: smi.Some(smi.Ratio(percent) / 100)})
	})
}

//export rwAccelProcesses
func rwAccelProcesses(to *C.ProcessInformation, most C.size_t, n *C.size_t) C.AccelResult {
	return call("AccelGetProcessInformation", func(ctx context.Context, l *library) (result, error) {
		list, err := theHost.processes(ctx, l, int(min(most, maxProcesses)))
		out := array(to, most, maxProcesses, len(list))
		for i := range out {
			list[i].write(&out[i])
		}
		*n = C.size_t(len(out))
		return resultOf(err), err
	})
}

// rwAccelMetrics fills in what has its UUID already.
//
//export rwAccelMetrics
func rwAccelMetrics(to *C.DeviceMetrics, n C.size_t) C.AccelResult {
	return call("AccelGetDeviceMetrics", func(ctx context.Context, l *library) (result, error) {
		out := array(to, n, maxCards, maxCards)
		uuids := make([]string, len(out))
		for i := range out {
			uuids[i] = text(&out[i].deviceUUID[0])
		}
		list, err := theHost.metrics(ctx, l, uuids)
		for i, f := range list {
			if f != nil {
				f.write(&out[i])
			}
		}
		if err == nil {
			theHost.compare(ctx, l)
		}
		return resultOf(err), err
	})
}

//export rwAccelMounts
func rwAccelMounts(to *C.MountPath, most C.size_t, n *C.size_t) C.AccelResult {
	return guarded("AccelGetVendorMountLibs", func() (result, error) {
		list, bad := mounts(os.Getenv(mountsVariable))
		for _, b := range bad {
			theHost.log.Warn(mountsVariable+" has what is no path", "entry", b)
		}
		out := array(to, most, maxCards, len(list))
		for i := range out {
			clear(unsafe.Slice((*byte)(unsafe.Pointer(&out[i])), unsafe.Sizeof(out[i])))
			put(out[i].hostPath[:], list[i].host)
			put(out[i].guestPath[:], list[i].guest)
		}
		*n = C.size_t(len(out))
		return success, nil
	})
}
