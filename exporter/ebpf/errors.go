package ebpf

import "errors"

// Errors of Open; a *SupportError matches one of the first two.
var (
	// ErrUnsupported: this kernel, or this kind of machine, cannot do it.
	ErrUnsupported = errors.New("ebpf: not supported here")
	// ErrPermission: this process may not do it.
	ErrPermission = errors.New("ebpf: missing rights")
)

// SupportError says what is missing.
type SupportError struct {
	Kind error  // ErrUnsupported or ErrPermission
	What string // what is missing, and what would help
	Err  error  // what the kernel said; may be nil
}

func (e *SupportError) Error() string {
	s := e.Kind.Error() + ": " + e.What
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap makes errors.Is find both.
func (e *SupportError) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Err}
}

// errLibrary is matched by errors about a file that cannot be watched.
var errLibrary = errors.New("no library that can be watched")
