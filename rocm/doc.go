// Package rocm is a [hip.Runtime] over a real libamdhip64, opened at run time:
// a program that links it runs on a machine without ROCm and says there what is
// missing.
//
// The library keeps the current device in thread-local storage, and a goroutine
// has no thread of its own. So every call goes through a C shim (zz_table.h) that
// selects the caller's device and calls in one crossing.
//
// A real device hands out its own addresses, so a Runtime here is no
// [hip.Placer]: allocations of a remote client take a round trip.
package rocm
