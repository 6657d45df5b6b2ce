package rocm

import (
	"maps"
	"sync"

	"github.com/rocwire/rocwire/hip"
)

// late is what ends once a stream has come there: AMD's library would wait for that in the call that ends it, on a session's line perhaps for the return of a
// host function, which comes by the line.
type late[K comparable] struct {
	mu  sync.Mutex // held while the library ends something, and while a device is reset
	all map[K]int32
}

// add has end called once the stream has done what it was told so far. The mu is held, as when end is called.
func (x *late[K]) add(r *Runtime, t hip.Thread, s hip.Stream, k K, end func(t hip.Thread)) hip.Error {
	t, err := r.threadOf(t, s)
	if err != hip.Success {
		return err
	}
	err = r.After(t, s, func(err hip.Error) {
		if err == hip.Success { // with a device that failed everything has ended
			go x.end(t, k, end)
		}
	})
	if err != hip.Success {
		return err
	}
	if x.all == nil {
		x.all = map[K]int32{}
	}
	x.all[k] = t.Device
	return hip.Success
}

func (x *late[K]) end(t hip.Thread, k K, end func(t hip.Thread)) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if _, ok := x.all[k]; ok { // or the device was reset
		delete(x.all, k)
		end(t)
	}
}

// has says whether k is to end. The mu is held.
func (x *late[K]) has(k K) bool {
	_, ok := x.all[k]
	return ok
}

// reset forgets what ended with a device. The mu is held, since before the reset: nothing of it must end afterwards.
func (x *late[K]) reset(device int32) {
	maps.DeleteFunc(x.all, func(_ K, d int32) bool { return d == device })
}
