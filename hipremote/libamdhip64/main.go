// Command libamdhip64 is the drop-in libamdhip64.so.6: HIP's C interface
// (package hipabi) over a worker's GPUs (package hipremote). Build it with
// build.sh, which gives it its name and its symbol versions.
//
// Loading the library connects to nothing: a program that never calls HIP, or
// only asks for error strings, needs no worker.
package main

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipabi"
)

func init() {
	hipabi.SetOpener(func() hip.Runtime { return hip.Unimplemented{} })
}

func main() {}
