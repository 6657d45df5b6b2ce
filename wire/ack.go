package wire

import "encoding/binary"

const (
	ackSize  = 8         // payload of ACK
	ackAlong = 8 << 10   // bytes that are acknowledged along with a frame that is sent anyway
	ackIdle  = 256 << 10 // bytes that are acknowledged at once if there are no more to read: the other side may be waiting for that
	ackAlone = 1 << 20   // bytes that are acknowledged at once
	ackLook  = 256 << 10 // bytes that are sent from one such look to the next: it is a system call, and as a rule for nothing while the other side is behind
	ackWant  = 512 << 10 // bytes that are unacknowledged when a look is taken for what has been: the memory behind them is used again while it is in caches
)

// appendAck adds an ACK frame.
func appendAck(b []byte, version uint16, n uint64) []byte {
	b = Header{version, OpAck, 0, ackSize, FlagNoReply}.Append(b)
	return binary.LittleEndian.AppendUint64(b, n)
}

// checkAck judges the header of an ACK.
func checkAck(h Header) error {
	if h.Flags != FlagNoReply || h.ID != 0 || h.Length != ackSize {
		return violation(h, "malformed ACK")
	}
	return nil
}

// walker follows the frames in a stream of bytes and finds the acknowledgements, wherever the stream is cut into pieces. What is no frame, it leaves
// to others to say.
type walker struct {
	skip int // bytes of the current frame that are left
	n    int // bytes in head
	head [HeaderSize + ackSize]byte
}

// walk goes on with p, and gives the last acknowledgement in it.
func (w *walker) walk(p []byte) (ack uint64, found bool) {
	for len(p) > 0 {
		if w.skip > 0 {
			k := min(w.skip, len(p))
			w.skip -= k
			p = p[k:]
			continue
		}
		if w.n == 0 && len(p) >= HeaderSize { // in one piece
			if binary.LittleEndian.Uint16(p[6:]) != OpAck {
				w.skip = HeaderSize + int(binary.LittleEndian.Uint32(p[12:]))
				continue
			}
		}
		need := HeaderSize
		if w.n >= HeaderSize {
			need = len(w.head)
		}
		k := copy(w.head[w.n:need], p)
		w.n += k
		p = p[k:]
		if w.n < need {
			continue
		}
		h, err := ParseHeader(w.head[:])
		if err == nil && h.Op == OpAck && checkAck(h) == nil {
			if w.n == len(w.head) {
				ack, found = binary.LittleEndian.Uint64(w.head[HeaderSize:]), true
				w.n = 0
			}
			continue
		}
		w.n, w.skip = 0, int(h.Length)
	}
	return ack, found
}

// drained reports whether enough is to be acknowledged for who is about to wait, and nothing more has come.
func (l *lasting) drained() bool { return l.taken.Load()-l.told.Load() >= ackIdle && !l.unread() }

// owed appends an ACK if as many bytes are due.
func (o *out) owed(b []byte, least uint64) []byte {
	if o.lasting == nil {
		return b
	}
	n, due := o.lasting.due(least)
	if !due {
		return b
	}
	o.frames.Add(1)
	return appendAck(b, o.version, n)
}

// acknowledge adds an ACK, with mu and between frames, if as many bytes are due.
func (o *out) acknowledge(least uint64) { o.buf = o.owed(o.buf, least) }

// acknowledgeNow is told by who reads that an ACK is due. It must not wait. Who is writing sends it as soon as he is between frames.
func (o *out) acknowledgeNow() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.writing || o.dead {
		return
	}
	o.acknowledge(ackAlone)
	var in *chunk
	if o.in.has(o.buf) {
		in = o.in
	}
	n, _ := o.lasting.give(in, o.buf, nil, nil) // an error is the reader's to find
	if o.buf = o.buf[n:]; len(o.buf) > 0 {
		o.tried = true
		o.k.dirty()
	}
}

// admit waits, with the write role and between frames, until a frame may begin.
func (o *out) admit() error {
	l := o.lasting
	if start, end := l.win.marks(); end-start < replayWindow {
		if end-start >= ackWant && end-o.looked >= ackLook && o.glance != nil {
			o.looked = end
			o.glance()
		}
		return nil
	}
	for l.win.size() >= replayWindow {
		if l.state.Load() == linkOver {
			return l.end()
		}
		if ack := o.owed(nil, ackAlone); ack != nil {
			if err := o.pass(nil, ack, nil, nil); err != nil {
				return err
			}
		}
		if err := o.starved(); err != nil {
			return err
		}
	}
	return nil
}

// ack takes a whole ACK frame, whose header is buffered. What it says has been found by the walker already.
func (l *link) ack(h Header) error {
	if err := checkAck(h); err != nil {
		return err
	}
	if err := l.in.fill(HeaderSize + ackSize); err != nil {
		return eofWithin(err)
	}
	n := binary.LittleEndian.Uint64(l.in.b[l.in.r+HeaderSize:])
	l.in.r += HeaderSize + ackSize
	return l.checkAcked(h, n)
}

// ackWithin is ack between the frames of a message, where the header has been taken.
func (l *link) ackWithin(h Header) error {
	if err := checkAck(h); err != nil {
		return err
	}
	var p [ackSize]byte
	if err := l.in.full(p[:]); err != nil {
		return err
	}
	return l.checkAcked(h, binary.LittleEndian.Uint64(p[:]))
}

// checkAcked judges the number in an ACK.
func (l *link) checkAcked(h Header, n uint64) error {
	if n > l.lasting.given() {
		return violation(h, "%d bytes acknowledged that were never sent", n)
	}
	return nil
}
