// Package ebpf watches the HIP calls of every program on this machine, AMD's library
// or rocwire's, without restarting or changing any of them: probes on the library's
// exported functions, run by the kernel, count calls by function and result, how long
// they took, what they copied and allocated, and which kernels they started.
//
// [Open] puts the programs and tables of the folder bpf into the kernel. [Tracer.Run]
// looks for libraries and reads the figures; the [Tracer] is an local.Source.
// What is not there for it is told by a [SupportError].
//
// # What is watched
//
// A probe hangs on a file, not on a process. A library's file is watched once, whoever
// has it loaded under whatever path and in whatever container, and programs that load
// it later are watched from their first call. Files are found in the memory mappings
// of processes, and by Options.Files before anybody has them loaded. A file that was
// replaced is another file; one that was written to is looked through again.
//
// # What is counted
//
// The kernel's tables are keyed by a number that each program is given at its first
// call and that no other program gets: figures of a process that executes another
// program, or of another process with the same number, are never mixed. A call that a
// library makes of itself belongs to the outer one. A call that is left without
// returning (longjmp, the end of its thread) is not counted, and nothing is kept of
// it. Copies, allocations and launches count when the call succeeds.
//
// Every table is bounded; what finds no room is counted and told.
//
// # Trust
//
// Anybody may load a file that is called like the library, write anything into it, and
// call its functions with any arguments. Files are read within bounds; what hangs is
// not waited for; a program's figures are its own word, and change no other's. What
// one program may take of the tables for results and allocations is limited; of those
// for functions, programs and threads it takes as much as it comes by. Nothing of a
// program's memory is read but the arguments and results that the ABI puts there.
//
// The names are those of the source's own process names, files and users, cut and
// cleaned by package attribution and by the exporter.
package ebpf
