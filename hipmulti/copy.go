package hipmulti

import (
	"unsafe"

	"github.com/rocwire/rocwire/hip"
)

// job is a copy of rows.
type job struct {
	dst, src                      hip.Ptr
	dpitch, spitch, width, height uint64
	kind                          hip.MemcpyKind
	rows                          bool       // asked for as rows, though it may be one
	wait                          bool       // until host memory may be used again
	stream                        hip.Stream // as its worker knows it
	peer                          *[2]int32  // of a copy between two devices of one worker, their numbers there: to and from
}

func line(dst, src hip.Ptr, n uint64, kind hip.MemcpyKind, wait bool) job {
	return job{dst: dst, src: src, dpitch: n, spitch: n, width: n, height: 1, kind: kind, wait: wait}
}

// extent is the number of bytes from the first to the last of the rows; false if it is more than there can be.
func (j *job) extent(pitch uint64) (uint64, bool) {
	const most = 1 << 46
	if j.width > most || j.height > most || pitch > most/j.height {
		return 0, false
	}
	return pitch*(j.height-1) + j.width, true
}

// on has a worker do it.
func (j *job) on(w member, t hip.Thread) hip.Error {
	switch {
	case j.peer != nil && j.wait:
		return w.MemcpyPeer(t, j.dst, j.peer[0], j.src, j.peer[1], j.width)
	case j.peer != nil:
		return w.MemcpyPeerAsync(t, j.dst, j.peer[0], j.src, j.peer[1], j.width, j.stream)
	case j.rows && j.wait:
		return w.Memcpy2D(t, j.dst, j.dpitch, j.src, j.spitch, j.width, j.height, j.kind)
	case j.rows:
		return w.Memcpy2DAsync(t, j.dst, j.dpitch, j.src, j.spitch, j.width, j.height, j.kind, j.stream)
	case j.wait && j.stream == hip.StreamNull:
		return w.Memcpy(t, j.dst, j.src, j.width, j.kind)
	case j.wait:
		return w.MemcpyWithStream(t, j.dst, j.src, j.width, j.kind, j.stream)
	}
	return w.MemcpyAsync(t, j.dst, j.src, j.width, j.kind, j.stream)
}

// Memcpy is hipMemcpy.
func (r *Runtime) Memcpy(t hip.Thread, dst, src hip.Ptr, n uint64, kind hip.MemcpyKind) hip.Error {
	return r.copy(t, hip.StreamNull, line(dst, src, n, kind, true))
}

// MemcpyWithStream is hipMemcpyWithStream.
func (r *Runtime) MemcpyWithStream(t hip.Thread, dst, src hip.Ptr, n uint64, kind hip.MemcpyKind, s hip.Stream) hip.Error {
	return r.copy(t, s, line(dst, src, n, kind, true))
}

// MemcpyAsync is hipMemcpyAsync.
func (r *Runtime) MemcpyAsync(t hip.Thread, dst, src hip.Ptr, n uint64, kind hip.MemcpyKind, s hip.Stream) hip.Error {
	return r.copy(t, s, line(dst, src, n, kind, false))
}

// Memcpy2D is hipMemcpy2D.
func (r *Runtime) Memcpy2D(t hip.Thread, dst hip.Ptr, dpitch uint64, src hip.Ptr, spitch, width, height uint64, kind hip.MemcpyKind) hip.Error {
	return r.copy(t, hip.StreamNull, job{dst, src, dpitch, spitch, width, height, kind, true, true, 0, nil})
}

// Memcpy2DAsync is hipMemcpy2DAsync.
func (r *Runtime) Memcpy2DAsync(t hip.Thread, dst hip.Ptr, dpitch uint64, src hip.Ptr, spitch, width, height uint64, kind hip.MemcpyKind, s hip.Stream) hip.Error {
	return r.copy(t, s, job{dst, src, dpitch, spitch, width, height, kind, true, false, 0, nil})
}

// MemcpyPeer is hipMemcpyPeer. As in HIP the addresses say where it goes, once the devices exist.
func (r *Runtime) MemcpyPeer(t hip.Thread, dst hip.Ptr, dstDevice int32, src hip.Ptr, srcDevice int32, n uint64) hip.Error {
	j := line(dst, src, n, hip.MemcpyDeviceToDevice, true)
	if code := r.peers(&j, dstDevice, srcDevice); code != hip.Success {
		return code
	}
	return r.copy(t, hip.StreamNull, j)
}

// MemcpyPeerAsync is hipMemcpyPeerAsync.
func (r *Runtime) MemcpyPeerAsync(t hip.Thread, dst hip.Ptr, dstDevice int32, src hip.Ptr, srcDevice int32, n uint64, s hip.Stream) hip.Error {
	j := line(dst, src, n, hip.MemcpyDeviceToDevice, false)
	if code := r.peers(&j, dstDevice, srcDevice); code != hip.Success {
		return code
	}
	return r.copy(t, s, j)
}

// peers notes the devices of a copy if one worker has them and the memory.
func (r *Runtime) peers(j *job, dstDevice, srcDevice int32) hip.Error {
	w, to, from, same, code := r.pair(dstDevice, srcDevice)
	if code != hip.Success || !same {
		return code
	}
	at, ok := r.owner(j.dst)
	if other, is := r.owner(j.src); ok && is && at == other && r.workers[at] == w {
		j.peer = &[2]int32{to, from}
	}
	return hip.Success
}

// copy finds out whose memory it is and whose turn.
func (r *Runtime) copy(t hip.Thread, s hip.Stream, j job) hip.Error {
	c := r.call()
	turn := t
	j.stream = hip.Stream(c.handle(hip.HandleStream, uint64(s)))
	w, code := c.of(&turn)
	if code != hip.Success {
		return code
	}
	to, toDevice := r.owner(j.dst)
	from, fromDevice := r.owner(j.src)
	switch {
	case toDevice && fromDevice && to != from:
		return r.between(c.worker, turn, to, from, j)
	case toDevice && to != c.worker:
		return r.elsewhere(c.worker, turn, to, j.dst, j)
	case fromDevice && from != c.worker:
		return r.elsewhere(c.worker, turn, from, j.src, j)
	}
	return j.on(w, turn)
}

// elsewhere copies within a worker, or between it and the host, in the turn of another worker's stream.
func (r *Runtime) elsewhere(turn int, t hip.Thread, at int, device hip.Ptr, j job) hip.Error {
	s, w := r.workers[turn], r.workers[at]
	there := hip.Thread{ID: t.ID}
	there.Device = deviceOf(w, there, device)
	if j.wait { // it takes its turn on the device whose memory it is, too
		if code := s.Turn(t, j.stream); code != hip.Success {
			return code
		}
		j.stream = hip.StreamNull
		return j.on(w, there)
	}
	_, toDevice := r.owner(j.dst)
	_, fromDevice := r.owner(j.src)
	if !toDevice { // pageable memory: HIP has it done when the call returns
		if _, _, pinned := r.hosts.find(j.dst); !pinned {
			if code := s.Turn(t, j.stream); code != hip.Success {
				return code
			}
			j.stream, j.wait = hip.StreamNull, true
			return j.on(w, there)
		}
	}
	var keep []byte
	if !fromDevice && j.width > 0 && j.height > 0 { // pageable memory may be used again when the call returns
		if _, _, pinned := r.hosts.find(j.src); !pinned {
			n, ok := j.extent(j.dpitch)
			_, size, code := w.MemGetAddressRange(there, j.dst)
			if !ok || code != hip.Success || n > size || j.src == 0 || j.height > 1 && min(j.spitch, j.dpitch) < j.width {
				j.stream, j.wait = hip.StreamNull, true
				return j.on(w, there) // it is wrong: the worker's client says how
			}
			keep = pack(j.src, j.spitch, j.width, j.height)
			j.src, j.spitch = address(keep), j.width
		}
	}
	return s.InTurn(t, j.stream, func() hip.Error {
		a, code := r.aside(place{at, there.Device})
		if code != hip.Success {
			return code
		}
		defer r.done(a)
		code = a.copy(j)
		_ = unsafe.SliceData(keep)
		return code
	})
}

// copy does it beside all other streams, and waits for it.
func (a *aside) copy(j job) hip.Error {
	j.stream, j.wait = a.stream, false
	if code := j.on(a.w, a.t); code != hip.Success {
		return code
	}
	return a.w.StreamSynchronize(a.t, a.stream)
}

// pack is rows of host memory without what lies between them.
func pack(src hip.Ptr, pitch, width, height uint64) []byte {
	b := make([]byte, 0, width*height)
	for i := range height {
		b = append(b, hostBytes(src+hip.Ptr(i*pitch), width)...)
	}
	return b
}

// hostBytes is this process's memory; who calls HIP answers for it being readable.
func hostBytes(p hip.Ptr, n uint64) []byte {
	at := uintptr(p)
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&at)), n)
}

func address(b []byte) hip.Ptr { return hip.Ptr(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }
