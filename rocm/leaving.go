package rocm

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/internal/poll"
)

// AMD's hipStreamDestroy waits for what the stream has still to do, and for all else that is in the same queue of the card: on a session's line perhaps for the
// return of a host function, which comes by the line. So a stream is destroyed once it has done everything, and nobody waits for that.

// endStream has the library destroy a stream, and waits for no more than that the library does not know it any longer.
func (r *Runtime) endStream(t hip.Thread, s hip.Stream) (err hip.Error) {
	r.nulls.remove(r, s)
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
