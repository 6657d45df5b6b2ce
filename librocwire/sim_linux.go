package main

import (
	"sync"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipabi"
	"github.com/rocwire/rocwire/internal/visible"
	"github.com/rocwire/rocwire/simgpu"
	"github.com/rocwire/rocwire/smi"
)

// simSegment is what HIP's and AMD SMI's views of the simulated GPU share.
var simSegment = sync.OnceValues(func() (*simgpu.Segment, error) { return simgpu.CreateSegment(simOptions()) })

func simOptions() simgpu.Options {
	arch, _ := lookupEnv("ROCWIRE_SIM_ARCH")
	return simgpu.Options{Arch: arch, Logf: hipabi.Log, OnOutput: hipabi.Output}
}

// simRuntime is the simulated GPU, or none if there can be none.
func simRuntime() hip.Runtime {
	o := simOptions()
	var err error
	if o.Segment, err = simSegment(); err == nil {
		uuids := make([]string, o.Segment.Cards())
		for i := range uuids {
			uuids[i] = simgpu.UUID(o.Arch, i)
		}
		rocr, list := visible.FromEnv(lookupEnv)
		if o.Visible = visible.Choose(rocr, list, uuids); len(o.Visible) == 0 {
			return absent{}
		}
		var r hip.Runtime
		if r, err = simgpu.New(o); err == nil {
			return r
		}
	}
	hipabi.Log("%v", err)
	return absent{}
}

// simSource is what the simulated GPU tells of itself.
func simSource() (smi.Source, error) {
	o := simOptions()
	var err error
	if o.Segment, err = simSegment(); err != nil {
		return nil, err
	}
	s, err := simgpu.NewSource(o)
	if err != nil {
		return nil, err
	}
	return s, nil
}
