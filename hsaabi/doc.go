//go:build linux

// Package hsaabi is HSA's C interface in front of the simulated GPU: the functions that
// libhsa-runtime64.so.1 exports. AMD's HIP and OpenCL runtimes stand on it, so with it they
// run where there is no card.
//
// An export is C or Go written by hand, or made from its name (zz_atomics.c: operations on
// signals and queues' indexes); the rest (zz_exports.c) refuse null pointers and calls before
// hsa_init and answer HSA_STATUS_ERROR. Everything generated follows from the table api.json,
// whose layouts a test compares with AMD's headers where they are.
//
//	lifecycle   hsa_init … hsa_shut_down: one [simgpu.Runtime] of the process
//	agents      a processor, and a card of the simulated GPU each (agent*.go, isa.go)
//	pools       the memory of each (pool.go, memory.go, lock.go, pointer.go, copy.go)
//	signals     in C, in memory that kernels reach (signal.h)
//	queues      a packet processor each (queue.go, packet.go)
//	loader      code objects, executables, symbols (loader.go)
//	images      words that kernels read, and copies (image*.go, sampler.go)
//
// Addresses are what they are everywhere in rocwire: real addresses of this process, the
// same for the processor and for kernels.
//
// # Trust
//
// The caller is the program that the library is loaded into: pointers are believed, as any
// C library believes them. Handles are not: agents, pools, executables and symbols are numbers
// that are looked up, signals are looked for in the memory that they are made in, and a queue
// must be one of those that live. Packets are the program's, too: what they ask for that cannot
// be is a queue error as the hardware reports it, never a fault of this library.
package hsaabi

//go:generate go run ./internal/gen -root ..
