package main

import (
	"fmt"
	"sync"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipabi"
	"github.com/rocwire/rocwire/hsaabi"
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

func init() {
	hsaabi.SetOpener(func() (*simgpu.Runtime, hsaabi.Source, error) {
		if arch := simOptions().Arch; arch == "gfx1100" {
			return nil, nil, fmt.Errorf("ROCWIRE_SIM_ARCH is %s, whose waves have 32 lanes: AMD's runtime is not served it", arch)
		}
		source, err := newSource()
		if err != nil {
			return nil, nil, err
		}
		r, err := newSim()
		return r, source, err
	})
}

// newSim makes a runtime on the cards that may be seen; nil if that is none.
func newSim() (*simgpu.Runtime, error) {
	o := simOptions()
	var err error
	if o.Segment, err = simSegment(); err != nil {
		return nil, err
	}
	uuids := make([]string, o.Segment.Cards())
	for i := range uuids {
		uuids[i] = simgpu.UUID(o.Arch, i)
	}
	rocr, list := visible.FromEnv(lookupEnv)
	if o.Visible = visible.Choose(rocr, list, uuids); len(o.Visible) == 0 {
		return nil, nil
	}
	return simgpu.New(o)
}

// simRuntime is the simulated GPU, or none if there can be none.
func simRuntime() hip.Runtime {
	r, err := newSim()
	if err != nil {
		hipabi.Log("%v", err)
	}
	if r == nil {
		return absent{}
	}
	return r
}

// simSource is what the simulated GPU tells of itself.
func simSource() (smi.Source, error) {
	s, err := newSource()
	if err != nil {
		return nil, err
	}
	return s, nil
}

func newSource() (*simgpu.Source, error) {
	o := simOptions()
	var err error
	if o.Segment, err = simSegment(); err != nil {
		return nil, err
	}
	return simgpu.NewSource(o)
}
