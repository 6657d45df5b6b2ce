package wire

import (
	"encoding/binary"
	"fmt"
	"time"
)

// Who reads on a client. There is one read role. A caller that waits for its reply takes it if it is free and reads until its own reply is
// there; then it hands the role to another caller that waits, or leaves it free. A caller whose send does not get on reads too, so that
// client and server never wait for each other. The keeper reads when no caller has for a while. Only who has the role resolves messages, so nobody
// returns to its caller while its Dst is being written.

// await blocks until m is resolved.
func (c *Client) await(m *Msg) {
	c.mu.Lock()
	if m.done {
		c.mu.Unlock()
		return
	}
	if c.reading {
		m.next, m.prev = &c.followers, c.followers.prev
		m.prev.next, m.next.prev = m, m
		m.abed = m.bed.take()
		c.mu.Unlock()
		c.follow(m)
		if !m.lead {
			return
		}
	} else {
		c.reading = true
		c.reads.Add(1)
		c.mu.Unlock()
	}
	for !m.done {
		c.step()
	}
	c.leave()
}

// follow waits until m is resolved or its caller is to read.
func (c *Client) follow(m *Msg) {
	if m.abed {
		for !m.bed.sleep() {
			c.mu.Lock()
			if m.next != nil { // it takes longer; otherwise somebody is about to wake it
				m.abed = false
			}
			c.mu.Unlock()
			if !m.abed {
				break
			}
		}
		m.bed.leave()
	}
	if !m.abed {
		<-m.wake
	}
}

// rouse, with mu, has a follower that was taken out of the list wake. Those in bed are called by who reads, once that does not keep others from mu.
func (c *Client) rouse(m *Msg) {
	if m.abed {
		c.woken = append(c.woken, m)
	} else {
		m.wake <- struct{}{}
	}
}

// callAll is called by who reads, without mu.
func (c *Client) callAll() {
	for i, m := range c.woken {
		c.woken[i] = nil
		m.bed.call()
	}
	c.woken = c.woken[:0]
}

// tryLead takes the read role if it is free.
func (c *Client) tryLead() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reading {
		return false
	}
	c.reading = true
	return true
}

// leave gives the read role to a caller that waits, or to nobody.
func (c *Client) leave() {
	c.mu.Lock()
	if m := c.followers.next; m != &c.followers {
		m.unlink()
		m.lead = true
		abed := m.abed
		c.reads.Add(1)
		c.mu.Unlock()
		if abed {
			m.bed.call()
		} else {
			m.wake <- struct{}{}
		}
		return
	}
	c.reading = false
	c.mu.Unlock()
	c.k.left()
}

func (m *Msg) unlink() {
	m.prev.next, m.next.prev = m.next, m.prev
	m.next, m.prev = nil, nil
}

// step reads at least one frame, and all others that have arrived whole. At the end of the connection it resolves everything.
func (c *Client) step() {
	defer c.callAll()
	for {
		if err := c.frame(); err != nil {
			c.fail(err)
			c.resolveAll()
			return
		}
		if !c.in.ready() {
			return
		}
	}
}

// resolve takes m out of the pending ones and tells its caller.
func (c *Client) resolve(m *Msg, err error) {
	c.mu.Lock()
	delete(c.pending, m.id)
	c.tell(m, err)
	c.mu.Unlock()
}

// tell, with mu.
func (c *Client) tell(m *Msg, err error) {
	m.err = err
	if m.then != nil {
		c.unheeded--
		c.calls.push(callback{m: m, err: err})
		return
	}
	m.done = true
	if m.next != nil { // a follower
		m.unlink()
		c.rouse(m)
	}
}

// resolveAll tells everything pending why the connection has ended.
func (c *Client) resolveAll() {
	c.mu.Lock()
	first := !c.dead
	c.dead = true
	err := c.cause
	for id, m := range c.pending {
		delete(c.pending, id)
		c.tell(m, err)
	}
	c.mu.Unlock()
	if first {
		if c.opt.OnLost != nil && err.(*Error).Kind != ErrClosed {
			c.calls.push(callback{lost: c.opt.OnLost, err: err})
		}
		c.k.stop()
	}
}

// waiting reports whether it matters that nothing comes.
func (c *Client) waiting() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return (len(c.pending) > 0 || c.stuck.Load()) && !c.isCut()
}

// eager reports whether something is awaited that no caller is about to read.
func (c *Client) eager() bool {
	if c.opt.Awaited != nil && c.opt.Awaited() {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.reading && c.unheeded > 0
}

// keeperRead reads for the keeper what has arrived. The keeper cannot look after itself while it reads, so the reading does.
func (c *Client) keeperRead() {
	if !c.tryLead() {
		return
	}
	c.in.watch = func() error { return c.k.quiet(c.k.tick) }
	c.step()
	c.in.watch = nil
	c.leave()
}

// blocked waits for room in the transport and reads meanwhile, unless somebody else does. The keeper ends it if the server neither takes nor
// sends anything for too long; if it is the keeper that sends, it has to look after itself.
func (c *Client) blocked() error {
	d := time.Duration(-1)
	if c.k.writing {
		d = c.k.tick
	}
	c.stuck.Store(true)
	defer c.stuck.Store(false)
	if !c.tryLead() {
		c.t.wait(writable, 2*time.Millisecond)
		return nil
	}
	defer c.leave()
	switch got := c.t.wait(readable|writable, d); {
	case got&readable != 0:
		c.step()
	case got == 0 && c.k.writing:
		return c.k.quiet(d)
	}
	return nil
}

// starved waits, for a while, for acknowledgements, and reads unless somebody else does.
func (c *Client) starved() error {
	c.stuck.Store(true)
	defer c.stuck.Store(false)
	if c.readIf(maxNap) {
		return nil
	}
	if c.k.writing {
		if err := c.k.quiet(maxNap); err != nil {
			return err
		}
	}
	return c.lasting.pump(maxNap)
}

const (
	copyFirst  = 256 << 10              // bytes that are copied before they are sent, if they must be given back at once
	copyFreely = 64 << 10               // bytes that are copied without a look for what has been acknowledged
	copyAtMost = 1 << 20                // bytes that are copied rather than waited for
	ackSoon    = 200 * time.Microsecond // how long to wait for the next acknowledgement
)

// collect reads the acknowledgements of bulk data that is about to be given back to the user, since the rest has to be copied. On a fast link most
// of a long message has arrived by now, and what has not is cheaper to wait for. At the end of the connection nothing is sent again.
func (c *Client) collect(l lent) {
	for left := c.lasting.lacks(l); left > copyFreely && c.Err() == nil; left = c.lasting.lacks(l) {
		d := time.Duration(0)
		if left > copyAtMost {
			d = ackSoon
		}
		if !c.readIf(d) {
			return
		}
	}
}

// glance reads what is there.
func (c *Client) glance() { c.readIf(0) }

// readIf reads what comes within d, unless somebody else reads, and reports whether it has.
func (c *Client) readIf(d time.Duration) bool {
	if !c.tryLead() {
		return false
	}
	defer c.leave()
	if c.t.wait(readable, d) == 0 {
		return false
	}
	c.step()
	return true
}

// frame reads one frame and does what it says.
func (c *Client) frame() error {
	h, err := c.in.header()
	if err != nil {
		return err
	}
	c.in.frames.Add(1)
	if h.Version != c.out.version {
		return violation(h, "wrong version")
	}
	if h.Op == OpAck && c.lasting != nil {
		return c.ack(h)
	}
	if h.Flags&FlagResponse == 0 {
		return c.notice(h)
	}
	c.mu.Lock()
	m := c.pending[h.ID]
	c.mu.Unlock()
	switch {
	case m == nil:
		return violation(h, "reply to no request")
	case m.op != h.Op:
		return violation(h, "reply to another operation than %#04x", m.op)
	case h.Flags&FlagPacked != 0 && c.out.pack == nil, h.Flags&FlagNoReply != 0, h.Flags&FlagMore != 0 && h.Flags&FlagInlineData == 0, h.Flags&FlagTimed != 0 && (!c.timed || m.started):
		return violation(h, "flags that do not go together")
	}
	if m.started {
		err = c.continuation(h, m)
	} else {
		err = c.reply(h, m)
	}
	if err != nil {
		return err
	}
	if h.Flags&FlagMore == 0 {
		c.resolve(m, nil)
	}
	return nil
}

// reply reads the first frame of a reply.
func (c *Client) reply(h Header, m *Msg) error {
	in, pre := &c.in, 4
	if h.Flags&FlagTimed != 0 {
		pre += timingSize
	}
	front, results, part, raw, total, err := in.start(h, pre)
	if err != nil {
		return err
	}
	code := int32(binary.LittleEndian.Uint32(front))
	if (code != 0) != (h.Flags&FlagError != 0) {
		return violation(h, "code %d and ERROR flag disagree", code)
	}
	if h.Flags&FlagTimed != 0 {
		if m.Timing, m.Timed = parseTiming(front[4:]); !m.Timed {
			return violation(h, "a timing that is out of range")
		}
	}
	if total > uint64(len(m.Dst)) {
		return violation(h, "bulk of %d bytes for %d bytes of memory", total, len(m.Dst))
	}
	m.Code, m.total, m.started = code, int(total), true
	if cap(m.Rep) < results {
		m.Rep = make([]byte, results)
	}
	m.Rep = m.Rep[:results]
	if err := in.full(m.Rep); err != nil {
		return err
	}
	return c.bulk(h, m, part, raw)
}

// continuation reads a further frame of a reply.
func (c *Client) continuation(h Header, m *Msg) error {
	flags := FlagResponse | FlagInlineData
	if m.Code != 0 {
		flags |= FlagError
	}
	c.in.r += HeaderSize
	raw, err := c.in.announced(h)
	if err != nil {
		return err
	}
	if err := continues(h, flags, raw, m.total-m.DstN); err != nil {
		return err
	}
	n := int(h.Length)
	if raw > 0 {
		n -= packedFront
	}
	return c.bulk(h, m, n, raw)
}

// bulk reads n bytes of bulk data, which were raw bytes before they were compressed if that is not 0.
func (c *Client) bulk(h Header, m *Msg, n, raw int) (err error) {
	if raw > 0 {
		n, err = raw, c.unpack.unpack(&c.in, h, n, m.Dst[m.DstN:m.DstN+raw])
	} else {
		err = c.in.full(m.Dst[m.DstN : m.DstN+n])
	}
	if err == nil {
		m.DstN += n
	}
	return err
}

// notice reads a frame that is no reply.
func (c *Client) notice(h Header) error {
	if h.Flags != FlagNoReply || h.ID != 0 || h.Length > MaxNotice {
		return violation(h, "neither reply nor notice")
	}
	in := &c.in
	if err := in.fill(HeaderSize + int(h.Length)); err != nil {
		return eofWithin(err)
	}
	p := in.b[in.r+HeaderSize : in.r+HeaderSize+int(h.Length)]
	in.r += HeaderSize + int(h.Length)
	switch {
	case h.Op == OpPing && len(p) == 0:
	case h.Op == OpShutdown && len(p) == 0:
		return c.error(ErrLost, "the server has ended the session", nil)
	case h.Op == OpShutdown && len(p) <= MaxReason:
		return c.error(ErrLost, fmt.Sprintf("the server says %q", p), nil)
	case h.Op >= OpUser && c.opt.AtOnce != nil && c.opt.AtOnce(h.Op, p):
	case h.Op >= OpUser:
		if c.opt.OnNotify != nil && !c.calls.push(callback{notify: c.opt.OnNotify, op: h.Op, payload: append([]byte(nil), p...)}) {
			return violation(h, "more notices than can be taken")
		}
	default:
		return violation(h, "notice of an operation that has none")
	}
	return nil
}
