// Package hipremote is a [hip.Runtime] whose GPUs are on another machine: the client of a worker.
//
// A client connects when it is first used. Device pointers have the same value here and on the worker, because both reserve the same
// range of addresses; so nothing is ever translated. Calls that only queue work are posted and cost no round trip, nor does hipMalloc
// while the client has credit; their failures come back as asynchronous errors, which the next call that HIP allows to return them
// returns.
//
// # Host memory
//
// Memory of hipHostMalloc, hipMallocManaged and hipHostRegister is memory of this process. For copies it is ordinary memory. Once a kernel
// may use it (its address appears among a launch's arguments or in a small copy, hipHostGetDevicePointer was asked, or it is managed), the
// worker holds a copy of it at its device address, and what either side wrote travels at HIP's synchronization points: here to
// there before a launch or copy, there to here when a synchronizing call returns. Only changed bytes travel, so both sides may
// write different bytes of one page. Limits: while a kernel runs neither side sees what the other writes (no fine-grained coherence, no
// atomics across); memory that kernels reach only through pointers that no launch argument and no copy up to 1 MiB contained gives
// hipErrorIllegalAddress, unless ROCWIRE_HOST_MEMORY=eager; what kernels use counts as device memory. HostRegister'ed memory has a
// device address of its own (hipHostGetDevicePointer).
//
// # Trust
//
// The worker is not trusted with this process: it can write only where a call of this process asked for data, every length is checked, and
// codes that HIP does not know become hipErrorUnknown.
package hipremote
