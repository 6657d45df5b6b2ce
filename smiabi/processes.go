package smiabi

import (
	"cmp"
	"slices"
	"unsafe"

	"github.com/rocwire/rocwire/smi"
)

// amdsmiGetGPUProcessList lists the processes of a card. *n is how many the caller's
// buffer holds, and becomes how many there are; 0 asks for that alone.
func amdsmiGetGPUProcessList(c card, n *uint32, list *procInfo) status {
	ps, st := c.processes()
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	room := *n
	*n = clamp[uint32](float64(len(ps)))
	if room == 0 || list == nil {
		return AMDSMI_STATUS_SUCCESS
	}
	dst := unsafe.Slice(list, min(room, *n))
	for i := range dst {
		dst[i] = shown(&ps[i])
	}
	if room < *n {
		return AMDSMI_STATUS_OUT_OF_RESOURCES
	}
	return AMDSMI_STATUS_SUCCESS
}

// shown is a process as AMD SMI shows it: memory in bytes, engine times in ns, evicted
// time in ms, SDMA time in µs. Memory and engine times that are not known are 0.
func shown(p *smi.Process) procInfo {
	vram, gtt, host := p.VRAM.Or(0), p.GTT.Or(0), p.HostMemory.Or(0)
	i := procInfo{
		pid: p.PID, mem: uint64(vram + gtt + host),
		engineUsage: procInfoEngineUsage{gfx: uint64(max(p.GFXTime.Or(p.Busy.Or(0)), 0)), enc: uint64(max(p.EncodeTime.Or(0), 0))},
		memoryUsage: procInfoMemoryUsage{vramMem: uint64(vram), gttMem: uint64(gtt), cpuMem: uint64(host)},
		cuOccupancy: in[uint32](p.CUOccupancy, one), evictedTime: in[uint32](p.Evicted, msInNS), sdmaUsage: in[uint64](p.SDMA, usInNS),
	}
	putText(i.name[:], p.Name)
	if k := p.Container; k != nil {
		putText(i.containerName[:], cmp.Or(k.Name, k.ID))
	}
	return i
}

// amdsmiGetGPUProcessListByPid lists the processes of several cards, each once, by
// ascending PID. *n is as for amdsmiGetGPUProcessList.
func amdsmiGetGPUProcessListByPid(c call, cards *handle, count uint32, procs *procInfoByPid, n *uint32) status {
	if count == 0 || count > most {
		return AMDSMI_STATUS_INVAL
	}
	byPID := map[uint32]*procInfoByPid{}
	for _, h := range unsafe.Slice(cards, count) {
		k, st := c.card(h)
		if st != AMDSMI_STATUS_SUCCESS {
			return st
		}
		ps, st := k.processes()
		if st != AMDSMI_STATUS_SUCCESS {
			return st
		}
		for i := range ps {
			one := shown(&ps[i])
			p := byPID[one.pid]
			if p == nil {
				p = &procInfoByPid{pid: one.pid, name: one.name, containerName: one.containerName}
				byPID[one.pid] = p
			}
			if int(p.numGpus) == len(p.gpus) {
				continue
			}
			p.gpus[p.numGpus] = procGPUEntry{
				gpuIndex: uint32(k.index), mem: one.mem, engineUsage: procGPUEntryEngineUsage(one.engineUsage),
				memoryUsage: procGPUEntryMemoryUsage(one.memoryUsage), cuOccupancy: one.cuOccupancy,
				evictedTime: one.evictedTime, sdmaUsage: one.sdmaUsage,
			}
			p.numGpus++
		}
	}
	room := *n
	*n = uint32(len(byPID))
	if procs == nil {
		return AMDSMI_STATUS_SUCCESS
	}
	dst := unsafe.Slice(procs, min(room, *n))
	for i, pid := range sortedKeys(byPID) {
		if i < len(dst) {
			dst[i] = *byPID[pid]
		}
	}
	if room < *n {
		return AMDSMI_STATUS_OUT_OF_RESOURCES
	}
	return AMDSMI_STATUS_SUCCESS
}

// sortedKeys are the keys of m, ascending.
func sortedKeys[V any](m map[uint32]V) []uint32 {
	keys := make([]uint32, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
