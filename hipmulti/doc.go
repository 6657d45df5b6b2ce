// Package hipmulti is a [hip.Runtime] whose devices are those of several workers, one after the other: one list, one runtime, although each worker
// has a connection and a session of its own.
//
// # What tells the worker
//
// The generated methods (zz_methods.go) find out which worker a call is for from its arguments, in this order: a handle, an address of device memory
// (only if the call names no stream), the number of a device, and the calling thread's device. Handles carry the worker's number in their highest byte.
// All workers reserve the same range of device addresses and have parts of it for their own (hipremote.Space), so an address tells its worker by where
// it lies. A call whose handles are of different workers gets what HIP answers to a handle that is none.
//
// What the arguments cannot tell, or what several workers have a part in, is written by hand: copies, host memory, waiting for another worker's event.
//
// # Between workers
//
// Devices of different workers cannot access each other's memory (hipDeviceCanAccessPeer answers 0), but every copy between them works: through
// memory of this process, in pieces, read and written at the same time. An asynchronous one takes its turn on its stream, as a host function of it. A
// stream that waits for another worker's event waits in a host function, too.
//
// Host memory that kernels may use is memory of this process at one address; each worker whose kernels use it has a copy, see package hipremote.
//
// # Failures
//
// A worker that ends takes its devices with it: calls that need them answer hipErrorNotInitialized, the others go on. What was to run after
// something of that worker, on another's stream, fails with that error. A worker that is not there when a program starts is an error of the first
// call, since nobody knows how many devices it has.
package hipmulti
