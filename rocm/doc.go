// Package rocm is a [hip.Runtime] over a real libamdhip64, opened at run time:
// a program that links it runs on a machine without ROCm and says there what is
// missing.
//
// The library keeps the current device in thread-local storage, and a goroutine
// has no thread of its own. So every call goes through a C shim (zz_table.h) that
// selects the caller's device and calls in one crossing.
//
// Executable graphs are the library's own: a launch is one call of its, a change
// of a node another. A graph with what those do not have (work of several devices,
// launches with events, functions of the host, rows that are no multiple of their pitch,
// memory that another part of the program allocated), and any graph of a library without the
// functions, is issued operation by operation (package hip/graph/executor).
//
// A real library hands out its own addresses. Where all its devices know virtual
// memory management, a Runtime is a [hip.Placer] all the same: it maps physical
// memory at addresses of the caller's choice. Where they do not, or the
// addresses cannot be had, allocations of a remote client take a round trip.
package rocm
