package rocm

import (
	"runtime"
	"time"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/internal/mono"
)

// How an event is waited for: at first by looking again and again, then with pauses of a part of the time that it took so far.
const (
	lookFor  = 50 * time.Microsecond
	partOf   = 8
	minPause = 20 * time.Microsecond
	maxPause = time.Millisecond
)

// await waits for an event. AMD's hipEventSynchronize holds the event's lock until it has come, and whoever asks about the event, records it or has a stream wait
// for it meanwhile waits for that as well: on a session's line perhaps for the return of a host function, which comes by the line. So the event is asked about, and
// the library waits for nothing any more. An event that is recorded again meanwhile is waited for as it is then.
func (r *Runtime) await(t hip.Thread, event hip.Event) hip.Error {
	for begin := mono.Now(); ; {
		if err := r.eventQuery(t, event); err == hip.Success {
			return r.eventSynchronize(t, event) // which has pools give memory back
		} else if err != hip.ErrorNotReady {
			return err
		}
		if took := mono.Since(begin); took < lookFor {
			runtime.Gosched()
		} else {
			time.Sleep(min(max(took/partOf, minPause), maxPause))
		}
	}
}
