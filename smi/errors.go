package smi

import (
	"context"
	"errors"
	"fmt"
)

// Code says what kind of failure a source reports. It is an error itself, to be
// used with errors.Is. The numbers are AMD SMI's (amdsmi_status_t), so that a C
// library in front of a source has nothing to translate.
type Code uint32

// The failures a source may report.
const (
	ErrInvalid      Code = 1  // an argument is out of its range
	ErrNotSupported Code = 2  // this source, or this card, does not know that
	ErrTimeout      Code = 8  // no answer in time
	ErrNoPermission Code = 10 // the operating system or the worker refused
	ErrIO           Code = 12 // the card, a file or the connection failed
	ErrInternal     Code = 16 // the source itself failed
	ErrBusy         Code = 30 // too much is asked at once; try again
	ErrNotFound     Code = 31 // no such card, process or session
	ErrUnavailable  Code = 32 // the source cannot be reached, or is closed
	ErrNoDriver     Code = 34 // the card's kernel driver is not loaded
	ErrBadData      Code = 43 // what was read makes no sense
)

// Error names the kind of failure.
func (c Code) Error() string {
	switch c {
	case ErrInvalid:
		return "invalid argument"
	case ErrNotSupported:
		return "not supported"
	case ErrTimeout:
		return "timed out"
	case ErrNoPermission:
		return "no permission"
	case ErrIO:
		return "input/output error"
	case ErrInternal:
		return "internal error"
	case ErrBusy:
		return "busy"
	case ErrNotFound:
		return "not found"
	case ErrUnavailable:
		return "not available"
	case ErrNoDriver:
		return "driver not loaded"
	case ErrBadData:
		return "unexpected data"
	}
	return fmt.Sprintf("error %d", uint32(c))
}

// Error is a failure with its circumstances. errors.Is(err, ErrNotFound) and the
// like see its code.
type Error struct {
	Code   Code
	Detail string // what exactly, for people; may be empty
	Err    error  // what caused it; may be nil
}

// Errorf is an Error whose detail is formatted; with %w it keeps the cause.
func Errorf(code Code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Detail: err.Error(), Err: errors.Unwrap(err)}
}

func (e *Error) Error() string {
	if e.Detail == "" {
		return e.Code.Error()
	}
	return e.Detail
}

// Is reports whether target is e's code.
func (e *Error) Is(target error) bool {
	c, ok := target.(Code)
	return ok && c == e.Code
}

// Unwrap is the cause.
func (e *Error) Unwrap() error { return e.Err }

// CodeOf is the code of any error: its own if it has one, ErrTimeout for a
// deadline, ErrUnavailable for a cancelled question, otherwise ErrInternal.
func CodeOf(err error) Code {
	var e *Error
	var c Code
	switch {
	case errors.As(err, &e):
		return e.Code
	case errors.As(err, &c):
		return c
	case errors.Is(err, context.DeadlineExceeded):
		return ErrTimeout
	case errors.Is(err, context.Canceled):
		return ErrUnavailable
	}
	return ErrInternal
}

// NoDevice is the error of a card index that is not 0 … n-1.
func NoDevice(index, n int) error {
	switch n {
	case 0:
		return Errorf(ErrNotFound, "no GPU %d: there is no GPU", index)
	case 1:
		return Errorf(ErrNotFound, "no GPU %d: there is one GPU, number 0", index)
	}
	return Errorf(ErrNotFound, "no GPU %d: there are GPUs 0 to %d", index, n-1)
}
