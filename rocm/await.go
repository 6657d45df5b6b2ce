package rocm

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/internal/poll"
)

// await waits for an event. AMD's hipEventSynchronize holds the event's lock until it has come, and whoever asks about the event, records it or has a stream wait
// for it meanwhile waits for that as well: on a session's line perhaps for the return of a host function, which comes by the line. So the event is asked about, and
// the library waits for nothing any more. An event that is recorded again meanwhile is waited for as it is then.
func (r *Runtime) await(t hip.Thread, event hip.Event) (err hip.Error) {
	poll.Until(func() bool { err = r.eventQuery(t, event); return err != hip.ErrorNotReady })
	if err != hip.Success {
		return err
	}
	return r.eventSynchronize(t, event) // which has pools give memory back
}
