package wire

import "encoding/binary"

// How a message is put into frames and taken out of them is the same for requests and replies; a reply only has its code, and its timing, in front.

// fixedMax is the longest fixed part of a message with so many bytes in front.
func fixedMax(pre int) int { return MaxPayload - 12 - pre }

// direct reports whether a message's bulk data is sent from where it lies, and not copied behind its header.
func direct(pre, fixed, bulk int) bool {
	return bulk > bulkCopy || bulk > 0 && pre+4+fixed+bulk > MaxPayload
}

// begin takes mu for a message: when there is room in the buffer or, for a direct one, with the write role. It is false if there is no such role
// any more.
func (o *out) begin(direct bool) bool {
	if !direct {
		o.lock()
		return true
	}
	o.mu.Lock()
	return o.acquire()
}

// lent are the numbers of the first and behind the last of the bytes sent that may lie in the user's memory.
type lent struct{ from, to uint64 }

// put adds a message, after begin and with mu, and sends it if now. A direct one has been sent when it returns, unless the connection is dead;
// other frames get in between its own if apart. It tells what bulk data is to be given back by release. flags are without INLINE_DATA and MORE; first
// are those of the first frame only.
func (o *out) put(op uint16, id uint32, flags, first Flags, pre, fixed, bulk []byte, now, apart bool) (l lent) {
	n := len(pre) + len(fixed)
	switch {
	case len(bulk) == 0:
		o.header(op, id, n, flags|first)
		o.buf = append(append(o.buf, pre...), fixed...)
		o.settle(now)
		return l
	case !direct(len(pre), len(fixed), len(bulk)):
		o.header(op, id, n+4+len(bulk), flags|first|FlagInlineData)
		e := Enc{append(o.buf, pre...)}
		e.Bytes(fixed)
		o.buf = append(e.B, bulk...)
		o.settle(now)
		return l
	}
	flags |= FlagInlineData
	ch := chain{bulk: bulk, first: min(len(bulk), MaxPayload-4-n), op: op, id: id, flags: flags}
	more := ch.first < len(bulk)
	if more {
		ch.first = MaxPayload - 12 - n
		o.header(op, id, n+12+ch.first, flags|first|FlagMore)
	} else {
		o.header(op, id, n+4+ch.first, flags|first)
	}
	e := Enc{append(o.buf, pre...)}
	e.U32(uint32(len(fixed)))
	if more {
		e.U64(uint64(len(bulk)))
	}
	e.Raw(fixed)
	o.buf = e.B
	if o.lasting != nil {
		_, l.from = o.lasting.win.marks()
	}
	if apart {
		o.apart(ch)
	} else {
		o.together(ch)
	}
	if o.lasting != nil {
		_, l.to = o.lasting.win.marks()
	}
	return l
}

// release gives a message's bulk data back to the user.
func (o *out) release(l lent) {
	if l.to != 0 {
		o.lasting.release(l.from, l.to)
	}
}

// start reads the first frame of a message, whose header is buffered, as far as its fixed part: the pre bytes in front, which are valid until
// the next read, the lengths of the fixed part and of the bulk data in this frame, and of all bulk data of the message.
func (in *in) start(h Header, pre int) (front []byte, fixed, part int, total uint64, err error) {
	n, need := int(h.Length), pre
	inline, more := h.Flags&FlagInlineData != 0, h.Flags&FlagMore != 0
	if inline {
		need += 4
		if more {
			need += 8
		}
	}
	if n < need {
		return nil, 0, 0, 0, violation(h, "message too short")
	}
	if err := in.fill(HeaderSize + need); err != nil {
		return nil, 0, 0, 0, eofWithin(err)
	}
	p := in.b[in.r+HeaderSize : in.r+HeaderSize+need]
	in.r += HeaderSize + need
	if !inline {
		return p, n - need, 0, 0, nil
	}
	f := binary.LittleEndian.Uint32(p[pre:])
	if int64(f) > int64(n-need) {
		return nil, 0, 0, 0, violation(h, "fixed part of %d bytes in a shorter frame", f)
	}
	fixed, part = int(f), n-need-int(f)
	total = uint64(part)
	if more {
		if total = binary.LittleEndian.Uint64(p[pre+4:]); total <= uint64(part) {
			return nil, 0, 0, 0, violation(h, "bulk of %d bytes in several frames", total)
		}
	}
	return p[:pre], fixed, part, total, nil
}

// continues judges the header of a message's further frame by the flags, without MORE, that it must have, and by how many bytes of bulk data are
// still to come.
func continues(h Header, flags Flags, left int) error {
	n := int(h.Length)
	switch {
	case h.Flags&^FlagMore != flags:
		return violation(h, "continuation whose flags differ from the first frame's")
	case n == 0:
		return violation(h, "empty continuation")
	case n > left:
		return violation(h, "more bulk than the %d bytes that are left", left)
	case h.Flags&FlagMore == 0 && n < left:
		return violation(h, "less bulk than the %d bytes that are left", left)
	case h.Flags&FlagMore != 0 && n == left:
		return violation(h, "a further frame announced behind all bulk")
	}
	return nil
}
