package hipremote

import (
	"sync"

	"github.com/rocwire/rocwire/hip"
)

// recordings are where this process has recorded events, as far as that says what has been freed before: waiting for an event gives back memory that
// hipFreeAsync has freed, as waiting for its stream does.
type recordings struct {
	mu   sync.Mutex // held while an event's recording is sent, so that what is noted here is in the order in which the worker gets it
	m    map[hip.Event]recording
	last uint64
}

// recording is where one event was recorded last.
type recording struct {
	number uint64 // tells it from all others
	device int32
	stream hip.Stream
	freed  uint64 // block by hipFreeAsync that was the last before it
}

// forget forgets some events, or all. Called with mu, before anything is sent that records them in another way than hipEventRecord.
func (r *recordings) forget(events ...hip.Event) {
	if len(events) == 0 {
		clear(r.m)
	}
	for _, e := range events {
		delete(r.m, e)
	}
}

// drop is forget without mu.
func (r *recordings) drop(events ...hip.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forget(events...)
}

// of is an event's recording, of which nothing is known if its number is 0.
func (r *recordings) of(e hip.Event) recording {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.m[e]
}

// record sends a recording of an event on a stream and notes it. Others may record a shared event, too, so nothing is known of that.
func (c *Client) record(t hip.Thread, e hip.Event, st hip.Stream, send func() hip.Error) hip.Error {
	r := &c.recordings
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forget(e)
	freed := c.mem.freedLast.Load()
	code := send()
	if code != hip.Success || freed == 0 || c.handles.shared.has(e) {
		return code
	}
	if r.m == nil {
		r.m = map[hip.Event]recording{}
	}
	r.last++
	r.m[e] = recording{r.last, t.Device, st, freed}
	return code
}

// reached is told that an event is done that had a recording when that was asked.
func (c *Client) reached(e hip.Event, at recording) {
	if at.number != 0 && c.recordings.of(e).number == at.number { // else it is another recording that is done
		c.settle(at.device, at.stream, false, moment{freed: at.freed})
	}
}
