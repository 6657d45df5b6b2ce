package greptime

import (
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/rocwire/rocwire/exporter/push"
	"github.com/rocwire/rocwire/smi"
)

// slow is when something is tried again that somebody must put in order first.
const slow = time.Minute

// statusError is an error that a server answered in a response's header.
type statusError struct {
	code uint32
	text string
}

func (e *statusError) Error() string { return fmt.Sprintf("status %d: %s", e.code, e.text) }

// GreptimeDB's own numbers, where they come in a header: invalid arguments (and what is
// next to them), and those that have to do with users and rights.
const (
	statusInvalid       = 1004
	statusInvalidSyntax = 2000
	statusUserNotFound  = 7000
	statusUsersEnd      = 7999
)

// classify makes of the ingester's error what package push understands.
func classify(err error) error {
	if err == nil {
		return nil
	}
	said := fmt.Errorf("%s", words(err))
	if s, ok := err.(*statusError); ok {
		switch {
		case s.code == statusInvalid || s.code == statusInvalidSyntax:
			return fmt.Errorf("%w: %w", push.ErrPermanent, said)
		case s.code >= statusUserNotFound && s.code <= statusUsersEnd:
			return &push.RetryError{After: slow, Err: said}
		}
		return said
	}
	switch status.Code(err) {
	case codes.InvalidArgument, codes.OutOfRange:
		return fmt.Errorf("%w: %w", push.ErrPermanent, said)
	case codes.Unauthenticated, codes.PermissionDenied, codes.NotFound, codes.Unimplemented:
		return &push.RetryError{After: slow, Err: said}
	}
	return said
}

// unreachable reports an error for which nothing was handled, nor would be at once.
func unreachable(err error) bool {
	switch status.Code(err) {
	case codes.Unavailable, codes.DeadlineExceeded, codes.Canceled, codes.Unauthenticated, codes.PermissionDenied, codes.ResourceExhausted:
		return true
	}
	return false
}

// maxWords is how much of a server's words is kept, in bytes.
const maxWords = 512

// words are what an error says, fit for a log.
func words(err error) string {
	s := err.Error()
	if st, ok := status.FromError(err); ok {
		s = fmt.Sprintf("%s: %s", st.Code(), st.Message())
	}
	if len(s) > maxWords {
		s = s[:maxWords] + "…"
	}
	return smi.Printable(s)
}
