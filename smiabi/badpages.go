package smiabi

import (
	"unsafe"

	"github.com/rocwire/rocwire/smi"
)

// pageStates are the states of a bad page.
var pageStates = map[string]memoryPageStatus{
	smi.PageReserved:     AMDSMI_MEM_PAGE_STATUS_RESERVED,
	smi.PagePending:      AMDSMI_MEM_PAGE_STATUS_PENDING,
	smi.PageUnreservable: AMDSMI_MEM_PAGE_STATUS_UNRESERVABLE,
}

// amdsmiGetGPUBadPageInfo lists the pages out of use. Without a buffer it is how many
// there are; a caller says with *n how many its buffer holds.
func amdsmiGetGPUBadPageInfo(c card, n *uint32, records *retiredPageRecord) status {
	pages, st := c.badPages()
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	room := *n
	*n = clamp[uint32](float64(len(pages)))
	if records == nil {
		return AMDSMI_STATUS_SUCCESS
	}
	dst := unsafe.Slice(records, min(room, *n))
	for i := range dst {
		p := &pages[i]
		dst[i] = retiredPageRecord{pageAddress: p.Address, pageSize: uint64(p.Size), status: pageStates[p.State]}
	}
	if room < *n {
		return AMDSMI_STATUS_INSUFFICIENT_SIZE
	}
	return AMDSMI_STATUS_SUCCESS
}

// amdsmiGetGPUMemoryReservedPages is the same list.
func amdsmiGetGPUMemoryReservedPages(c card, n *uint32, records *retiredPageRecord) status {
	return amdsmiGetGPUBadPageInfo(c, n, records)
}

// amdsmiGetGPUBadPageThreshold is after how many bad pages the card is not to be used
// any more.
func amdsmiGetGPUBadPageThreshold(c card, threshold *uint32) status {
	e, st := c.ecc()
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	return put(threshold, e.BadPageLimit, one)
}
