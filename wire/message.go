package wire

import "encoding/binary"

// How a message is put into frames and taken out of them is the same for requests and replies; a reply only has its code, and its timing, in front.

// fixedMax is the longest fixed part of a message with so many bytes in front.
func fixedMax(pre int) int { return MaxPayload - 12 - pre }

// direct reports whether a message's bulk data is sent from where it lies, and not copied behind its header. Of a posted one a copy is to be
// kept if the connection outlives its transports: up to bulkKeep that is made where the frames are, and sent in one piece, unless it may be worth compressing.
func (o *out) direct(pre, fixed, bulk int, posted bool) bool {
	most := bulkCopy
	if posted && o.lasting != nil && !(o.pack != nil && o.pack.slow.Load()) {
		most = bulkKeep
	}
	return bulk > most || bulk > 0 && pre+4+fixed+bulk > MaxPayload
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

// put adds a message, after begin(direct) and with mu, and sends it if now. A direct one has been sent when it returns, unless the connection is dead;
// other frames get in between its own if apart. It tells what bulk data is to be given back by release, which the caller does at once if back. flags are without
// INLINE_DATA and MORE; first are those of the first frame only.
func (o *out) put(op uint16, id uint32, flags, first Flags, pre, fixed, bulk []byte, direct, now, apart, back bool) (l lent) {
	n := len(pre) + len(fixed)
	switch {
	case len(bulk) == 0:
		o.header(op, id, n, flags|first)
		o.buf = append(append(o.buf, pre...), fixed...)
		o.settle(now)
		return l
	case !direct:
		o.header(op, id, n+4+len(bulk), flags|first|FlagInlineData)
		e := Enc{append(o.buf, pre...)}
		e.Bytes(fixed)
		o.buf = append(e.B, bulk...)
		o.settle(now || len(bulk) > bulkCopy)
		return l
	}
	flags |= FlagInlineData
	if o.lasting != nil {
		_, from := o.lasting.win.marks()
		defer func() { l = o.lasting.win.lentFrom(from) }()
	}
	if o.pack != nil && o.pack.wants(bulk) {
		if z := o.pack.pack(bulk[:min(len(bulk), packSample)], 0); z != nil {
			o.putPacked(op, id, flags, first, pre, fixed, bulk, z, apart)
			return l
		}
	}
	ch := chain{bulk: bulk, first: min(len(bulk), MaxPayload-4-n), op: op, id: id, flags: flags}
	ch.keep = back && o.lasting != nil && len(bulk) <= copyFirst
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
	if apart {
		o.apart(ch)
	} else {
		o.together(ch)
	}
	if o.pack != nil {
		o.pack.look()
	}
	return l
}

// putPacked is put of bulk data whose first part is z, compressed. What follows is lent as far as it is sent as it is.
func (o *out) putPacked(op uint16, id uint32, flags, first Flags, pre, fixed, bulk, z []byte, apart bool) {
	raw := min(len(bulk), packSample)
	more := raw < len(bulk)
	n, here := len(pre)+4+packedFront+len(fixed)+len(z), flags|first|FlagPacked
	if more {
		n, here = n+8, here|FlagMore
	}
	o.header(op, id, n, here)
	e := Enc{append(o.buf, pre...)}
	e.U32(uint32(len(fixed)))
	if more {
		e.U64(uint64(len(bulk)))
	}
	e.U32(uint32(raw))
	e.Raw(fixed)
	e.Raw(z)
	o.buf = e.B
	ch := chain{bulk: bulk[raw:], op: op, id: id, flags: flags, pack: true}
	if apart {
		o.apart(ch)
	} else {
		o.together(ch)
	}
}

// release gives bulk data back to the user.
func (o *out) release(l lent) {
	if l.to != 0 {
		o.lasting.release(l.from, l.to)
	}
}

// start reads the first frame of a message, whose header is buffered, as far as its fixed part: the pre bytes in front, which are valid until
// the next read, the lengths of the fixed part and of the bulk data in this frame, as it is sent and (raw, 0 unless it is compressed) as it was, and of
// all bulk data of the message.
func (in *in) start(h Header, pre int) (front []byte, fixed, part, raw int, total uint64, err error) {
	n, need := int(h.Length), pre
	inline, more, packed := h.Flags&FlagInlineData != 0, h.Flags&FlagMore != 0, h.Flags&FlagPacked != 0
	if inline {
		need += 4
		if more {
			need += 8
		}
		if packed {
			need += packedFront
		}
	}
	if n < need || packed && !inline {
		return nil, 0, 0, 0, 0, violation(h, "message too short")
	}
	if err := in.fill(HeaderSize + need); err != nil {
		return nil, 0, 0, 0, 0, eofWithin(err)
	}
	p := in.b[in.r+HeaderSize : in.r+HeaderSize+need]
	in.r += HeaderSize + need
	if !inline {
		return p, n - need, 0, 0, 0, nil
	}
	f := binary.LittleEndian.Uint32(p[pre:])
	if int64(f) > int64(n-need) {
		return nil, 0, 0, 0, 0, violation(h, "fixed part of %d bytes in a shorter frame", f)
	}
	fixed, part = int(f), n-need-int(f)
	total = uint64(part)
	if packed {
		r := binary.LittleEndian.Uint32(p[need-packedFront:])
		if err := checkPacked(h, r, part); err != nil {
			return nil, 0, 0, 0, 0, err
		}
		raw, total = int(r), uint64(r)
	}
	if more {
		had := total
		if total = binary.LittleEndian.Uint64(p[pre+4:]); total <= had {
			return nil, 0, 0, 0, 0, violation(h, "bulk of %d bytes in several frames", total)
		}
	}
	return p[:pre], fixed, part, raw, total, nil
}

// announced reads how much data a compressed continuation has, whose header has been consumed.
func (in *in) announced(h Header) (raw int, err error) {
	if h.Flags&FlagPacked == 0 {
		return 0, nil
	}
	var b [packedFront]byte
	if h.Length < packedFront {
		return 0, violation(h, "message too short")
	}
	if err := in.full(b[:]); err != nil {
		return 0, err
	}
	r := binary.LittleEndian.Uint32(b[:])
	return int(r), checkPacked(h, r, int(h.Length)-packedFront)
}

// continues judges the header of a message's further frame by the flags, without MORE and PACKED, that it must have, by how many bytes of bulk data
// it has, compressed ones as they were (raw, otherwise 0), and by how many are still to come.
func continues(h Header, flags Flags, raw, left int) error {
	n := int(h.Length)
	if raw > 0 {
		n = raw
	}
	switch {
	case h.Flags&^(FlagMore|FlagPacked) != flags:
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
