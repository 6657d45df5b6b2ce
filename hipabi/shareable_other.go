//go:build !linux

package hipabi

import "github.com/rocwire/rocwire/hip"

// descriptorOf is ErrorNotSupported: there are no memory files.
func descriptorOf(*hip.IpcMemHandle) (int32, hip.Error) { return -1, hip.ErrorNotSupported }

// tokenOf finds none.
func tokenOf(int32) (*hip.IpcMemHandle, bool) { return nil, false }
