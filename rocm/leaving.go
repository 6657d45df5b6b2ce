package rocm

import (
	"maps"
	"sync"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/internal/poll"
)

// AMD's hipStreamDestroy waits for what the stream has still to do, and for all else that is in the same queue of the card: on a session's line perhaps for the
// return of a host function, which comes by the line. So a stream is destroyed once it has done everything, and nobody waits for that.

// leaving are the streams that were destroyed before that.
type leaving struct {
	mu  sync.Mutex // held while streams are destroyed late, and while a device is reset
	all map[hip.Stream]int32
}

// endLater has a stream destroyed once it has done what it was told. The mu is held.
func (r *Runtime) endLater(t hip.Thread, s hip.Stream) hip.Error {
	x := &r.leaving
	t, err := r.threadOf(t, s)
	if err != hip.Success {
		return err
	}
	err = r.After(t, s, func(err hip.Error) {
		if err != hip.Success {
			return // the device failed, and everything on it ends
		}
		go func() {
			x.mu.Lock()
			defer x.mu.Unlock()
			if _, ok := x.all[s]; ok { // or the device was reset
				delete(x.all, s)
				_ = r.endStream(t, s) // nobody is there to hear of it
			}
		}()
	})
	if err != hip.Success {
		return err
	}
	if x.all == nil {
		x.all = map[hip.Stream]int32{}
	}
	x.all[s] = t.Device
	return hip.Success
}

// endStream has the library destroy a stream, and waits for no more than that the library does not know it any longer.
func (r *Runtime) endStream(t hip.Thread, s hip.Stream) (err hip.Error) {
	if _, code := r.StreamGetDevice(t, s); s <= hip.StreamPerThread || code != hip.Success {
		return r.streamDestroy(t, s) // which says how that is wrong
	}
	done := make(chan hip.Error, 1)
	go func() { done <- r.streamDestroy(t, s) }()
	poll.Until(func() bool {
		select {
		case err = <-done:
			return true
		default:
			_, code := r.StreamGetDevice(t, s)
			return code != hip.Success
		}
	})
	return err
}

// reset forgets what ended with a device. The mu is held, since before the reset.
func (x *leaving) reset(device int32) {
	maps.DeleteFunc(x.all, func(_ hip.Stream, d int32) bool { return d == device })
}
