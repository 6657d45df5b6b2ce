package wire

import "time"

// turnTime is how long a server's reader goes on before it waits by the poller once: less than the 10 ms after which the runtime stops who does.
const turnTime = int64(8 * time.Millisecond)

// turn is since when a server's reader has gone on, as mono.Now.
//
// The reader is one goroutine, always the same, that works for microseconds and waits in system calls. To the runtime's monitor it has been running
// all the while: every 10 ms its processor is taken away in the middle of a wait, or it is stopped by a signal, and then the monitor looks every 20 µs for a while whether there
// is more to take, which is more switches than the calls need. One that has waited by the poller begins anew; to say that others may go first would wake a
// thread that looks for them, mostly in vain.
type turn int64

// over reports whether it is time to wait by the poller, and has it begin anew.
func (t *turn) over(now int64) bool {
	if now-int64(*t) < turnTime {
		return false
	}
	*t = turn(now)
	return true
}
