package hipremote

import (
	"encoding/binary"
	"sync/atomic"

	"github.com/rocwire/rocwire/hip"
)

// opKind says what a call means for memory and errors beyond its reply.
type opKind uint8

const (
	returnsAsync opKind = 1 << iota // returns failures of earlier calls
	syncs                           // its success means that a stream, or all, has come to an end
	touches                         // writes device memory at the pointer that follows the thread
)

var opKinds = func() (t [1 << 13]opKind) {
	for _, op := range []uint16{hip.OpDeviceSynchronize, hip.OpStreamSynchronize, hip.OpStreamQuery, hip.OpEventSynchronize, hip.OpEventQuery} {
		t[op] = returnsAsync | syncs
	}
	for _, op := range []uint16{hip.OpMemsetAsync, hip.OpMemset2DAsync, hip.OpMemsetD8Async, hip.OpMemsetD16Async, hip.OpMemsetD32Async} {
		t[op] = returnsAsync | touches
	}
	for _, op := range []uint16{hip.OpFree, hip.OpStreamWaitEvent, hip.OpEventRecord} {
		t[op] = returnsAsync
	}
	return t
}()

func kindOf(op uint16) opKind {
	if int(op) < len(opKinds) {
		return opKinds[op]
	}
	return 0
}

// u64 reads eight bytes at an offset, 0 if they are not there.
func u64(b []byte, at int) uint64 {
	if len(b) < at+8 {
		return 0
	}
	return binary.LittleEndian.Uint64(b[at:])
}

// workCount tells whether the device may be busy with something this client posted. What is posted is counted before it is sent and again
// after: a synchronization that another thread asks for in between does not speak for it.
type workCount struct {
	posted, done atomic.Uint64
}

func (w *workCount) add() { w.posted.Add(1) }

// mark is how much was posted so far.
func (w *workCount) mark() uint64 { return w.posted.Load() }

// reached notes that everything up to a mark is done.
func (w *workCount) reached(mark uint64) {
	for {
		d := w.done.Load()
		if mark <= d || w.done.CompareAndSwap(d, mark) {
			return
		}
	}
}

// busy is false if nothing can be under way.
func (w *workCount) busy() bool { return w.posted.Load() != w.done.Load() }

// tasksOf counts the work of one device.
func (c *Client) tasksOf(device int32) *workCount {
	if uint32(device) >= maxDevices {
		device = 0
	}
	return &c.tasks[device]
}

// moment is how far everything had come when a call was sent that waits for a device or a stream: its success speaks for what was before.
type moment struct {
	work, tasks uint64
	freed       uint64 // blocks by hipFreeAsync
}

func (c *Client) before(device int32) moment {
	return moment{c.work.mark(), c.tasksOf(device).mark(), c.mem.freedLast.Load()}
}
