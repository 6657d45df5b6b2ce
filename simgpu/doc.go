// Package simgpu is the simulated GPU: cards that exist only in software, yet
// execute real AMDGPU code objects and report what a management library would.
//
//	Runtime  hip.Runtime, hip.Placer, hip.Direct: memory, streams, modules, kernels
//	Source   smi.Source over the same cards
//	Segment  what the processes that share the cards have in common
//
// A worker creates a Segment, serves a Source from it, and hands its descriptor
// to session processes, each of which opens it and makes its own Runtime.
// A program that uses the simulator in its own process needs nothing but New.
//
// The parts are packages of their own: vmem (address space), queue (streams),
// card (the shared segment), model (power and temperature), gcn (the
// instruction set) and exec (execution).
//
// # Errors and faults
//
// A kernel that faults ends the context of its device, as on a real card: from
// then on every call that reaches the device returns the fault's error, until
// DeviceReset. The errors are ErrorIllegalAddress for a memory fault,
// ErrorIllegalState for an instruction that cannot be executed, and
// ErrorLaunchFailure for a trap and everything else. The log line names kernel,
// address, instruction and place. HIP's own runtime answers in some of these
// cases by ending the process; a worker must not.
//
// # Trust
//
// Everything a Runtime is given may come from a hostile client, except host
// addresses, which are those of the process that calls. Device addresses and
// handles are checked against tables, sizes without wrapping, code by packages
// codeobject and exec. What a kernel can reach is device memory and nothing
// else; it may run for ever, until Close.
package simgpu
