package hipremote

import (
	"cmp"
	"runtime"
	"unsafe"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/wire"
)

const (
	// waitFirst is the size from which a blocking copy to the device lets the stream finish before it sends.
	waitFirst = 1 << 20
	// fromPiece is the size of the pieces of a copy from a device whose memory the worker cannot send from where it lies.
	fromPiece = 32 << 20
)

// copyTo sends host memory in messages that let other threads' calls in between. It may be pinned memory, which stays as it is until a copy that does not wait is
// done: HIP asks that of the program.
func (c *Client) copyTo(ct *callTime, l *link, op uint16, t hip.Thread, m *hiprpc.Copy, src, spitch uint64, wait, pinned bool) hip.Error {
	n, _ := m.Bytes()
	c.landings.wait(src, spitch*(m.Height-1)+m.Width)
	if done, code := c.nearCopy(ct, l, op, t, m, src, spitch, wait); done {
		return code
	}
	// A copy that waits comes back when everything before it is done. If that is known already, and the worker writes to device memory itself, it
	// need not be waited for: its bytes have left host memory, and whatever else may look for them comes behind. Where the worker's runtime makes
	// the copy, what is next on a stream that does not wait for the null stream would not. A long one lets the stream finish before it is sent, so
	// that the worker reads it from the socket straight into device memory.
	behind := wait && (!l.direct || c.busyOn(m.Device))
	if wait && n >= waitFirst && c.work.busy() {
		if code := c.StreamSynchronize(t, m.Stream); code != hip.Success {
			return code
		}
	}
	on := terms{lend: pinned && !wait}
	if behind && n > hiprpc.MaxUnacknowledged || n > wire.MaxBulk {
		on.loan = new(wire.Loan)
	}
	code := c.sendTo(ct, l, op, m, src, spitch, on)
	if code == hip.Success && behind {
		code = c.StreamSynchronize(t, m.Stream)
	}
	if on.loan != nil {
		l.Return(on.loan)
	}
	if wait && !behind { // what was before it is done, too, as far as the program may think, and the worker was not asked
		l.ReclaimAll()
	}
	return code
}

// terms are what host memory is sent on: until when it must stay as it is.
type terms struct {
	lend bool       // until the copy is done
	loan *wire.Loan // if that is not nil, and not lend, until it is returned
}

// sendTo sends the bytes of a copy to the device.
func (c *Client) sendTo(ct *callTime, l *link, op uint16, m *hiprpc.Copy, src, spitch uint64, on terms) hip.Error {
	n, _ := m.Bytes()
	if m.Height > 1 {
		return c.copyRowsTo(ct, l, op, m, src, spitch, on)
	}
	m.Dpitch, m.Spitch = 0, 0
	data := hostBytes(src, n)
	if code := c.reveal(l, data); code != hip.Success {
		return code
	}
	for len(data) > 0 {
		part := data[:min(len(data), wire.MaxBulk)]
		m.Width = uint64(len(part))
		if code := c.sendBulk(ct, l, op, m, part, on); code != hip.Success {
			return code
		}
		m.Dst += hip.Ptr(len(part))
		data = data[len(part):]
	}
	return hip.Success
}

// copyRowsTo packs rows closely and sends as many at once as fit.
func (c *Client) copyRowsTo(ct *callTime, l *link, op uint16, m *hiprpc.Copy, src, spitch uint64, on terms) hip.Error {
	if m.Width > wire.MaxBulk { // rows of their own
		row := *m
		row.Height = 1
		for i := range m.Height {
			row.Dst, row.Width = m.Dst+hip.Ptr(i*m.Dpitch), m.Width
			if code := c.sendTo(ct, l, op, &row, src+i*spitch, 0, on); code != hip.Success {
				return code
			}
		}
		return hip.Success
	}
	rows := max(1, wire.MaxBulk/m.Width)
	buf := make([]byte, 0, min(rows, m.Height)*m.Width)
	part := *m
	for at := uint64(0); at < m.Height; at += part.Height {
		part.Height = min(rows, m.Height-at)
		part.Dst = m.Dst + hip.Ptr(at*m.Dpitch)
		buf = buf[:0]
		for i := range part.Height {
			buf = append(buf, hostBytes(src+(at+i)*spitch, m.Width)...)
		}
		if code := c.reveal(l, buf); code != hip.Success {
			return code
		}
		if code := c.sendBulk(ct, l, op, &part, buf, terms{}); code != hip.Success {
			return code
		}
	}
	return hip.Success
}

// sendBulk sends one message of a copy. Small ones are posted; of larger ones the client hears when they are executed, so that it
// never has more under way than the worker can stage.
func (c *Client) sendBulk(ct *callTime, l *link, op uint16, m *hiprpc.Copy, part []byte, on terms) hip.Error {
	if len(part) <= hiprpc.MaxUnacknowledged {
		var buf [128]byte
		return c.send(ct, l, op, m.Append(buf[:0]), part)
	}
	am := *m
	am.Async = true // the reply only makes room; a failure is told as an asynchronous one
	var buf [128]byte
	return c.sendStaged(ct, l, op, am.Append(buf[:0]), part, on)
}

// sendStaged sends one message of a copy and keeps account of it until it is executed. part is the caller's again when it returns, unless the terms are others.
func (c *Client) sendStaged(ct *callTime, l *link, op uint16, req, part []byte, on terms) hip.Error {
	if !c.stage.take(len(part)) { // the connection has ended
		return cmp.Or(c.async.died(), hip.ErrorNotInitialized)
	}
	copies := &c.tasksOf(int32(uint32(u64(req, 0)))).copies
	copies.Add(1)
	msg := wire.GetMsg()
	msg.Req, msg.Bulk = append(msg.Req[:0], req...), part
	if msg.Lend = on.lend; !on.lend {
		msg.Loan = on.loan
	}
	n := len(part)
	err := ct.start(l, op, msg, func(msg *wire.Msg, _ error) {
		c.stage.give(n)
		msg.Req = nil // if the connection ends, start may not be through with it
		wire.PutMsg(msg)
	})
	copies.Add(1)
	runtime.KeepAlive(part)
	if err != nil {
		c.stage.give(n)
		return c.broken(l, err)
	}
	return hip.Success
}

// copyFrom fetches device memory, from the socket straight to where it belongs.
func (c *Client) copyFrom(ct *callTime, l *link, op uint16, t hip.Thread, m *hiprpc.Copy, dst, dpitch uint64, wait bool) hip.Error {
	if wait {
		if done, code := c.nearCopy(ct, l, op, t, m, dst, dpitch, wait); done {
			if code == hip.Success {
				code = c.pull(ct, l, 0)
			}
			return code
		}
	}
	if m.Height > 1 {
		return c.copyRowsFrom(ct, l, op, m, dst, dpitch)
	}
	n := m.Width
	m.Dpitch, m.Spitch = 0, 0
	piece := n
	if !l.direct {
		piece = fromPiece
	}
	var x ended // when the last piece had come
	for n > 0 {
		m.Width = min(n, piece)
		part := hostBytes(dst, m.Width)
		code := hip.Success
		if wait {
			x, code = c.fetch(ct, l, op, m, part)
		} else {
			code = c.fetchLater(ct, l, op, m, part)
		}
		if code != hip.Success {
			return code
		}
		dst, m.Src, n = dst+m.Width, m.Src+hip.Ptr(m.Width), n-m.Width
	}
	if wait {
		return c.show(ct, l, x)
	}
	return hip.Success
}

// fetch gets the bytes of one message and waits for them.
func (c *Client) fetch(ct *callTime, l *link, op uint16, m *hiprpc.Copy, dst []byte) (x ended, code hip.Error) {
	var buf [128]byte
	at := c.before(m.Device)
	if x, code = c.fetchBytes(ct, l, op, m.Append(buf[:0]), dst); code == hip.Success {
		x.device, x.at = c.emptied(m.Device, m.Stream), at
	}
	return x, code
}

// fetchBytes is fetch with an encoded request. What it says to have ended is of all devices.
func (c *Client) fetchBytes(ct *callTime, l *link, op uint16, req, dst []byte) (x ended, code hip.Error) {
	msg := wire.GetMsg()
	defer wire.PutMsg(msg)
	for {
		at := moment{work: c.work.mark()}
		msg.Req, msg.Dst = append(msg.Req[:0], req...), dst
		if err := ct.call(l, op, msg); err != nil {
			return ended{}, c.broken(l, err)
		}
		code := hip.Error(msg.Code)
		var f hiprpc.Failure
		switch {
		case code == hip.Success && msg.DstN != len(dst):
			code = c.violation(op)
		case code == hip.Success:
			return ended{idleUpTo(msg.Rep, at), -1, at}, code
		case !code.Valid():
			code = hip.ErrorUnknown
		case f.Decode(msg.Rep) && !c.async.first(f):
			continue // a failure that has been returned already stood in the way
		}
		return ended{}, code
	}
}

// fetchLater gets the bytes of one message when the stream comes to it: before any reply that says the stream is done. A failure comes as an
// asynchronous one.
func (c *Client) fetchLater(ct *callTime, l *link, op uint16, m *hiprpc.Copy, dst []byte) hip.Error {
	var buf [128]byte
	return c.fetchBytesLater(ct, l, op, m.Device, m.Append(buf[:0]), dst)
}

func (c *Client) fetchBytesLater(ct *callTime, l *link, op uint16, device int32, req, dst []byte) hip.Error {
	tasks := c.tasksOf(device)
	tasks.add()
	msg := wire.GetMsg()
	msg.Req, msg.Dst = append(msg.Req[:0], req...), dst
	life := c.async.life.Load()
	x := c.landings.expect(uint64(uintptr(unsafe.Pointer(unsafe.SliceData(dst)))), uint64(len(dst)))
	err := ct.start(l, op, msg, func(msg *wire.Msg, err error) {
		c.landings.landed(x)
		if err == nil && msg.Code == 0 && msg.DstN != len(dst) {
			c.async.local(device, life, c.violation(op))
		}
		msg.Req = nil // as in sendStaged
		wire.PutMsg(msg)
	})
	tasks.add()
	if err != nil {
		c.landings.landed(x)
		return c.broken(l, err)
	}
	return hip.Success
}

// copyRowsFrom fetches rows packed closely and lays them out. It waits even for an asynchronous copy to pinned memory.
func (c *Client) copyRowsFrom(ct *callTime, l *link, op uint16, m *hiprpc.Copy, dst, dpitch uint64) hip.Error {
	rows := max(1, fromPiece/m.Width)
	part := *m
	part.Async = false
	var buf []byte
	var x ended
	for at := uint64(0); at < m.Height; at += part.Height {
		part.Height = min(rows, m.Height-at)
		part.Src = m.Src + hip.Ptr(at*m.Spitch)
		if n := part.Height * m.Width; uint64(len(buf)) != n {
			buf = make([]byte, n)
		}
		var code hip.Error
		if x, code = c.fetch(ct, l, op, &part, buf); code != hip.Success {
			return code
		}
		for i := range part.Height {
			copy(hostBytes(dst+(at+i)*dpitch, m.Width), buf[i*m.Width:])
		}
	}
	return c.show(ct, l, x)
}

// copyWithin queues a copy on the device. Host memory that kernels use is brought up to date before, and after if the caller waits. As in HIP a
// copy within a device's own memory is never waited for; one across devices is, since what follows on the other is not behind it. Only for
// hipMemcpyPeer the worker sees to that.
func (c *Client) copyWithin(ct *callTime, l *link, op uint16, t hip.Thread, m *hiprpc.Copy, dst, src side, wait, across bool) hip.Error {
	for _, s := range [...]side{dst, src} {
		if s.region != nil {
			if code := c.push(l, s.region); code != hip.Success {
				return code
			}
		}
	}
	if m.Height == 1 {
		m.Dpitch, m.Spitch = 0, 0
	}
	synced := wait && c.copiesWait(m.Dst, m.Src)
	m.Async = m.Async || synced // it is waited for here, not on the session's line
	var buf [128]byte
	code := c.send(ct, l, op, m.Append(buf[:0]), nil)
	if code == hip.Success && wait && (across || synced || dst.region != nil || src.region != nil || op == hip.OpMemcpyWithStream) {
		code = c.StreamSynchronize(t, m.Stream)
	}
	return code
}
