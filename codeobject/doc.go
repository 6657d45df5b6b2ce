// Package codeobject reads what a HIP program carries for its GPU: bundles of
// code objects (plain and compressed), the code object of one target (an ELF
// file), the metadata of its kernels, and the layout of their arguments. It
// also places a code object at an address, as a loader does.
//
// The way of an image through this package:
//
//	image, err := codeobject.FromPointer(p) // or bytes of known length
//	elf, err := codeobject.Select(image, target)
//	object, err := codeobject.Parse(elf)
//	err = object.Load(memory, base)
//	object.Kernels["saxpy"].FillKernarg(segment, args, &hidden)
//
// # Trust
//
// Images come from programs, and on a worker from the network: nothing in them
// is believed. Every offset and length is checked against the bytes that are
// there before it is used, counts are bounded by the bytes that would have to
// describe them, nesting and decompressed sizes are limited, and whatever does
// not fit is an error of type *Invalid that says what was wrong and where.
// Only FromPointer and Size trust their caller, who says that an image begins
// at an address: they read no further than its headers say.
package codeobject
