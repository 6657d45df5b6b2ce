// Package hostcall serves what kernels ask their host for: printf, assert's
// message, memory for malloc. It knows the formats that AMD's device library
// writes, and no runtime.
//
//	Buffer    requests of running kernels: packets in device memory
//	Messages  what a printf is put together from, packet by packet
//	Format    printf's text
//	Records   what -mprintf-kind=buffered leaves in a buffer for after the kernel
//
// # A request
//
// A wave takes a packet off the free stack, fills in the service and eight
// words for each of its lanes, pushes it onto the ready stack, adds to the
// doorbell signal, and waits until the packet's READY bit is off. Two words for
// each lane are the answer. The wave then gives the packet back.
//
// # Trust
//
// Kernels write all of this whenever they like. The host keeps its own idea of where
// things lie, reads each word once, follows no address out of device memory,
// and bounds what it keeps and writes.
package hostcall
