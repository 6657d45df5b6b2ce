// Package smiabi is AMD SMI's C interface in front of an [smi.Source]: the
// functions that libamd_smi.so.27 exports, for the library that a program links
// against or opens.
//
// An export is a C function (zz_exports.c, generated) that checks for amdsmi_init
// and null pointers and crosses into Go once (zz_exports.go, generated), where the
// processor's handle becomes a [card]; what the function does is written by hand, one
// Go function for each (amdsmi_get_gpu_asic_info is amdsmiGetGPUASICInfo). A function
// without one answers AMDSMI_STATUS_NOT_SUPPORTED. The structs and constants follow
// from the table api.json; a test checks every offset against it.
//
// # Trust
//
// The caller is the program that the library is loaded into, as trusted as this
// process: pointers to structs and buffers are believed, as any C library believes
// them, and lengths are kept to. Handles are not: they are numbers here, and one
// that this library did not give out is AMDSMI_STATUS_NOT_FOUND. What the source
// says may come from another machine: texts are cut to the caller's buffer and
// always end with a NUL, lists to the length of the struct's array.
package smiabi

//go:generate go run ./internal/gen -root ..
