package push

import (
	"errors"
	"math/rand/v2"
	"strconv"
	"time"
)

// ErrPermanent is what a record that the server will never take fails with.
var ErrPermanent = errors.New("the server refuses the record")

// RetryError is a failure of which the server told when to try again.
type RetryError struct {
	After time.Duration // from now; more than ten minutes count as ten
	Err   error
}

func (e *RetryError) Error() string { return e.Err.Error() }
func (e *RetryError) Unwrap() error { return e.Err }

// RetryAfter reads the value of an HTTP Retry-After header: seconds, or a date. It is
// 0 if there is none or it makes no sense.
func RetryAfter(header string, now time.Time) time.Duration {
	if n, err := strconv.ParseUint(header, 10, 31); err == nil {
		return min(time.Duration(n)*time.Second, maxRetryAfter)
	}
	for _, layout := range []string{time.RFC1123, time.RFC850, time.ANSIC} { // those of RFC 9110, 5.6.7
		if t, err := time.Parse(layout, header); err == nil {
			return min(max(t.Sub(now), 0), maxRetryAfter)
		}
	}
	return 0
}

const (
	firstPause    = time.Second
	longestPause  = time.Minute
	maxRetryAfter = 10 * time.Minute // no server may silence a sink for longer
)

// backoff is the pause between attempts: doubled with each failure.
type backoff struct{ last time.Duration }

// next is how long to wait after err. A random quarter less or nothing, so that many
// exporters do not come back together.
func (b *backoff) next(err error) time.Duration {
	b.last = min(max(2*b.last, firstPause), longestPause)
	d := b.last - rand.N(b.last/4)
	if r, ok := errors.AsType[*RetryError](err); ok {
		d = max(d, min(r.After, maxRetryAfter))
	}
	return d
}

func (b *backoff) reset() { b.last = 0 }
