//go:build linux

package hsaabi

import (
	"fmt"
	"os"
	"runtime/debug"

	"github.com/rocwire/rocwire/hip"
)

// status is hsa_status_t.
type status uint32

// trap answers a call that has panicked, which is a defect of this package: the program goes on with an error.
func trap(function string, result *uint32) {
	if r := recover(); r != nil {
		fmt.Fprintf(os.Stderr, "rocwire: %s: %v\n%s", function, r, debug.Stack())
		*result = uint32(HSA_STATUS_ERROR)
	}
}

// statusOf is what the simulated GPU's error is here.
func statusOf(e hip.Error) status {
	switch e {
	case hip.Success:
		return HSA_STATUS_SUCCESS
	case hip.ErrorOutOfMemory:
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES
	case hip.ErrorInvalidValue:
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	case hip.ErrorDeinitialized:
		return HSA_STATUS_ERROR_NOT_INITIALIZED
	}
	return HSA_STATUS_ERROR
}
