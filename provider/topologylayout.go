package provider

import (
	"debug/buildinfo"
	"os"
	"strings"
	"sync"
)

// topologyVariable overrides which layout of the topology is written: "c" that of the C
// header, "go" that of TensorFusion's Go program.
const topologyVariable = "ROCWIRE_ACCELERATOR_TOPOLOGY"

// goModule is the program that reads the layout of its own.
const goModule = "github.com/NexusGPU/tensor-fusion"

// goTopology reports whether the host reads gotopology.h's layout: what it is asked to
// read by the environment, else what follows from the program itself.
var goTopology = sync.OnceValue(func() bool {
	return wantsGo(os.Getenv(topologyVariable), func() (*buildinfo.BuildInfo, error) { return buildinfo.ReadFile("/proc/self/exe") })
})

func wantsGo(variable string, program func() (*buildinfo.BuildInfo, error)) bool {
	switch strings.ToLower(variable) {
	case "go":
		return true
	case "c":
		return false
	}
	b, err := program()
	if err != nil { // not written in Go
		return false
	}
	if b.Main.Path == goModule {
		return true
	}
	for _, d := range b.Deps {
		if d.Path == goModule {
			return true
		}
	}
	return false
}
