package rocm

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/rocwire/rocwire/hip"
)

// late is what ends once a stream has come there: AMD's library would wait for that in the call that ends it, on a session's line perhaps for the return of a
// host function, which comes by the line.
type late[K comparable] struct {
	mu    sync.Mutex // held while the library ends something, and while a device is reset
	all   map[K]int32
	ended atomic.Uint64 // how many have

	running struct {
		sync.Mutex
		list []chan struct{} // closed when one whose stream has come to it has ended
	}
}

// add has end called once the stream has done what it was told so far, and what end returns, if anything, without the mu, which is held before.
func (x *late[K]) add(r *Runtime, t hip.Thread, s hip.Stream, k K, end func(t hip.Thread) (then func())) hip.Error {
	t, err := r.threadOf(t, s)
	if err != hip.Success {
		return err
	}
	err = r.After(t, s, func(err hip.Error) {
		if err == hip.Success { // with a device that failed everything has ended
			x.run(func() {
				if then := x.end(t, k, end); then != nil {
					then()
				}
			})
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

// run has f, which ends one, called beside its caller, for whom it is under way already.
func (x *late[K]) run(f func()) {
	c := make(chan struct{})
	x.running.Lock()
	x.running.list = append(x.running.list, c)
	x.running.Unlock()
	go func() {
		f()
		x.ended.Add(1)
		x.running.Lock()
		x.running.list = slices.DeleteFunc(x.running.list, func(y chan struct{}) bool { return y == c })
		x.running.Unlock()
		close(c)
	}()
}

func (x *late[K]) end(t hip.Thread, k K, end func(t hip.Thread) (then func())) (then func()) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if _, ok := x.all[k]; ok { // or the device was reset
		delete(x.all, k)
		return end(t)
	}
	return nil
}

// caughtUp waits until those have ended whose streams have come to them.
func (x *late[K]) caughtUp() {
	x.running.Lock()
	list := slices.Clone(x.running.list)
	x.running.Unlock()
	for _, c := range list {
		<-c
	}
}

// some says whether there are any still to end.
func (x *late[K]) some() bool {
	x.mu.Lock()
	n := len(x.all)
	x.mu.Unlock()
	x.running.Lock()
	defer x.running.Unlock()
	return n+len(x.running.list) > 0
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
