// Command libamdhip64 is the drop-in libamdhip64.so.6: HIP's C interface
// (package hipabi) over a worker's GPUs (package hipremote). Build it with
// build.sh, which gives it its name and its symbol versions.
//
// Loading the library connects to nothing: a program that never calls HIP, or
// only asks for error strings, needs no worker.
//
// With TF_WORKER_HOST=sim: there is no worker: the simulated GPU runs inside the
// program. ROCWIRE_SIM_ARCH names its architecture.
package main

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipabi"
	"github.com/rocwire/rocwire/hipremote"
)

func init() {
	hipabi.SetOpener(func() hip.Runtime {
		config := hipremote.FromEnv()
		if config.Host == "sim:" {
			return local()
		}
		return hipremote.New(config)
	})
}

func main() {}
