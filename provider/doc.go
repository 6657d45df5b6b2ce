// Package provider is TensorFusion's accelerator interface in front of an smi.Source: a
// C library (libaccelerator_amd.so, built by provider/libaccelerator_amd) that a
// TensorFusion hypervisor loads to learn which AMD cards a node has, what they do, who
// uses them, and to divide them.
//
// accelerator.h is the interface as it is now, virtualgpu.h as it was in January 2026;
// the library exports both. docs/accelerator-provider.md says how it behaves.
//
// # Parts
//
// The exports (exports.c, exports.go, virtualgpu.go) check arguments and copy between C
// arrays and the types of this package. What the answers are is plain Go: [library] is
// the library between AccelInit and AccelShutdown, [card] a device of the host's
// list, which may be several of the source's if it is divided.
//
// # Trust
//
// The host is trusted as far as any program trusts its own memory: pointers must be
// valid, but counts, texts and the order of calls may be anything. The source is not:
// whatever it tells, no array is overrun, no figure is NaN or infinite, and no text is
// longer than its place or without its NUL.
package provider
