package access

import (
	"errors"
	"fmt"
)

// ErrAway is of a client whose token cannot be judged because its issuer cannot be asked: it is not the client's doing. Its text is for the client, too.
var ErrAway = errors.New("the issuer cannot be asked")

// ErrRefused is every other refusal. Its text is for the client and says what to do; it never contains a token.
var ErrRefused = errors.New("access refused")

// refusal is an ErrRefused.
type refusal string

func refusef(format string, args ...any) error { return refusal(fmt.Sprintf(format, args...)) }

func (r refusal) Error() string     { return string(r) }
func (r refusal) Is(err error) bool { return err == ErrRefused }

// causedRefusal is a refusal of which the operator should know more than the client.
type causedRefusal struct {
	error
	cause error
}

func (e *causedRefusal) Unwrap() error { return e.error }

// Cause is what the worker's log may say besides an error of Identify, "" for nothing.
func Cause(err error) string {
	var e *causedRefusal
	if !errors.As(err, &e) || e.cause == nil {
		return ""
	}
	return cut(e.cause.Error(), maxCause)
}

// maxCause bounds the text of a cause, which may quote an issuer's answer.
const maxCause = 300
