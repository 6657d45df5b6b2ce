package main

import "github.com/rocwire/rocwire/hip"

// absent is no GPU at all.
type absent struct{ hip.Unimplemented }

func (absent) GetDeviceCount() (int32, hip.Error) { return 0, hip.ErrorNoDevice }

func (absent) GetDevicePropertiesR0600(int32) (*hip.DevicePropR0600, hip.Error) {
	return nil, hip.ErrorNoDevice
}
