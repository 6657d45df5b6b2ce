package smiabi

import (
	"strconv"
	"unsafe"

	"github.com/rocwire/rocwire/smi"
)

// list is how AMD SMI lists things: without a buffer, how many there are; with one,
// as many as the caller's count says, and how many that were.
func list(count *uint32, buffer *handle, all []handle) status {
	if buffer == nil {
		*count = uint32(len(all))
		return AMDSMI_STATUS_SUCCESS
	}
	*count = min(*count, uint32(len(all)))
	copy(unsafe.Slice(buffer, *count), all)
	return AMDSMI_STATUS_SUCCESS
}

// amdsmiGetSocketHandles lists the sockets.
func amdsmiGetSocketHandles(c call, count *uint32, handles *handle) status {
	all := make([]handle, len(c.lib.sockets))
	for i := range all {
		all[i] = socketHandle(i)
	}
	return list(count, handles, all)
}

// socket is what a socket handle stands for.
func (c call) socket(h handle) (*socket, status) {
	if h == 0 {
		return nil, AMDSMI_STATUS_INVAL
	}
	i, ok := indexIn(h, socketHandle(0), len(c.lib.sockets))
	if !ok {
		return nil, AMDSMI_STATUS_NOT_FOUND
	}
	return &c.lib.sockets[i], AMDSMI_STATUS_SUCCESS
}

// amdsmiGetSocketInfo is a socket's name, cut to the buffer.
func amdsmiGetSocketInfo(c call, h handle, size uint64, name *byte) status {
	s, st := c.socket(h)
	if st == AMDSMI_STATUS_SUCCESS {
		putString(name, size, s.name)
	}
	return st
}

// amdsmiGetProcessorHandles lists the cards of a socket.
func amdsmiGetProcessorHandles(c call, h handle, count *uint32, handles *handle) status {
	return amdsmiGetProcessorHandlesByType(c, h, AMDSMI_PROCESSOR_TYPE_AMD_GPU, handles, count)
}

// amdsmiGetProcessorHandlesByType lists the processors of one kind of a socket. Those
// of kinds that this library does not look for are none: no error, as programs ask
// for every kind there is.
func amdsmiGetProcessorHandlesByType(c call, h handle, kind processorType, handles *handle, count *uint32) status {
	s, st := c.socket(h)
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	var all []handle
	if kind == AMDSMI_PROCESSOR_TYPE_AMD_GPU {
		for _, i := range s.cards {
			all = append(all, processorHandle(i))
		}
	}
	return list(count, handles, all)
}

// amdsmiGetNICProcessorHandles lists no network cards.
func amdsmiGetNICProcessorHandles(c call, h handle, count *uint32, handles *handle) status {
	return amdsmiGetProcessorHandlesByType(c, h, AMDSMI_PROCESSOR_TYPE_AMD_NIC, handles, count)
}

// amdsmiGetCPUHandles lists no processors of the host.
func amdsmiGetCPUHandles(_ call, count *uint32, handles *handle) status {
	return list(count, handles, nil)
}

// amdsmiGetCpucoreHandles lists no cores of the host.
func amdsmiGetCpucoreHandles(_ call, count *uint32, handles *handle) status {
	return list(count, handles, nil)
}

// amdsmiGetCPUSocketCount is 0: the host of the cards may be another machine.
func amdsmiGetCPUSocketCount(_ call, count *uint32) status {
	*count = 0
	return AMDSMI_STATUS_SUCCESS
}

// amdsmiGetProcessorType says that a processor is a GPU.
func amdsmiGetProcessorType(_ card, kind *processorType) status {
	*kind = AMDSMI_PROCESSOR_TYPE_AMD_GPU
	return AMDSMI_STATUS_SUCCESS
}

// amdsmiGetProcessorInfo is a card's number, cut to the buffer.
func amdsmiGetProcessorInfo(c card, size uint64, name *byte) status {
	putString(name, size, strconv.Itoa(c.index))
	return AMDSMI_STATUS_SUCCESS
}

// amdsmiGetProcessorCountFromHandles counts the kinds of some processors.
func amdsmiGetProcessorCountFromHandles(c call, handles *handle, count, sockets, cores, gpus *uint32) status {
	for _, h := range unsafe.Slice(handles, *count) {
		if _, st := c.card(h); st != AMDSMI_STATUS_SUCCESS {
			return st
		}
	}
	*sockets, *cores, *gpus = 0, 0, *count
	return AMDSMI_STATUS_SUCCESS
}

// amdsmiGetProcessorHandleFromBDF finds a card by its PCI address.
func amdsmiGetProcessorHandleFromBDF(c call, address bdf, found *handle) status {
	for i, d := range c.lib.devices {
		if b, ok := d.BDF.Get(); ok && bdfOf(b) == address {
			*found = processorHandle(i)
			return AMDSMI_STATUS_SUCCESS
		}
	}
	return AMDSMI_STATUS_NOT_FOUND
}

// bdfOf is a PCI address as amdsmi_bdf_t has it: 3 bits of function, 5 of device, 8
// of bus, 48 of domain.
func bdfOf(b smi.BDF) bdf {
	return bdf(b.Function&7) | bdf(b.Device&31)<<3 | bdf(b.Bus)<<8 | bdf(b.Domain)<<16
}
