package wire

import (
	"errors"
	"fmt"
	"time"

	"github.com/rocwire/rocwire/internal/mono"
)

// Request is a message from the client. It is valid until Handle returns; Retain makes one that stays.
type Request struct {
	Op      uint16
	ID      uint32
	Fixed   []byte // fixed part; valid until Handle returns
	BulkLen int    // bytes of bulk data
	Tag     uint64 // the handler's own; what Retain gives has it too

	s        *ServerConn
	left     int    // bulk not yet read
	part     int    // of which in the current frame, as it was sent
	raw      int    // of which the current frame, not yet read, has if it is compressed
	plain    []byte // what is left of a compressed frame
	flags    Flags
	answered bool // or given to a retained copy
	stays    bool // is that copy
	err      error

	arrived  int64         // when it had been read, as mono.Now
	started  int64         // when Handle was called
	received time.Duration // for how long ReadBulk waited for bulk data
	timing   Timing        // for the reply
	timed    bool
	front    [4 + timingSize]byte // of the reply
}

func (r *Request) begin(h Header) {
	*r = Request{Op: h.Op, ID: h.ID, s: r.s, flags: h.Flags}
}

// NoReply reports whether the client wants no reply; Reply then does nothing.
func (r *Request) NoReply() bool { return r.flags&FlagNoReply != 0 }

// Retained reports whether the request is one that Retain has given.
func (r *Request) Retained() bool { return r.stays }

// Started is when Handle was called, as mono.Now.
func (r *Request) Started() int64 { return r.started }

// Measure takes the request's time as it is now, and has the reply carry it if the client takes that. It is to be called right before
// Reply or ReplyBulk, and may be for requests without a reply.
func (r *Request) Measure() Timing {
	r.timing, r.timed = Timing{
		Queue:     time.Duration(max(0, r.started-r.arrived)),
		Execution: max(0, mono.Since(r.started)-r.received),
	}, r.s.timed
	return r.timing
}

// Conn is the connection the request came over.
func (r *Request) Conn() *ServerConn { return r.s }

// ReadBulk reads the next len(dst) bytes of the request's bulk data from the connection straight into dst. It may be called only before
// Handle returns, on its goroutine. Bulk data that is not read is discarded.
func (r *Request) ReadBulk(dst []byte) error {
	if r.stays {
		return errors.New("wire: bulk data of a retained request")
	}
	if len(dst) > r.left {
		return fmt.Errorf("wire: %d bytes of bulk data wanted, %d are there", len(dst), r.left)
	}
	for len(dst) > 0 {
		if err := r.frame(); err != nil {
			return err
		}
		if r.raw > 0 {
			if err := r.unpack(len(dst) >= r.raw, dst); err != nil {
				return err
			}
		}
		if len(r.plain) > 0 {
			n := len(r.plain)
			if &r.plain[0] != &dst[0] {
				n = copy(dst, r.plain)
			}
			r.plain, dst = r.plain[n:], dst[n:]
			r.left -= n
			continue
		}
		p := dst[:min(len(dst), r.part)]
		if len(p) <= r.s.in.buffered() {
			r.err = r.s.in.full(p)
		} else {
			begin := mono.Now()
			r.err = r.s.in.full(p)
			r.received += mono.Since(begin)
		}
		if r.err != nil {
			return r.err
		}
		r.part -= len(p)
		r.left -= len(p)
		dst = dst[len(p):]
	}
	return nil
}

// frame sees to it that part is not 0 while bulk is left.
func (r *Request) frame() error {
	if r.err != nil || r.part > 0 || len(r.plain) > 0 {
		return r.err
	}
	h, err := r.s.in.next()
	for err == nil && h.Op == OpAck && r.s.lasting != nil {
		if err = r.s.ackWithin(h); err == nil {
			h, err = r.s.in.next()
		}
	}
	if err == nil {
		if h.Version != r.s.out.version || h.Op != r.Op || h.ID != r.ID {
			err = violation(h, "another message within one of several frames")
		} else {
			err = r.further(h)
		}
	}
	r.err = err
	return err
}

// further takes the header of a continuation.
func (r *Request) further(h Header) error {
	if h.Flags&FlagPacked != 0 && r.s.out.pack == nil {
		return violation(h, "flags that do not belong to a request")
	}
	raw, err := r.s.in.announced(h)
	if err == nil {
		err = continues(h, (r.flags|FlagInlineData)&^(FlagMore|FlagPacked), raw, r.left)
	}
	if r.part, r.raw = int(h.Length), raw; raw > 0 {
		r.part -= packedFront
	}
	return err
}

// unpack makes plain of the current frame, which is compressed: in dst if all of it fits.
func (r *Request) unpack(fits bool, dst []byte) error {
	if !fits {
		if r.s.unpacked == nil {
			r.s.unpacked = make([]byte, maxPacked)
		}
		dst = r.s.unpacked
	}
	begin := mono.Now()
	r.plain = dst[:r.raw:r.raw]
	r.err = r.s.unpack.unpack(&r.s.in, Header{Op: r.Op, ID: r.ID}, r.part, r.plain)
	r.received += mono.Since(begin)
	r.part, r.raw = 0, 0
	return r.err
}

// end discards bulk that was not read.
func (r *Request) end() error {
	r.left -= len(r.plain)
	r.plain = nil
	for r.left > 0 && r.err == nil {
		if r.frame() == nil {
			if r.err = r.s.in.skip(r.part); r.err == nil {
				r.left -= r.size()
				r.part, r.raw = 0, 0
			}
		}
	}
	if r.err == nil && !r.answered && !r.NoReply() {
		return fmt.Errorf("wire: operation %#04x was not answered", r.Op)
	}
	return r.err
}

// Retain gives a copy of the request that stays valid after Handle returns and is answered instead of it, from any goroutine. Bulk data must be
// read before, from the original.
func (r *Request) Retain() *Request {
	if r.stays {
		return r
	}
	k := *r
	k.Fixed = append([]byte(nil), r.Fixed...)
	k.stays = true
	r.answered = true
	return &k
}

// Reply answers with a code and results, which are the caller's again when it returns. The error is the connection's.
func (r *Request) Reply(code int32, results []byte) error {
	return r.ReplyBulk(code, results, nil)
}

// ReplyBulk answers with bulk data besides, sent from where it lies, and returns when it has been handed to the kernel. The bulk data of a request that
// is not retained must stay as it is until the next request is handled: it may have to be sent again.
func (r *Request) ReplyBulk(code int32, results, bulk []byte) error {
	if r.NoReply() {
		return nil
	}
	if r.answered {
		return fmt.Errorf("wire: operation %#04x was answered twice", r.Op)
	}
	pre := r.preamble(code)
	if len(results) > fixedMax(len(pre)) || len(bulk) > maxMessage {
		return fmt.Errorf("wire: reply of %d and %d bytes is too long", len(results), len(bulk))
	}
	r.answered = true
	flags, first := FlagResponse, Flags(0)
	if code != 0 {
		flags |= FlagError
	}
	if r.timed {
		first = FlagTimed
	}
	o := &r.s.out
	direct := o.direct(len(pre), len(results), len(bulk), false)
	if o.begin(direct) {
		l := o.put(r.Op, r.ID, flags, first, pre, results, bulk, direct, r.urgent(), true, r.stays)
		o.mu.Unlock()
		if r.stays {
			o.release(l)
		} else {
			r.s.lent = l
		}
		return r.s.Err()
	}
	o.mu.Unlock()
	return r.s.Err()
}

// preamble is what the reply begins with.
func (r *Request) preamble(code int32) []byte {
	e := Enc{r.front[:0]}
	e.I32(code)
	if r.timed {
		e.B = r.timing.append(e.B)
	}
	return e.B
}

// urgent reports whether the reply must be sent at once. One that is given within Handle may wait for the next if that request is already there:
// Serve sends before it waits, and after a while, and the keeper in any case.
func (r *Request) urgent() bool {
	if r.stays || !r.s.in.ready() {
		return true
	}
	if r.s.kept == 0 {
		r.s.kept = r.started
	}
	return false
}

// size is how much bulk data the current frame has.
func (r *Request) size() int {
	if r.raw > 0 {
		return r.raw
	}
	return r.part
}
