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
var simSegment = sync.OnceValues(func() (*simgpu.Segment, error) {
	o, err := simOptions()
	if err != nil {
		return nil, err
	}
	return simgpu.CreateSegment(o)
})

func simOptions() (simgpu.Options, error) {
	o, err := simgpu.FromEnv(func(name string) string {
		v, _ := lookupEnv(name)
		return v
	})
	o.Logf, o.OnOutput = hipabi.Log, hipabi.Output
	return o, err
}

// sharedOptions are those with what the views share.
func sharedOptions() (simgpu.Options, error) {
	o, err := simOptions()
	if err == nil {
		o.Segment, err = simSegment()
	}
	return o, err
}

func init() {
	hsaabi.SetOpener(func() (*simgpu.Runtime, hsaabi.Source, error) {
		if o, _ := simOptions(); o.Arch == "gfx1100" {
			return nil, nil, fmt.Errorf("ROCWIRE_SIM_ARCH is %s, whose waves have 32 lanes: AMD's runtime is not served it", o.Arch)
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
	o, err := sharedOptions()
	if err != nil {
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
	o, err := sharedOptions()
	if err != nil {
		return nil, err
	}
	return simgpu.NewSource(o)
}
