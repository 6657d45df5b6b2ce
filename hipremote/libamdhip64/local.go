package main

import (
	"os"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipabi"
	"github.com/rocwire/rocwire/simgpu"
)

// local is a simulated GPU in this process.
func local() hip.Runtime {
	r, err := simgpu.New(simgpu.Options{
		Arch: os.Getenv("ROCWIRE_SIM_ARCH"),
		Logf: hipabi.Log,
	})
	if err != nil {
		hipabi.Log("%v", err)
		return absent{}
	}
	return r
}

// absent is no GPU at all.
type absent struct{ hip.Unimplemented }

func (absent) GetDeviceCount() (int32, hip.Error) { return 0, hip.ErrorNoDevice }

func (absent) GetDevicePropertiesR0600(int32) (*hip.DevicePropR0600, hip.Error) {
	return nil, hip.ErrorNoDevice
}
