package provider

/*
#include <string.h>
#include "gotopology.h"
#include "virtualgpu.h"
*/
import "C"

import (
	"strings"
	"unicode/utf8"
	"unsafe"
)

// array is a caller's array with room for most elements as a slice of n elements, or
// fewer: never more than limit, whatever the caller says.
func array[T any](p *T, most C.size_t, limit, n int) []T {
	return unsafe.Slice(p, min(int(min(most, C.size_t(limit))), max(n, 0)))
}

// text is a caller's text; what is longer than any that means something is cut.
func text(p *C.char) string {
	const most = 256
	return C.GoStringN(p, C.int(C.strnlen(p, most)))
}

// put writes a text into an array, with a NUL behind it, cut between two characters if
// it is too long. Nothing in it ends it early.
func put(to []C.char, s string) {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	for len(s) > len(to)-1 {
		_, n := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-n]
	}
	for i := range len(s) {
		to[i] = C.char(s[i])
	}
	clear(to[len(s):])
}

func (d *device) write(to *C.ExtendedDeviceInfo) {
	*to = C.ExtendedDeviceInfo{}
	b := &to.basic
	put(b.uuid[:], d.uuid)
	put(b.vendor[:], vendor)
	put(b.model[:], d.model)
	put(b.driverVersion[:], d.driver)
	put(b.firmwareVersion[:], d.firmware)
	put(b.deviceNode[:], d.node)
	b.index, b.numaNode = C.int32_t(d.index), C.int32_t(d.numa)
	b.totalMemoryBytes, b.totalComputeUnits, b.maxTflops = C.uint64_t(d.memory), C.uint64_t(d.units), C.double(d.tflops)
	b.pcieGen, b.pcieWidth = C.uint32_t(d.pcieGen), C.uint32_t(d.pcieWidth)
	writeProperties(&to.props, d.properties)
	writeCapabilities(&to.virtualizationCapabilities, d.capabilities)
}

func (d *device) writeVgpu(to *C.VgpuExtendedDeviceInfo) {
	*to = C.VgpuExtendedDeviceInfo{}
	b := &to.basic
	put(b.uuid[:], d.uuid)
	put(b.vendor[:], vendor)
	put(b.model[:], d.model)
	put(b.driverVersion[:], d.driver)
	put(b.firmwareVersion[:], d.firmware)
	b.index, b.numaNode = C.int32_t(d.index), C.int32_t(d.numa)
	b.totalMemoryBytes, b.totalComputeUnits, b.maxTflops = C.uint64_t(d.memory), C.uint64_t(d.units), C.double(d.tflops)
	b.pcieGen, b.pcieWidth = C.uint32_t(d.pcieGen), C.uint32_t(d.pcieWidth)
	list := d.properties
	if d.node != "" { // which has no place of its own here
		list = append([]property{{"renderDevice", d.node}}, list...)
	}
	writeProperties(&to.props, list)
	writeCapabilities(&to.virtualizationCapabilities, d.capabilities)
}

func writeProperties(to *C.DeviceProperties, list []property) {
	list = list[:min(len(list), len(to.properties))]
	for i, p := range list {
		put(to.properties[i].key[:], p.key)
		put(to.properties[i].value[:], p.value)
	}
	to.count = C.size_t(len(list))
}

func writeCapabilities(to *C.VirtualizationCapabilities, c capabilities) {
	to.supportsPartitioning = C.bool(c.partitioning)
	to.supportsHardIsolation = C.bool(c.limits)
	to.supportsMetrics = true
	to.supportsRemoting = true
	to.maxPartitions, to.maxWorkersPerDevice = C.uint32_t(c.maxPartitions), C.uint32_t(c.maxSessions)
}

func writeTopology(to *C.ExtendedDeviceTopology, rows []row) {
	rows = rows[:min(len(rows), len(to.devices))]
	for i := range rows {
		r, d := &rows[i], &to.devices[i]
		*d = C.DeviceTopologyInfo{}
		put(d.deviceUUID[:], r.uuid)
		d.deviceIndex, d.numaNode = C.int32_t(r.index), C.int32_t(r.numa)
		peers := r.peers[:min(len(r.peers), len(d.peers))]
		for k, p := range peers {
			put(d.peers[k].peerUUID[:], p.uuid)
			d.peers[k].peerIndex, d.peers[k].topoLevel = C.int32_t(p.index), C.TopoLevelType(p.level)
		}
		d.peerCount = C.size_t(len(peers))
	}
	to.deviceCount = C.size_t(len(rows))
}

func writeGoTopology(to *C.GoExtendedDeviceTopology, rows []row) {
	rows = rows[:min(len(rows), len(to.devices))]
	for i := range rows {
		r, d := &rows[i], &to.devices[i]
		*d = C.GoDeviceTopologyInfo{}
		put(d.deviceUUID[:], r.uuid)
		d.deviceIndex, d.numaNode = C.int32_t(r.index), C.int32_t(r.numa)
		peers := r.peers[:min(len(r.peers), len(d.peers))]
		for k, p := range peers {
			put(d.peers[k].peerUUID[:], p.uuid)
			d.peers[k].peerIndex, d.peers[k].topoLevel = C.int32_t(p.index), C.TopoLevelType(p.level)
			d.peers[k].bandwidthBytesPerSec = C.int64_t(p.bandwidth)
		}
		d.peerCount = C.size_t(len(peers))
	}
	to.deviceCount = C.size_t(len(rows))
}

func (p *partition) write(to *C.PartitionResult) {
	to._type = C.PARTITION_TYPE_ENVIRONMENT_VARIABLE
	if len(p.nodes) > 0 {
		to._type = C.PARTITION_TYPE_DEVICE_NODE
	}
	put(to.deviceUUID[:], p.uuid)
	for i, e := range p.envs[:min(len(p.envs), len(to.envVars))] {
		put(to.envVars[i][:], e)
	}
	for i, n := range p.nodes[:min(len(p.nodes), len(to.deviceNodes))] {
		put(to.deviceNodes[i][:], n+"="+n)
	}
}

func (p *process) write(to *C.ProcessInformation) {
	*to = C.ProcessInformation{}
	put(to.processId[:], p.id)
	put(to.deviceUUID[:], p.uuid)
	to.computeUtilizationPercent, to.memoryUtilizationPercent = C.double(p.busy), C.double(p.memory)
	to.activeSMs, to.totalSMs = C.uint64_t(p.active), C.uint64_t(p.units)
	to.memoryUsedBytes, to.memoryReservedBytes = C.uint64_t(p.used), C.uint64_t(p.reserved)
}

func (f *figures) write(to *C.DeviceMetrics) {
	to.powerUsageWatts, to.temperatureCelsius = C.double(f.watts), C.double(f.celsius)
	to.pcieRxBytes, to.pcieTxBytes = C.uint64_t(f.rx), C.uint64_t(f.tx)
	to.utilizationPercent, to.memoryUsedBytes = C.uint32_t(f.busy), C.uint64_t(f.used)
	extra := f.extra[:min(len(f.extra), len(to.extraMetrics))]
	for i, x := range extra {
		put(to.extraMetrics[i].key[:], x.key)
		to.extraMetrics[i].value = C.double(finite(x.value))
	}
	to.extraMetricsCount = C.size_t(len(extra))
}
