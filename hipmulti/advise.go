package hipmulti

import (
	"encoding/binary"

	"github.com/rocwire/rocwire/hip"
)

// home says that a call is for the worker at which host memory is at home, or whose device memory it is.
func (c *call) home(p hip.Ptr) {
	if c.err != hip.Success || c.worker >= 0 {
		return
	}
	if _, x, ok := c.r.hosts.find(p); ok {
		c.worker = x.home.worker
		return
	}
	c.address(p)
}

// noDevice is a number that no worker's device has.
const noDevice = 1 << 30

// place is where a device is; false if there is none.
func (c *call) place(n int32) (place, bool) {
	if c.err != hip.Success {
		return place{}, false
	}
	return c.devs.at(n)
}

// MemAdvise is hipMemAdvise. Advice is kept where the memory is at home, and can name devices of that worker.
func (r *Runtime) MemAdvise(t hip.Thread, p hip.Ptr, n uint64, advice hip.MemoryAdvise, device int32) hip.Error {
	c := r.call()
	c.home(p)
	c.thread(t)
	if at, ok := c.place(device); ok && at.worker == c.worker {
		device = at.device
	} else if ok && advice != hip.MemAdviseSetReadMostly && advice != hip.MemAdviseUnsetReadMostly {
		return hip.ErrorInvalidDevice // advice that is about a device, of another worker
	} else if device >= 0 {
		device = noDevice // for the worker to judge
	}
	w, code := c.of(&t)
	if code != hip.Success {
		return code
	}
	return w.MemAdvise(t, p, n, advice, device)
}

// MemRangeGetAttribute is hipMemRangeGetAttribute.
func (r *Runtime) MemRangeGetAttribute(t hip.Thread, size uint64, attr hip.MemRangeAttribute, p hip.Ptr, n uint64) ([]byte, hip.Error) {
	c := r.call()
	c.home(p)
	w, code := c.of(&t)
	if code != hip.Success {
		return nil, code
	}
	b, code := w.MemRangeGetAttribute(t, size, attr, p, n)
	if code != hip.Success {
		return nil, code
	}
	switch attr {
	case hip.MemRangeAttributePreferredLocation, hip.MemRangeAttributeAccessedBy, hip.MemRangeAttributeLastPrefetchLocation: // devices
		for i := 0; i+4 <= len(b); i += 4 {
			binary.LittleEndian.PutUint32(b[i:], uint32(c.number(int32(binary.LittleEndian.Uint32(b[i:])))))
		}
	}
	return b, hip.Success
}

// MemPrefetchAsync is hipMemPrefetchAsync. To a device of another worker than the stream's it is prefetched at once.
func (r *Runtime) MemPrefetchAsync(t hip.Thread, p hip.Ptr, n uint64, device int32, s hip.Stream) hip.Error {
	c := r.call()
	turn := t
	s = hip.Stream(c.handle(hip.HandleStream, uint64(s)))
	w, code := c.of(&turn)
	if code != hip.Success {
		return code
	}
	if device >= 0 {
		to := r.call()
		device = to.device(device)
		if to.err != hip.Success {
			return to.err
		}
		if to.worker != c.worker {
			if code := w.StreamQuery(turn, s); code != hip.Success && code != hip.ErrorNotReady {
				return code
			}
			w, turn, s = r.workers[to.worker], hip.Thread{Device: device, ID: t.ID}, hip.StreamNull
		}
	}
	return w.MemPrefetchAsync(turn, p, n, device, s)
}

// MemAddressReserve is hipMemAddressReserve. An address that is another worker's is no hint for this one.
func (r *Runtime) MemAddressReserve(t hip.Thread, size, alignment uint64, hint hip.Ptr, flags uint64) (hip.Ptr, hip.Error) {
	c := r.call()
	w, code := c.of(&t)
	if code != hip.Success {
		return 0, code
	}
	if o, ok := r.owner(hint); ok && o != c.worker {
		hint = 0
	}
	p, code := w.MemAddressReserve(t, size, alignment, hint, flags)
	if code != hip.Success {
		return 0, code
	}
	c.claim(p)
	return p, c.err
}
