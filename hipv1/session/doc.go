// Package session serves the HIP calls of one client of the earlier protocol (package hipv1) by a [hip.Runtime].
//
// Calls are executed one after the other, in the order they come. What waits makes the client wait: it has one request open that wants a reply. A call
// without a reply that fails is not forgotten: the first failure is the code of the next call that says how far work has come, or that brings bytes back.
//
// # Names
//
// A client knows only names that this package gave it or that it gave itself; they are looked up in the session's own tables, and mean nothing in another.
//
// Addresses are not translated. Clients of April's dialect invent addresses from 0x7F0000000000 upwards, and those get into places that nobody can see:
// structs that kernels take by value, memory of the device. So the memory is placed at the very address ([hip.Placer]), and there is nothing to translate.
// Where the runtime cannot do that, an allocation with an address of the client's is hipErrorNotSupported, and clients that let the worker choose are
// served as ever. Every address of a copy or fill must lie in memory that the session has allocated; what kernels do with theirs, the runtime watches.
package session
