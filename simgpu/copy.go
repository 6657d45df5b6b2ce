package simgpu

import (
	"time"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu/card"
	"github.com/rocwire/rocwire/simgpu/queue"
	"github.com/rocwire/rocwire/simgpu/vmem"
)

// stageBytes is up to where an asynchronous copy out of ordinary host memory
// copies the bytes aside, so that the caller may change them at once; a longer
// one waits.
const stageBytes = 64 << 10

// transfer is a checked copy of depth slices of height rows of width bytes.
type transfer struct {
	dst, src       uint64
	dpitch, spitch uint64
	dslice, sslice uint64 // from one slice to the next
	width, height  uint64
	depth          uint64
	dstA, srcA     *vmem.Alloc // nil: host memory of the program's own
	dstOwn, srcOwn bool        // which nobody has told the runtime of: it is the program's again when the call returns
	peer           bool        // hipMemcpyPeer
	staged         []byte      // the source, if it was copied aside
}

// span is how many bytes rows cover from the first byte to the last; false if
// that wraps.
func span(pitch, width, height uint64) (uint64, bool) {
	if height == 0 || width == 0 {
		return 0, true
	}
	if pitch != 0 && (height-1) > (^uint64(0)-width)/pitch {
		return 0, false
	}
	return (height-1)*pitch + width, true
}

// locate is the allocation that holds the n bytes at ptr, nil if they are host
// memory of the program's own: registered, or unknown. ErrorInvalidValue: some
// of it is something else.
func (r *Runtime) locate(ptr hip.Ptr, n uint64) (a *vmem.Alloc, unknown bool, e hip.Error) {
	p := uint64(ptr)
	if p == 0 || n > ^uint64(0)-p {
		return nil, false, hip.ErrorInvalidValue
	}
	s := r.space.Load()
	if s == nil || p+n <= s.Base() || p >= s.Base()+s.Size() {
		if g, ok := r.registered.find(p, 1); ok {
			if n > g.base+g.size-p {
				return nil, false, hip.ErrorInvalidValue
			}
			return nil, false, hip.Success
		}
		return nil, true, hip.Success
	}
	a = r.visible(ptr)
	if a == nil || n > a.End()-p {
		return nil, false, hip.ErrorInvalidValue
	}
	return a, false, hip.Success
}

func kindKnown(kind hip.MemcpyKind) bool {
	return kind >= hip.MemcpyHostToHost && kind <= hip.MemcpyDefault || kind == hip.MemcpyDeviceToDeviceNoCU
}

// newTransfer checks a copy.
func (r *Runtime) newTransfer(d *device, dst hip.Ptr, dpitch uint64, src hip.Ptr, spitch, width, height uint64, kind hip.MemcpyKind) (transfer, hip.Error) {
	tr := transfer{dst: uint64(dst), src: uint64(src), dpitch: dpitch, spitch: spitch, width: width, height: height, depth: 1}
	if !kindKnown(kind) {
		return tr, hip.ErrorInvalidMemcpyDirection
	}
	dn, ok1 := span(dpitch, width, height)
	sn, ok2 := span(spitch, width, height)
	if !ok1 || !ok2 {
		return tr, hip.ErrorInvalidValue
	}
	var e hip.Error
	if tr.dstA, tr.dstOwn, e = r.locate(dst, dn); e != hip.Success {
		return tr, e
	}
	if tr.srcA, tr.srcOwn, e = r.locate(src, sn); e != hip.Success {
		return tr, e
	}
	if !d.reaches(tr.dstA, tr.dst, dn, hip.MemAccessFlagsProtReadWrite) || !d.reaches(tr.srcA, tr.src, sn, hip.MemAccessFlagsProtRead) {
		return tr, hip.ErrorInvalidValue
	}
	if tr.dstOwn && tr.srcOwn && kind != hip.MemcpyHostToHost && kind != hip.MemcpyDefault {
		return tr, hip.ErrorInvalidValue
	}
	return tr, hip.Success
}

// direction is how the copy counts.
func (tr *transfer) direction() (dir card.Copy, counts bool) {
	dst, src := tr.dstA != nil && onCard(tr.dstA.Kind), tr.srcA != nil && onCard(tr.srcA.Kind)
	switch {
	case dst && src:
		return card.CardToCard, true
	case dst:
		return card.HostToCard, true
	case src:
		return card.CardToHost, true
	}
	return 0, false
}

// move makes the copy. It returns the address where it faulted, 0 for none.
func (tr *transfer) move() (fault uint64) {
	return guard(func() {
		if tr.staged != nil {
			copy(vmem.Raw(tr.dst, tr.width), tr.staged)
			return
		}
		for z := range tr.depth {
			dst, src := tr.dst+z*tr.dslice, tr.src+z*tr.sslice
			if tr.height == 1 || tr.dpitch == tr.width && tr.spitch == tr.width {
				n := tr.width * tr.height
				copy(vmem.Raw(dst, n), vmem.Raw(src, n))
				continue
			}
			for i := range tr.height {
				copy(vmem.Raw(dst+i*tr.dpitch, tr.width), vmem.Raw(src+i*tr.spitch, tr.width))
			}
		}
	})
}

// run makes the copy and accounts it. A fault in memory that was freed
// meanwhile ends the context, one in the program's own memory is reported.
func (tr *transfer) run(st *stream) hip.Error {
	begin := time.Now()
	if addr := tr.move(); addr != 0 {
		return st.d.copyFault(st, "copy", addr)
	}
	tr.account(st, tr.width*tr.height*tr.depth, time.Since(begin))
	return hip.Success
}

// account counts a copy of n bytes, and makes one to or from the host take as long as
// the link needs.
func (tr *transfer) account(st *stream, n uint64, took time.Duration) {
	dir, ok := tr.direction()
	if !ok {
		return
	}
	if dir == card.CardToCard {
		if to, from := noteOf(tr.dstA).d, noteOf(tr.srcA).d; to != from {
			to.meter.FromPeer(from.card, n)
		}
	} else {
		took = st.d.slowLink(took)
	}
	st.d.meter.Copied(dir, n, uint64(took))
}

// copyNow makes the copy in the stream's turn and waits for it.
func (tr *transfer) copyNow(st *stream) hip.Error {
	e := hip.Success
	st.q.Do(queue.Task{After: tr.others(st.d), Run: func() { e = tr.run(st) }})
	if e != hip.Success {
		return e
	}
	return st.d.status()
}

// copyLater queues the copy. With memory that is the program's own at one end
// it waits, except for a short source, and so it does from host to host: there
// it is the host's processor that copies.
func (tr *transfer) copyLater(st *stream) hip.Error {
	if _, card := tr.direction(); !card || tr.dstOwn || tr.srcOwn && (tr.height*tr.depth != 1 || tr.width > stageBytes) {
		return tr.copyNow(st)
	}
	if tr.srcOwn {
		tr.staged = make([]byte, tr.width)
		if addr := guard(func() { copy(tr.staged, vmem.Raw(tr.src, tr.width)) }); addr != 0 {
			return st.d.copyFault(st, "copy", addr)
		}
	}
	t := *tr
	tr.add(st, queue.Task{Size: len(t.staged), Run: func() { t.run(st) }})
	return hip.Success
}

// add queues a copy, behind what other devices still do with the memory, and
// before what the null streams of its homes are told next.
func (tr *transfer) add(st *stream, task queue.Task) {
	task.After = tr.others(st.d)
	fence := st.q.Add(task)
	for _, o := range tr.homes() {
		if o != st.d {
			o.null.q.Add(queue.Task{After: []queue.Fence{fence}})
		}
	}
}

// within says that the copy is from and to memory of one device.
func (tr *transfer) within() bool {
	return tr.dstA != nil && tr.srcA != nil && onCard(tr.dstA.Kind) && onCard(tr.srcA.Kind) && len(tr.homes()) == 1
}

// synced says that both ends are memory whose copies wait: HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS.
func (tr *transfer) synced() bool {
	return tr.dstA != nil && tr.srcA != nil && noteOf(tr.dstA).hints.syncs.Load() && noteOf(tr.srcA).hints.syncs.Load()
}

// copyMode is who waits for a copy.
type copyMode struct {
	wait bool // the caller
	peer bool // the null stream of the other device
}

// memcpy is what all copies have in common.
func (r *Runtime) memcpy(t hip.Thread, dst hip.Ptr, dpitch uint64, src hip.Ptr, spitch, width, height uint64,
	kind hip.MemcpyKind, s hip.Stream, mode copyMode) hip.Error {
	_, e := r.enter(t)
	if e != hip.Success {
		return e
	}
	defer r.leave()
	st, e := r.stream(t, s)
	if e != hip.Success {
		return e
	}
	if width == 0 || height == 0 {
		return hip.Success
	}
	if height != 1 && (width > dpitch || width > spitch) {
		return hip.ErrorInvalidPitchValue
	}
	tr, e := r.newTransfer(st.d, dst, dpitch, src, spitch, width, height, kind)
	if e != hip.Success {
		return e
	}
	if dst == src && kind == hip.MemcpyDefault {
		return hip.Success
	}
	tr.peer = mode.peer
	if mode.wait && (!tr.within() || tr.synced()) { // as in HIP nobody waits for a device's copies to itself, unless told to
		return tr.copyNow(st)
	}
	return tr.copyLater(st)
}

// Memcpy copies in the null stream's turn and waits, unless both ends are on
// one device.
func (r *Runtime) Memcpy(t hip.Thread, dst, src hip.Ptr, n uint64, kind hip.MemcpyKind) hip.Error {
	return r.memcpy(t, dst, n, src, n, n, 1, kind, hip.StreamNull, copyMode{wait: true})
}

// MemcpyWithStream copies in a stream's turn and waits.
func (r *Runtime) MemcpyWithStream(t hip.Thread, dst, src hip.Ptr, n uint64, kind hip.MemcpyKind, s hip.Stream) hip.Error {
	return r.memcpy(t, dst, n, src, n, n, 1, kind, s, copyMode{wait: true})
}

// MemcpyAsync copies in a stream's turn. It waits where HIP does: for ordinary
// host memory.
func (r *Runtime) MemcpyAsync(t hip.Thread, dst, src hip.Ptr, n uint64, kind hip.MemcpyKind, s hip.Stream) hip.Error {
	return r.memcpy(t, dst, n, src, n, n, 1, kind, s, copyMode{})
}

// Memcpy2D copies rows, and waits.
func (r *Runtime) Memcpy2D(t hip.Thread, dst hip.Ptr, dpitch uint64, src hip.Ptr, spitch, width, height uint64, kind hip.MemcpyKind) hip.Error {
	return r.memcpy2D(t, dst, dpitch, src, spitch, width, height, kind, hip.StreamNull, true)
}

// Memcpy2DAsync copies rows.
func (r *Runtime) Memcpy2DAsync(t hip.Thread, dst hip.Ptr, dpitch uint64, src hip.Ptr, spitch, width, height uint64, kind hip.MemcpyKind, s hip.Stream) hip.Error {
	return r.memcpy2D(t, dst, dpitch, src, spitch, width, height, kind, s, false)
}

func (r *Runtime) memcpy2D(t hip.Thread, dst hip.Ptr, dpitch uint64, src hip.Ptr, spitch, width, height uint64,
	kind hip.MemcpyKind, s hip.Stream, wait bool) hip.Error {
	switch {
	case !kindKnown(kind):
		return hip.ErrorInvalidMemcpyDirection
	case width != 0 && height != 0 && (width > dpitch || width > spitch):
		return hip.ErrorInvalidPitchValue
	case width != 0 && height != 0 && (fromDevice(kind) && r.target(src).hints == nil || toDevice(kind) && r.target(dst).hints == nil):
		return hip.ErrorInvalidValue // said to be on a device, and is none of HIP's memory
	}
	return r.memcpy(t, dst, dpitch, src, spitch, width, height, kind, s, copyMode{wait: wait})
}

// fromDevice and toDevice are what a direction says of source and destination.
func fromDevice(k hip.MemcpyKind) bool { return k == hip.MemcpyDeviceToHost || within(k) }

func toDevice(k hip.MemcpyKind) bool { return k == hip.MemcpyHostToDevice || within(k) }

func within(k hip.MemcpyKind) bool {
	return k == hip.MemcpyDeviceToDevice || k == hip.MemcpyDeviceToDeviceNoCU
}

// MemcpyPeer copies between the memories of two cards in the turn of both null
// streams. As in HIP it waits for nothing.
func (r *Runtime) MemcpyPeer(t hip.Thread, dst hip.Ptr, dstDevice int32, src hip.Ptr, srcDevice int32, n uint64) hip.Error {
	return r.memcpyPeer(t, dst, dstDevice, src, srcDevice, n, hip.StreamNull, true)
}

// MemcpyPeerAsync copies between the memories of two cards.
func (r *Runtime) MemcpyPeerAsync(t hip.Thread, dst hip.Ptr, dstDevice int32, src hip.Ptr, srcDevice int32, n uint64, s hip.Stream) hip.Error {
	return r.memcpyPeer(t, dst, dstDevice, src, srcDevice, n, s, false)
}

func (r *Runtime) memcpyPeer(t hip.Thread, dst hip.Ptr, dstDevice int32, src hip.Ptr, srcDevice int32, n uint64, s hip.Stream, peer bool) hip.Error {
	for _, id := range []int32{dstDevice, srcDevice} {
		if id < 0 || int(id) >= len(r.devices) {
			return hip.ErrorInvalidDevice
		}
	}
	return r.memcpy(t, dst, n, src, n, n, 1, hip.MemcpyDeviceToDevice, s, copyMode{peer: peer})
}

// CopyIn copies src to device memory in a stream's turn, without waiting. src
// is the runtime's until done is called, which happens in any case if the
// answer is Success, with the outcome.
func (r *Runtime) CopyIn(t hip.Thread, dst hip.Ptr, src []byte, s hip.Stream, done func(hip.Error)) hip.Error {
	return r.copyBytes(t, dst, src, s, done, nil, true)
}

// CopyOut copies device memory to dst in a stream's turn, without waiting; dst
// is the runtime's until done is called: in that turn, or once it is over.
func (r *Runtime) CopyOut(t hip.Thread, dst []byte, src hip.Ptr, s hip.Stream, over bool, done func(hip.Error)) hip.Error {
	if !over {
		return r.copyBytes(t, src, dst, s, done, nil, false)
	}
	var code hip.Error
	return r.copyBytes(t, src, dst, s, func(e hip.Error) { code = e }, func() { done(code) }, false)
}

func (r *Runtime) copyBytes(t hip.Thread, ptr hip.Ptr, host []byte, s hip.Stream, done func(hip.Error), then func(), in bool) hip.Error {
	_, e := r.enter(t)
	if e != hip.Success {
		return e
	}
	defer r.leave()
	st, e := r.stream(t, s)
	if e != hip.Success {
		return e
	}
	n := uint64(len(host))
	a, unknown, e := r.locate(ptr, n)
	if e != hip.Success {
		return e
	}
	want := hip.MemAccessFlags(hip.MemAccessFlagsProtRead)
	if in {
		want = hip.MemAccessFlagsProtReadWrite
	}
	if unknown || !st.d.reaches(a, uint64(ptr), n, want) {
		return hip.ErrorInvalidValue
	}
	tr := transfer{dst: uint64(ptr), dstA: a, width: n, height: 1, depth: 1}
	if !in {
		tr = transfer{src: uint64(ptr), srcA: a, width: n, height: 1, depth: 1}
	}
	tr.add(st, queue.Task{Always: true, Then: then, Size: min(len(host), stageBytes), Run: func() {
		e := st.d.status()
		if e == hip.Success {
			begin := time.Now()
			addr := guard(func() {
				if in {
					copy(vmem.Raw(uint64(ptr), n), host)
				} else {
					copy(host, vmem.Raw(uint64(ptr), n))
				}
			})
			if addr != 0 {
				e = st.d.copyFault(st, "copy", addr)
			} else {
				tr.account(st, n, time.Since(begin))
			}
		}
		done(e)
	}})
	return hip.Success
}
