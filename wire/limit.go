package wire

import (
	"context"
	"fmt"
	"time"
)

// timeLimit is how long something is waited for, for the error that says it did not come.
type timeLimit struct {
	d      time.Duration
	caller bool // it is the caller's own deadline, which is sooner than what was configured
}

// limited bounds a context, and tells by what: its own deadline may be sooner.
func limited(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc, timeLimit) {
	limit := timeLimit{d: d}
	if end, ok := ctx.Deadline(); ok {
		if left := max(0, time.Until(end)); left < d {
			limit = timeLimit{left.Round(time.Millisecond), true}
		}
	}
	ctx, cancel := context.WithTimeout(ctx, d)
	return ctx, cancel, limit
}

func (l timeLimit) String() string {
	if l.caller {
		return fmt.Sprintf("within %v, the caller's own deadline", l.d)
	}
	return fmt.Sprintf("within %v", l.d)
}
