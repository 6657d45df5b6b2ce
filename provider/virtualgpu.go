package provider

/*
#include "virtualgpu.h"
*/
import "C"

import (
	"context"
	"strings"
	"unsafe"
)

// The calls of January 2026 whose types were others.

//export rwVgpuDevices
func rwVgpuDevices(to *C.VgpuExtendedDeviceInfo, most C.size_t, n *C.size_t) C.AccelResult {
	return call("GetAllDevices", func(ctx context.Context, l *library) (result, error) {
		list, err := theHost.devices(ctx, l)
		out := array(to, most, maxCards, len(list))
		for i := range out {
			list[i].writeVgpu(&out[i])
		}
		*n = C.size_t(len(out))
		return resultOf(err), err
	})
}

// rwVgpuTopology writes a row for each index that is a card's.
//
//export rwVgpuTopology
func rwVgpuTopology(indices *C.int32_t, n C.size_t, to *C.VgpuExtendedDeviceTopology) C.AccelResult {
	return call("GetDeviceTopology", func(ctx context.Context, l *library) (result, error) {
		rows, err := theHost.topology(ctx, l)
		if err != nil {
			return resultOf(err), err
		}
		k := 0
		for _, i := range unsafe.Slice(indices, min(n, maxCards)) {
			if i < 0 || int(i) >= len(rows) {
				continue
			}
			put(to.devices[k].deviceUUID[:], rows[i].uuid)
			to.devices[k].numaNode = C.int32_t(rows[i].numa)
			k++
		}
		to.deviceCount = C.size_t(k)
		kind := "PCIe"
		if linked(rows) {
			kind = "XGMI"
		}
		put(to.topologyType[:], kind)
		return success, nil
	})
}

//export rwVgpuAssign
func rwVgpuAssign(a *C.VgpuPartitionAssignment) C.AccelResult {
	id, uuid := arrayText(a.templateId[:]), arrayText(a.deviceUUID[:])
	return change("AssignPartition", func(ctx context.Context, l *library) error {
		p, err := theHost.assign(ctx, l, id, uuid)
		if err != nil {
			return err
		}
		put(a.partitionUUID[:], p.uuid)
		// Device files have no place here; the environment says which they are.
		envs := p.envs
		if len(p.nodes) > 0 {
			envs = append(envs, "ROCWIRE_DEVICE_NODES="+strings.Join(p.nodes, ","))
		}
		k := 0
		for _, e := range envs[:min(len(envs), len(a.envVars))] {
			key, value, _ := strings.Cut(e, "=")
			put(a.envVars[k].key[:], key)
			put(a.envVars[k].value[:], value)
			k++
		}
		a.envVarCount = C.size_t(k)
		return nil
	})
}

// arrayText is the text in an array of a caller, that need not end with a NUL.
func arrayText(a []C.char) string {
	var b strings.Builder
	for _, c := range a {
		if c == 0 {
			break
		}
		b.WriteByte(byte(c))
	}
	return b.String()
}
