// Package hipabi is HIP's C interface in front of a [hip.Runtime]: the functions
// that libamdhip64.so.6 exports, for the library that a program links against.
//
// An export is a C function (zz_exports.c, generated) that reads the calling
// thread's state, crosses into Go once (rw_hipX) and keeps the result as the
// thread's last error (thread.h). What a Runtime can do goes straight to it
// (zz_exports.go, generated); what HIP promises on top of that is made here, by
// hand: modules and their kernels, the packing of arguments, registration of the
// code that clang embeds in a program, symbols, occupancy, per-thread streams.
//
// A stream capture is made here too: while one goes on, a captureRuntime stands
// in front of the Runtime and turns what is issued on the capture's streams into
// nodes of a graph. A launch of the graph issues them again, so that a Runtime
// needs to know nothing of graphs.
//
// # Trust
//
// The caller is the program that the library is linked into, as trusted as this
// process: pointers it passes are believed, as any C library believes them.
// Values are checked, and answered with HIP's errors. Code objects are parsed
// defensively by package codeobject.
package hipabi
