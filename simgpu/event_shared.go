package simgpu

import (
	"context"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu/card"
	"github.com/rocwire/rocwire/simgpu/queue"
	"github.com/rocwire/rocwire/simgpu/vmem"
)

// sharedEvent is what the processes that have an interprocess event see of it: a
// page of a memory file. Whatever another process writes there can make this one
// wait or not wait, and nothing else.
type sharedEvent struct {
	page  *eventPage
	ours  *card.Session
	fd    int
	token hip.ShareToken // zero until it was exported, or of where it was opened
	own   bool           // made by this process
	uses  atomic.Int32   // the event itself, and tasks and calls that look at the page
}

// use keeps the page until done; false if the event has ended.
func (e *sharedEvent) use() bool {
	for {
		n := e.uses.Load()
		if n == 0 {
			return false
		}
		if e.uses.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

func (e *sharedEvent) done() {
	if e.uses.Add(-1) == 0 {
		_ = unix.Munmap(unsafe.Slice((*byte)(unsafe.Pointer(e.page)), vmem.PageSize))
	}
}

// eventPage counts recordings: the event is reached when the last is.
type eventPage struct {
	recorded atomic.Uint64
	reached  atomic.Uint64
	owner    atomic.Uint32 // session of the last recording
	changed  atomic.Uint32 // futex: reached has grown
}

// newSharedEvent makes one, or maps the one behind fd.
func newSharedEvent(fd int, ours *card.Session) (*sharedEvent, error) {
	e := &sharedEvent{fd: fd, own: fd < 0, ours: ours}
	if e.own {
		var err error
		if e.fd, err = vmem.NewFile(vmem.PageSize); err != nil {
			return nil, err
		}
	}
	b, err := unix.Mmap(e.fd, 0, vmem.PageSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		_ = unix.Close(e.fd)
		return nil, err
	}
	e.page = (*eventPage)(unsafe.Pointer(&b[0]))
	e.uses.Store(1)
	return e, nil
}

// close ends the event. The page stays as long as somebody uses it.
func (e *sharedEvent) close(b hip.Broker) {
	if e.own && e.token != (hip.ShareToken{}) {
		b.Withdraw(e.token)
	}
	_ = unix.Close(e.fd)
	e.done()
}

// record notes a recording by a session and returns its number.
func (p *eventPage) record(by *card.Session) uint64 {
	p.owner.Store(by.Name())
	return p.recorded.Add(1)
}

// reach notes that a recording is reached, and wakes those that wait.
func (p *eventPage) reach(n uint64) {
	for {
		old := p.reached.Load()
		if old >= n || p.reached.CompareAndSwap(old, n) {
			break
		}
	}
	p.changed.Add(1)
	const most = 1<<31 - 1
	_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&p.changed)), futexWake, most, 0, 0, 0)
}

const (
	futexWait = 0
	futexWake = 1
)

// passed says whether the last recording is reached. One of a session that has
// ended never is: it passes. Who lives, the parent of all says.
func (p *eventPage) passed(n uint64, ours *card.Session) bool {
	return p.reached.Load() >= n || !ours.Alive(p.owner.Load())
}

// lookAgain is how often who waits looks whether the other process still lives.
const lookAgain = 20 * time.Millisecond

// wait waits for recording n, or the end of ctx.
func (p *eventPage) wait(ctx context.Context, n uint64, ours *card.Session) {
	timeout := unix.NsecToTimespec(int64(lookAgain))
	for ctx.Err() == nil {
		seen := p.changed.Load()
		if p.passed(n, ours) {
			return
		}
		_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&p.changed)), futexWait, uintptr(seen), uintptr(unsafe.Pointer(&timeout)), 0, 0)
	}
}

// record records the event on a stream.
func (e *sharedEvent) record(v *event, st *stream) hip.Error {
	if !e.use() {
		return hip.ErrorInvalidHandle
	}
	m, n := st.d.queues.NewMark(), e.page.record(e.ours)
	m.Set(st.q.Add(queue.Task{Always: true, Apart: true, Run: func() {
		defer e.done()
		m.Now()
		e.page.reach(n)
	}}))
	v.set(m)
	return hip.Success
}

// holdUp makes a stream wait for the event as it is recorded now.
func (e *sharedEvent) holdUp(st *stream) hip.Error {
	if !e.use() {
		return hip.ErrorInvalidHandle
	}
	n := e.page.recorded.Load()
	if e.page.passed(n, e.ours) {
		e.done()
		return hip.Success
	}
	ctx := st.d.context()
	st.q.Add(queue.Task{Always: true, Apart: true, Run: func() {
		defer e.done()
		e.page.wait(ctx, n, e.ours)
	}})
	return hip.Success
}

// query says whether the event is reached, and may wait for that.
func (e *sharedEvent) query(d *device, wait bool) hip.Error {
	if !e.use() {
		return hip.ErrorInvalidHandle
	}
	defer e.done()
	n := e.page.recorded.Load()
	if wait {
		e.page.wait(d.context(), n, e.ours)
	} else if !e.page.passed(n, e.ours) {
		return hip.ErrorNotReady
	}
	return d.status()
}

// IpcGetEventHandle is what another process opens an event by.
// ErrorInvalidConfiguration: it was not made for that.
func (r *Runtime) IpcGetEventHandle(t hip.Thread, ev hip.Event) (hip.IpcEventHandle, hip.Error) {
	if _, e := r.enter(t); e != hip.Success {
		return hip.IpcEventHandle{}, e
	}
	defer r.leave()
	v, ok := r.events.get(ev)
	if !ok {
		return hip.IpcEventHandle{}, hip.ErrorInvalidValue
	}
	if v.shared == nil {
		return hip.IpcEventHandle{}, hip.ErrorInvalidConfiguration
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.shared.token == (hip.ShareToken{}) {
		token, e := r.o.Broker.Publish(hip.Shared{FD: v.shared.fd, Size: vmem.PageSize, Card: uint32(v.d.card), Kind: sharedEventPage})
		if e != hip.Success {
			return hip.IpcEventHandle{}, e
		}
		v.shared.token = token
	}
	return hip.IpcEventHandle(ticket{token: v.shared.token, size: vmem.PageSize}.handle()), hip.Success
}

// IpcOpenEventHandle is the event of another process. ErrorInvalidContext: it is
// this process's own.
func (r *Runtime) IpcOpenEventHandle(t hip.Thread, handle *hip.IpcEventHandle) (hip.Event, hip.Error) {
	d, e := r.enter(t)
	if e != hip.Success {
		return 0, e
	}
	defer r.leave()
	if handle == nil {
		return 0, hip.ErrorInvalidValue
	}
	h := hip.IpcMemHandle(*handle)
	k := ticketOf(&h)
	own := r.events.list(func(v *event) bool {
		v.mu.Lock()
		defer v.mu.Unlock()
		return v.shared != nil && v.shared.own && v.shared.token == k.token
	})
	if len(own) > 0 && k.token != (hip.ShareToken{}) {
		return 0, hip.ErrorInvalidContext
	}
	s, _, e := r.fetch(k.token, sharedEventPage)
	if e != hip.Success {
		return 0, e
	}
	shared, err := newSharedEvent(s.FD, r.session)
	if err != nil {
		return 0, hip.ErrorMapFailed
	}
	shared.token = k.token
	ev := hip.Event(r.handle())
	r.events.put(ev, &event{d: d, flags: hip.EventDisableTiming | eventInterprocess, shared: shared})
	return ev, hip.Success
}
