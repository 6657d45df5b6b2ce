package hipmulti

import "github.com/rocwire/rocwire/hip"

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

// MemAdvise is hipMemAdvise. Advice is kept by the client of the worker at which the memory is at home, in the program's numbers of devices: it may
// name those of any worker.
func (r *Runtime) MemAdvise(t hip.Thread, p hip.Ptr, n uint64, advice hip.MemoryAdvise, device int32) hip.Error {
	c := r.call()
	c.home(p)
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
	return w.MemRangeGetAttribute(t, size, attr, p, n)
}

// MemPrefetchAsync is hipMemPrefetchAsync. Memory is noted as prefetched where it is at home; the stream may be another worker's.
func (r *Runtime) MemPrefetchAsync(t hip.Thread, p hip.Ptr, n uint64, device int32, s hip.Stream) hip.Error {
	c, home := r.call(), r.call()
	turn := t
	s = hip.Stream(c.handle(hip.HandleStream, uint64(s)))
	w, code := c.of(&turn)
	if code != hip.Success {
		return code
	}
	if home.home(p); home.worker >= 0 && home.worker != c.worker {
		if code := w.StreamQuery(turn, s); code != hip.Success && code != hip.ErrorNotReady {
			return code
		}
		if w, code = home.of(&t); code != hip.Success {
			return code
		}
		turn, s = t, hip.StreamNull
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
