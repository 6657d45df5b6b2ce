package provider

import "github.com/rocwire/rocwire/smi"

// result is an AccelResult.
type result int32

const (
	success         result = 0
	invalidParam    result = 1
	notFound        result = 2
	notSupported    result = 3
	exhausted       result = 4
	operationFailed result = 5
	internalError   result = 6
)

// resultOf is the result that says what an error of a source says.
func resultOf(err error) result {
	if err == nil {
		return success
	}
	switch smi.CodeOf(err) {
	case smi.ErrNotSupported, smi.ErrNoPermission:
		return notSupported
	case smi.ErrNotFound:
		return notFound
	case smi.ErrBusy:
		return exhausted
	case smi.ErrInternal:
		return internalError
	}
	return operationFailed
}
