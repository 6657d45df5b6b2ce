// Package mono is the clock that calls are timed with. It knows no date, only how much time passes, which is all that a latency needs, and
// reading it costs less than time.Now.
package mono

import "time"

var epoch = time.Now()

// Now is the time in nanoseconds since some moment of this process. It never decreases.
func Now() int64 { return int64(time.Since(epoch)) }

// Since is the time that has passed since Now was then.
func Since(then int64) time.Duration { return time.Duration(Now() - then) }
