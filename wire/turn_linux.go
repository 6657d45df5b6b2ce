package wire

import (
	"runtime"
	"time"
)

// turnTime is how long a server's reader goes on before it lets others go first: less than the 10 ms after which the runtime stops who does.
const turnTime = int64(8 * time.Millisecond)

// turn is since when a server's reader has gone on, as mono.Now.
//
// The reader is one goroutine, always the same, that works for microseconds and waits in system calls. To the runtime's monitor it has been running
// all the while: every 10 ms its processor is taken away in the middle of a wait, and then the monitor looks every 20 µs for a while whether there
// is more to take, which is more switches than the calls need. One that lets others go first begins anew.
type turn int64

// take lets others go first if it is time to.
func (t *turn) take(now int64) {
	if now-int64(*t) >= turnTime {
		*t = turn(now)
		runtime.Gosched()
	}
}
