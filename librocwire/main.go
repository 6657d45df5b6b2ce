// Command librocwire is librocwire.so, the shared object that holds all of
// rocwire's C interfaces: HIP (package hipabi) and AMD SMI (package smiabi). A process
// must not hold two Go runtimes, so there is one such object; libamdhip64.so.6 and .7,
// and libamd_smi.so.27, which programs are linked with, are small libraries that carry
// AMD's names and versions and jump into it (stubs, package internal/stubgen). ROCm SMI's
// older interface, librocm_smi64.so.1, is C in front of AMD SMI's (rsmi). Build all
// of them with build.sh; rocwire.dll and its small libraries, for Windows, with
// build_windows.sh.
//
// Loading a library connects to nothing and starts nothing: librocwire.so is opened by
// the first call. A program that never calls HIP, or only asks for error strings, needs
// no worker, and its children after a fork may use HIP, which those of a program that
// has called it cannot.
//
// # Where the cards are
//
// HIP goes to the worker of TF_WORKER_HOST and TF_WORKER_PORT, or to those of a list
// (a:18515,b:18515), whose cards are one list then; TF_WORKER_HOST=sim: is a simulated
// GPU inside the program: ROCWIRE_SIM_CARDS cards of the architecture ROCWIRE_SIM_ARCH.
//
// AMD SMI asks the worker of AMDSMI_REMOTE (host:port, or unix:PATH), else those of
// TF_WORKER_HOST, else this machine's own cards. "sim:" is the simulated GPU here too,
// the same one as HIP's.
package main

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipabi"
	"github.com/rocwire/rocwire/hipmulti"
	"github.com/rocwire/rocwire/hipremote"
	"github.com/rocwire/rocwire/smiabi"
)

func init() {
	hipabi.SetOpener(func() hip.Runtime {
		hide, _ := lookupEnv(hipabi.HiddenMemory)
		hipabi.HideMemory(hide)
		workers := hipremote.AllFromEnv(lookupEnv)
		for i := range workers {
			workers[i].Output = hipabi.Output
		}
		switch {
		case workers[0].Host == hipremote.Simulated:
			return simRuntime()
		case len(workers) > 1:
			return hipmulti.New(workers)
		}
		return hipremote.New(workers[0])
	})
	smiabi.SetOpener(openSource)
}

func main() {}
