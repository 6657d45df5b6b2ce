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

// work tells whether the devices may be busy with something this client posted. What is posted is counted before it is sent and again after: a
// synchronization that another thread asks for in between does not speak for it. Each message has one count, for that is part of the cost of
// every call; who wants to know of all adds them up.
type work struct {
	tasks [maxDevices]workCount // to each device
	done  reached               // of all together
}

// mark is how much was posted so far.
func (w *work) mark() uint64 {
	n := uint64(0)
	for i := range w.tasks {
		n += w.tasks[i].posted.Load() + w.tasks[i].copies.Load()
	}
	return n
}

// quiet is how much was posted so far, and whether nothing of it can be under way. What is done is read first: if everything counted afterwards is no
// more, each count is as it was when the mark was made.
func (w *work) quiet() (mark uint64, quiet bool) {
	done := w.done.Load()
	mark = w.mark()
	return mark, mark == done
}

// busy is false if nothing can be under way.
func (w *work) busy() bool {
	_, quiet := w.quiet()
	return !quiet
}

// workCount is the work of one device.
type workCount struct {
	posted atomic.Uint64 // but copies to it, which are done as soon as it has nothing else to do and they have arrived
	copies atomic.Uint64 // those
	done   reached       // of posted
	copied reached       // of copies
}

func (w *workCount) add() { w.posted.Add(1) }

// mark is how much was posted so far.
func (w *workCount) mark() uint64 { return w.posted.Load() }

// busy is false if nothing can be under way.
func (w *workCount) busy() bool {
	done := w.done.Load()
	return w.mark() != done
}

// copying is busy for copies.
func (w *workCount) copying() bool {
	done := w.copied.Load()
	return w.copies.Load() != done
}

// idle notes that nothing is under way of what was posted before a moment.
func (w *workCount) idle(at moment) {
	w.done.note(at.tasks)
	w.copied.note(at.copies)
}

// reached is the highest mark up to which everything is done.
type reached struct{ atomic.Uint64 }

func (r *reached) note(mark uint64) {
	for {
		d := r.Load()
		if mark <= d || r.CompareAndSwap(d, mark) {
			return
		}
	}
}

// tasksOf counts the work of one device.
func (c *Client) tasksOf(device int32) *workCount {
	if uint32(device) >= maxDevices {
		device = 0
	}
	return &c.work.tasks[device]
}

// busyOn is false if nothing can be under way on a device.
func (c *Client) busyOn(device int32) bool { return c.tasksOf(device).busy() && c.work.busy() }

// moment is how far everything had come when a call was sent that waits for a device or a stream: its success speaks for what was before.
type moment struct {
	work, tasks, copies uint64
	freed               uint64 // blocks by hipFreeAsync
}

func (c *Client) before(device int32) moment {
	w := c.tasksOf(device)
	return moment{c.work.mark(), w.mark(), w.copies.Load(), c.mem.freedLast.Load()}
}
