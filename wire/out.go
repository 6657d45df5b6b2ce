package wire

import (
	"encoding/binary"
	"sync"
	"sync/atomic"
)

const (
	outFlush  = 64 << 10  // bytes that are sent at once
	outFull   = 256 << 10 // bytes beyond which whoever adds waits for the writer
	bulkCopy  = 8 << 10   // bulk up to this size is copied behind its header; more is sent from where it lies
	bulkKeep  = 32 << 10  // the same where a copy of it has to be kept anyway: small beside a chunk
	maxRounds = 16        // a writer sends at most so often for others
)

// out is the sending half of a connection. Frames are appended to buf under mu. One goroutine at a time has the write role (writing): it
// takes what is in buf and sends it without holding mu, so others go on appending meanwhile.
type out struct {
	mu      sync.Mutex
	room    sync.Cond // the write role is free, buf has room, or dead
	t       transport
	lasting *lasting // t, if the connection outlives its transports
	buf     []byte
	spare   []byte // the other buffer, while nobody writes from it; with lasting there is none
	in      *chunk // that buf lies in unless it has grown, with lasting
	looked  uint64 // bytes that had been given to be sent at the last glance; of who has the write role
	tried   bool   // a transport has been offered what buf begins with: it must get that before anything else
	writing bool
	wanted  bool // what is in buf must not wait for the timer
	parting bool // buf has SHUTDOWN, or had it
	dead    bool // nothing is sent any more; link.cause says why, and is set before
	version uint16
	k       *keeper
	pack    *packer // nil unless bulk data may be compressed

	blocked func() error    // waits until the transport may take more; called with the write role, without mu
	glance  func()          // reads acknowledgements if there are any, called like blocked; may be nil
	starved func() error    // sees to it that acknowledgements are read, for a while; called like blocked
	fail    func(err error) // told the first error, and kills; called without mu
	frames  atomic.Uint64
	flushes atomic.Uint64
	bytes   atomic.Uint64 // that the transport has taken
}

func (o *out) init(t transport) {
	o.t = t
	o.room.L = &o.mu
	o.version = Version
	o.buf = make([]byte, 0, outFlush+4096)
	o.spare = make([]byte, 0, outFlush+4096)
}

// lock takes mu and waits until buf has room.
func (o *out) lock() {
	o.mu.Lock()
	for o.writing && len(o.buf) >= outFull && !o.dead {
		o.room.Wait()
	}
}

// header appends a frame's header.
func (o *out) header(op uint16, id uint32, length int, flags Flags) {
	o.acknowledge(ackAlong)
	o.buf = Header{o.version, op, id, uint32(length), flags}.Append(o.buf)
	o.frames.Add(1)
}

// settle is called with mu after frames were appended: it sends them if now, or if enough are together, and otherwise sees to it
// that they leave soon. mu stays held, though not throughout.
func (o *out) settle(now bool) {
	switch {
	case o.dead:
		o.buf = o.buf[:0]
	case now || len(o.buf) >= outFlush:
		o.flush()
	default:
		o.k.dirty()
	}
}

// flush sends buf, or leaves that to who is writing. mu is held before and after.
func (o *out) flush() {
	if o.writing {
		o.wanted = true
		return
	}
	if len(o.buf) == 0 || o.dead {
		return
	}
	o.writing = true
	o.drain(nil)
}

// acquire waits for the write role, with mu; false if the connection is dead.
func (o *out) acquire() bool {
	for o.writing && !o.dead {
		o.room.Wait()
	}
	if o.dead {
		return false
	}
	o.writing = true
	return true
}

// drain sends buf and then the chain, if any, with the write role, and gives the role up. mu is held before and after.
func (o *out) drain(ch *chain) {
	for round := 0; ; round++ {
		tried := o.tried
		b, in, left := o.take()
		o.mu.Unlock()
		var err error
		if tried {
			err, b = o.pass(in, b, nil, nil), nil
		}
		switch {
		case err != nil:
		case ch != nil:
			err = o.writeChain(in, b, ch)
			ch = nil
		case len(b) > 0:
			err = o.write(in, b, nil, nil)
		}
		o.mu.Lock()
		o.give(b, left)
		if err != nil && !o.dead {
			o.mu.Unlock()
			o.fail(err) // which makes it dead once it is known why: who finds it dead has an error to give
			o.mu.Lock()
		}
		if o.dead {
			o.buf = o.buf[:0]
			break
		}
		if len(o.buf) == 0 {
			o.acknowledge(ackAlone)
		}
		if len(o.buf) == 0 || (!o.wanted && len(o.buf) < outFlush) {
			break
		}
		if round == maxRounds { // others keep it busy: their turn
			break
		}
	}
	o.writing = false
	if len(o.buf) > 0 {
		o.k.dirty()
	}
	o.room.Broadcast()
}

// take gives buf to who writes, and begins another. left is a chunk that nothing is added to any more.
func (o *out) take() (b []byte, in, left *chunk) {
	b, o.wanted, o.tried = o.buf, false, false
	if o.lasting == nil {
		o.buf, o.spare = o.spare[:0], nil
		return b, nil, nil
	}
	if o.in.has(b) {
		in = o.in
		if cap(b)-len(b) >= chunkRest {
			o.buf = b[len(b):]
			return b, in, nil
		}
	}
	left, o.in = o.in, o.lasting.win.take()
	o.buf = o.in.b[:0]
	return b, in, left
}

// give takes back what take gave.
func (o *out) give(b []byte, left *chunk) {
	switch {
	case left != nil:
		o.lasting.win.leave(left)
	case o.lasting == nil:
		if cap(b) > 2*outFull {
			b = make([]byte, 0, outFlush+4096)
		}
		o.spare = b[:0]
	}
}

// write sends frames whole, with the write role and without mu. a is in the chunk in, if that is not nil; b is in the chunk own, or the user's.
func (o *out) write(in *chunk, a []byte, own *chunk, b []byte) error {
	o.flushes.Add(1)
	if o.lasting != nil {
		if err := o.admit(); err != nil {
			return err
		}
	}
	return o.pass(in, a, own, b)
}

// pass is write of what must get through.
func (o *out) pass(in *chunk, a []byte, own *chunk, b []byte) error {
	for len(a)+len(b) > 0 {
		n, err := o.try(in, a, own, b)
		if err == errAgain {
			if o.pack != nil {
				o.pack.look()
			}
			err = o.blocked()
		}
		if err != nil {
			return err
		}
		o.bytes.Add(uint64(n))
		k := min(n, len(a))
		a = a[k:]
		b = b[n-k:]
	}
	return nil
}

// A chain is the bulk data of one message: the first part goes with the frame that is already in buf, the rest in frames of its own.
type chain struct {
	bulk  []byte
	first int // bytes of bulk in the first frame
	op    uint16
	id    uint32
	flags Flags // of the further frames, without MORE
	pack  bool  // try to compress them
	keep  bool  // there is one frame, whose bulk data is copied first
}

// part takes the next frame's bulk off.
func (ch *chain) part(n int) (p []byte, more bool) {
	n = min(n, len(ch.bulk))
	p, ch.bulk = ch.bulk[:n], ch.bulk[n:]
	return p, len(ch.bulk) > 0
}

// together sends buf and the whole chain with the write role so that nothing gets in between, and gives the role up. mu is held
// before and after.
func (o *out) together(ch chain) { o.drain(&ch) }

// apart does the same but lets other frames in between.
func (o *out) apart(ch chain) {
	p, more := ch.part(ch.first)
	o.drain(&chain{bulk: p, first: len(p), keep: ch.keep})
	for more && o.acquire() {
		if z, flag := o.packed(&ch); z != nil {
			more = len(ch.bulk) > 0
			o.header(ch.op, ch.id, len(z), ch.next(more)|flag)
			o.buf = append(o.buf, z...)
			o.drain(nil)
			continue
		}
		p, more = ch.part(MaxPayload)
		o.header(ch.op, ch.id, len(p), ch.next(more))
		o.drain(&chain{bulk: p, first: len(p)})
	}
}

// packed takes the next frame's bulk off, compressed; nil, and nothing is taken, if it is better sent as it is.
func (o *out) packed(ch *chain) ([]byte, Flags) {
	if !ch.pack {
		return nil, 0
	}
	n := min(len(ch.bulk), maxPacked)
	z := o.pack.pack(ch.bulk[:n], packedFront)
	if z == nil {
		ch.pack = false
		return nil, 0
	}
	binary.LittleEndian.PutUint32(z, uint32(n))
	ch.bulk = ch.bulk[n:]
	return z, FlagPacked
}

func (ch *chain) next(more bool) Flags {
	if more {
		return ch.flags | FlagMore
	}
	return ch.flags
}

// try hands to the transport what that takes.
func (o *out) try(in *chunk, a []byte, own *chunk, b []byte) (int, error) {
	if o.lasting != nil {
		return o.lasting.give(in, a, own, b)
	}
	return o.t.tryWrite(a, b)
}

// writeChain sends b, which is in the chunk in, and the chain's frames.
func (o *out) writeChain(in *chunk, b []byte, ch *chain) error {
	p, more := ch.part(ch.first)
	var own *chunk
	if ch.keep {
		p, own = o.lasting.win.keep(p)
		defer o.lasting.win.release(own)
	}
	if err := o.write(in, b, own, p); err != nil {
		return err
	}
	for more {
		z, flag := o.packed(ch)
		if z != nil {
			p, more = nil, len(ch.bulk) > 0
		} else {
			p, more = ch.part(MaxPayload)
		}
		h := o.owed(make([]byte, 0, 2*HeaderSize+ackSize+len(z)), ackAlong)
		h = Header{o.version, ch.op, ch.id, uint32(len(p) + len(z)), ch.next(more) | flag}.Append(h)
		h = append(h, z...)
		o.frames.Add(1)
		if err := o.write(nil, h, nil, p); err != nil {
			return err
		}
	}
	return nil
}

// kill ends the sending half: what is not sent never will be.
func (o *out) kill() {
	o.mu.Lock()
	o.dead = true
	o.buf = o.buf[:0]
	o.room.Broadcast()
	o.mu.Unlock()
}
