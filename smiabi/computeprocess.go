package smiabi

import (
	"math"
	"unsafe"
)

// computing are the processes of all cards, by PID, and the cards of each. A card that
// does not tell is passed over, if any does.
func (c call) computing() (map[uint32]*processInfo, map[uint32][]uint32, status) {
	all, cards := map[uint32]*processInfo{}, map[uint32][]uint32{}
	var failed status
	told := len(c.lib.devices) == 0
	for i := range c.lib.devices {
		ps, st := c.at(i).processes()
		if st != AMDSMI_STATUS_SUCCESS {
			failed = st
			continue
		}
		told = true
		units := 0
		if info, st := c.at(i).info(); st == AMDSMI_STATUS_SUCCESS {
			units = info.ASIC.ComputeUnits.Or(0)
		}
		for j := range ps {
			p := all[ps[j].PID]
			if p == nil {
				p = &processInfo{processID: ps[j].PID, cuOccupancy: math.MaxUint32, evictedTime: math.MaxUint32, sdmaUsage: math.MaxUint64}
				all[p.processID] = p
			}
			cards[p.processID] = append(cards[p.processID], uint32(i))
			p.vramUsage += uint64(ps[j].VRAM.Or(0)) / mebi
			add(&p.sdmaUsage, in[uint64](ps[j].SDMA, usInNS))
			add(&p.evictedTime, in[uint32](ps[j].Evicted, msInNS))
			if n, ok := ps[j].CUOccupancy.Get(); ok && units > 0 {
				add(&p.cuOccupancy, clamp[uint32](100*float64(n)/float64(units)))
			}
		}
	}
	if !told {
		return nil, nil, failed
	}
	return all, cards, AMDSMI_STATUS_SUCCESS
}

// add adds to a sum what is available.
func add[N number](sum *N, v N) {
	switch {
	case v == ^N(0):
	case *sum == ^N(0):
		*sum = v
	default:
		*sum += v
	}
}

// amdsmiGetGPUComputeProcessInfo lists the processes of all cards: memory in MiB, SDMA
// time in µs, occupied compute units in percent, evicted time in ms.
func amdsmiGetGPUComputeProcessInfo(c call, procs *processInfo, n *uint32) status {
	all, _, st := c.computing()
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	if procs == nil {
		*n = uint32(len(all))
		return AMDSMI_STATUS_SUCCESS
	}
	short := int(*n) < len(all)
	*n = min(*n, uint32(len(all)))
	dst := unsafe.Slice(procs, *n)
	for i, pid := range sortedKeys(all) {
		if i < len(dst) {
			dst[i] = *all[pid]
		}
	}
	if short {
		return AMDSMI_STATUS_INSUFFICIENT_SIZE
	}
	return AMDSMI_STATUS_SUCCESS
}

// amdsmiGetGPUComputeProcessInfoByPid is one process of them.
func amdsmiGetGPUComputeProcessInfoByPid(c call, pid uint32, proc *processInfo) status {
	all, _, st := c.computing()
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	if all[pid] == nil {
		return AMDSMI_STATUS_NOT_FOUND
	}
	*proc = *all[pid]
	return AMDSMI_STATUS_SUCCESS
}

// amdsmiGetGPUComputeProcessGpus lists the cards, by index, that a process uses.
func amdsmiGetGPUComputeProcessGpus(c call, pid uint32, indices *uint32, n *uint32) status {
	_, cards, st := c.computing()
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	mine := cards[pid]
	if len(mine) == 0 {
		return AMDSMI_STATUS_NOT_FOUND
	}
	if indices == nil {
		*n = uint32(len(mine))
		return AMDSMI_STATUS_SUCCESS
	}
	short := int(*n) < len(mine)
	*n = min(*n, uint32(len(mine)))
	copy(unsafe.Slice(indices, *n), mine)
	if short {
		return AMDSMI_STATUS_INSUFFICIENT_SIZE
	}
	return AMDSMI_STATUS_SUCCESS
}
