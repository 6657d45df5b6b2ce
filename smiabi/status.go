package smiabi

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/rocwire/rocwire/smi"
)

// statusOf is an error as AMD SMI reports it. The codes of package smi are AMD
// SMI's own, except that a source that is gone is an AMDSMI_STATUS_IO: the number 32
// says here that amdsmi_init was not called.
func statusOf(err error) status {
	if err == nil {
		return AMDSMI_STATUS_SUCCESS
	}
	switch c := smi.CodeOf(err); c {
	case smi.ErrUnavailable:
		return AMDSMI_STATUS_IO
	case smi.ErrInternal:
		if errors.Is(err, os.ErrPermission) {
			return AMDSMI_STATUS_NO_PERM
		}
		return AMDSMI_STATUS_INTERNAL_EXCEPTION
	default:
		if _, known := statusNames[status(c)]; known {
			return status(c)
		}
		return AMDSMI_STATUS_UNKNOWN_ERROR
	}
}

// say writes one line for the person who runs the program.
func say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "rocwire: "+format+"\n", args...)
}

// trap keeps a failure of this library from ending the program it is loaded into.
func trap(function string, result *uint32) {
	if r := recover(); r != nil {
		say("%s: %v\n%s", function, r, debug.Stack())
		*result = uint32(AMDSMI_STATUS_INTERNAL_EXCEPTION)
	}
}
