//go:build !linux

package main

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipabi"
	"github.com/rocwire/rocwire/smi"
)

// simRuntime is no device: the simulated GPU needs Linux.
func simRuntime() hip.Runtime {
	hipabi.Log("TF_WORKER_HOST=sim: the simulated GPU needs Linux")
	return absent{}
}

// simSource is smi.ErrNotSupported likewise.
func simSource() (smi.Source, error) {
	return nil, smi.Errorf(smi.ErrNotSupported, "the simulated GPU needs Linux")
}
