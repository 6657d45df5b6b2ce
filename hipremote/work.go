package hipremote

import (
	"encoding/binary"
	"sync/atomic"
)

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
