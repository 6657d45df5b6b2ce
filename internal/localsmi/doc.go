// Package localsmi opens the management data of this machine's own cards: AMD's library
// if it is there, otherwise the kernel's files.
//
// # Trust
//
// AMD's library is code that this project did not write, and it talks to a driver: it may
// crash or hang on a machine without one. So a process of its own looks first whether it
// can be used; the program that uses this package must run Probe when ProbeCommand is
// its first argument.
package localsmi
