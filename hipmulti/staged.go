package hipmulti

import (
	"runtime"

	"github.com/rocwire/rocwire/hip"
)

// stage is the size of the pieces in which something is copied from one worker to another.
const stage = 8 << 20

// between copies from one worker's memory to another's, in the turn of a stream; a copy that waits is on the null streams of both devices.
func (r *Runtime) between(turn int, t hip.Thread, to, from int, j job) hip.Error {
	switch {
	case j.kind < 0 || j.kind > hip.MemcpyDefault && j.kind != hip.MemcpyDeviceToDeviceNoCU:
		return hip.ErrorInvalidMemcpyDirection
	case j.width == 0 || j.height == 0:
		return hip.Success
	case j.height > 1 && (j.dpitch < j.width || j.spitch < j.width):
		return hip.ErrorInvalidPitchValue
	}
	dst, src := place{worker: to}, place{worker: from}
	for _, x := range []struct {
		*place
		p     hip.Ptr
		pitch uint64
	}{{&dst, j.dst, j.dpitch}, {&src, j.src, j.spitch}} {
		w := r.workers[x.worker]
		x.device = deviceOf(w, t, x.p)
		n, ok := j.extent(x.pitch)
		base, size, code := w.MemGetAddressRange(hip.Thread{Device: x.device, ID: t.ID}, x.p)
		if code == hip.ErrorNotInitialized {
			return code
		}
		if !ok || code != hip.Success || n > size || uint64(x.p-base) > size-n {
			return hip.ErrorInvalidValue
		}
	}
	work := func(dst, src *aside) hip.Error { return staged(dst.copy, src.copy, j) }
	if !j.wait {
		return r.workers[turn].InTurn(t, j.stream, func() hip.Error { return r.aside2(dst, src, work) })
	}
	if at := (place{turn, t.Device}); j.stream != hip.StreamNull || at != dst && at != src {
		if code := r.workers[turn].Turn(t, j.stream); code != hip.Success {
			return code
		}
	}
	return r.onBoth(dst, src, j.stream != hip.StreamNull, work)
}

// aside2 does something beside all streams of two devices.
func (r *Runtime) aside2(to, from place, work func(dst, src *aside) hip.Error) hip.Error {
	dst, code := r.aside(to)
	if code != hip.Success {
		return code
	}
	defer r.done(dst)
	src, code := r.aside(from)
	if code != hip.Success {
		return code
	}
	defer r.done(src)
	return work(dst, src)
}

// onBoth does something when the null streams of two devices have both come to it, and both stand still for it. Nobody waits for that unless asked to:
// as in HIP, what stays on devices is not waited for.
func (r *Runtime) onBoth(to, from place, wait bool, work func(dst, src *aside) hip.Error) hip.Error {
	dst, code := r.aside(to)
	if code != hip.Success {
		return code
	}
	src, code := r.aside(from)
	if code != hip.Success {
		r.done(dst)
		return code
	}
	over := make(chan struct{})
	r.both.Lock() // two such meet in one order on all streams, or each could wait for the other
	for _, a := range []*aside{src, dst} {
		if code == hip.Success {
			code = a.w.EventRecord(a.t, a.event, hip.StreamNull)
		}
		if code == hip.Success {
			code = a.w.InTurn(a.t, hip.StreamNull, func() hip.Error { <-over; return hip.Success })
		}
	}
	r.both.Unlock()
	if code != hip.Success {
		close(over)
		r.done(src)
		r.done(dst)
		return code
	}
	result := make(chan hip.Error, 1)
	go func() {
		code := hip.Success
		for _, a := range []*aside{src, dst} {
			if c := a.w.EventSynchronize(a.t, a.event); c != hip.Success {
				a.w.Report(a.t.Device, c) // it is the program's to hear, too
				code = c
			}
		}
		if code == hip.Success {
			code = work(dst, src)
		}
		if code != hip.Success && !wait {
			dst.w.Report(dst.t.Device, code)
		}
		r.done(src)
		r.done(dst)
		close(over)
		result <- code
	}()
	if wait {
		return <-result
	}
	return hip.Success
}

// staged reads pieces and writes them, the next one while the one before is written.
func staged(write, read func(job) hip.Error, j job) hip.Error {
	free := make(chan []byte, 2)
	free <- nil
	free <- nil
	type piece struct {
		job
		buf  []byte
		code hip.Error
	}
	full := make(chan piece, 1)
	stop := make(chan struct{})
	go func() {
		defer close(full)
		j.pieces(func(p job) bool {
			var buf []byte
			select {
			case buf = <-free:
			case <-stop:
				return false
			}
			n := p.width * p.height
			if uint64(cap(buf)) < n {
				buf = make([]byte, n)
			}
			in := p
			in.dst, in.dpitch, in.kind = address(buf), p.width, hip.MemcpyDeviceToHost
			code := read(in)
			select {
			case full <- piece{p, buf, code}:
				return code == hip.Success
			case <-stop:
				return false
			}
		})
	}()
	defer close(stop)
	for p := range full {
		if p.code != hip.Success {
			return p.code
		}
		out := p.job
		out.src, out.spitch, out.kind = address(p.buf), p.width, hip.MemcpyHostToDevice
		code := write(out)
		runtime.KeepAlive(p.buf)
		if code != hip.Success {
			return code
		}
		free <- p.buf
	}
	return hip.Success
}

// pieces cuts a copy into ones of at most stage bytes, until f returns false.
func (j job) pieces(f func(job) bool) {
	if j.height > 1 && j.dpitch == j.width && j.spitch == j.width { // rows without gaps are one
		j.width *= j.height
		j.height, j.dpitch, j.spitch = 1, j.width, j.width
	}
	rows := max(1, stage/j.width)
	for y := uint64(0); y < j.height; y += rows {
		n := min(rows, j.height-y)
		for x := uint64(0); x < j.width; x += stage { // a row longer than a piece is alone
			p := j
			p.dst, p.src = j.dst+hip.Ptr(y*j.dpitch+x), j.src+hip.Ptr(y*j.spitch+x)
			p.width, p.height, p.rows = min(stage, j.width-x), n, n > 1
			if !f(p) {
				return
			}
		}
	}
}
