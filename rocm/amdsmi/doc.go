// Package amdsmi is an [smi.Source] over AMD's management library, libamd_smi.so,
// opened at run time: a program that links it runs on a machine without ROCm and
// says there what is missing.
//
// # ABIs
//
// The library's structures, enumerations and functions differ between its ABIs. The
// package knows libamd_smi.so.25 (ROCm 6.4), .26 (ROCm 7) and .27. Which one was
// opened is read off its SONAME and amdsmi_get_lib_version, and the two must agree;
// everything else is refused. Layouts are tables of offsets (zz_layouts.go), made
// from layouts.txt and the table of package smiabi; no header of AMD's is needed.
//
// A function that the opened library has not is a figure that is not available.
//
// # Trust
//
// The library runs in this process and may do what it wants; its numbers are
// checked all the same. Every buffer it writes is larger than its structure and
// filled with ones before, so what it does not write reads as "not available", and
// no count or text it returns is used beyond its array.
//
// # Cards that hang
//
// A call into the library cannot be cancelled. Each question is asked on a goroutine
// of its own and given up when its context ends; until the library comes back the
// same question about the same card waits, and nothing else does.
package amdsmi
