package wire

import (
	"encoding/binary"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"github.com/rocwire/rocwire/internal/mono"
)

const (
	inBase = 64 << 10 // bytes of the receive buffer
	inKeep = 1 << 20  // a larger buffer is not kept
)

// in is the receiving half of a connection: small frames arrive many at a time in a buffer, bulk data bypasses it.
type in struct {
	t      transport
	b      []byte
	r, w   int          // unread bytes are b[r:w]
	watch  func() error // if not nil, asked every tick while a read waits; an error gives up
	tick   time.Duration
	stamp  bool  // note when bytes came
	at     int64 // when fill last read some, as mono.Now
	head   [HeaderSize]byte
	frames atomic.Uint64
	within atomic.Bool // what is waited for is the rest of a frame
}

func newIn(t transport) in { return in{t: t, b: make([]byte, inBase)} }

// middle notes whether the rest of a frame is waited for.
func (in *in) middle(is bool) {
	if in.within.Load() != is {
		in.within.Store(is)
	}
}

func (in *in) buffered() int { return in.w - in.r }

// fill blocks until n bytes are buffered. io.EOF only if the stream ended before the first of them, otherwise io.ErrUnexpectedEOF.
func (in *in) fill(n int) error {
	if in.w-in.r >= n {
		return nil
	}
	if in.r == in.w {
		in.r, in.w = 0, 0
		if len(in.b) > inKeep && n <= inBase {
			in.b = make([]byte, inBase)
		}
	}
	if n > len(in.b)-in.r {
		b := in.b
		if n > len(b) {
			b = make([]byte, n)
		}
		in.w = copy(b, in.b[in.r:in.w])
		in.r, in.b = 0, b
	}
	in.middle(n > HeaderSize || in.w > in.r)
	for in.w-in.r < n {
		k, err := in.read(in.b[in.w:])
		if err != nil {
			if errors.Is(err, io.EOF) && in.w > in.r {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
		in.w += k
		if in.stamp {
			in.at = mono.Now()
		}
	}
	return nil
}

// read blocks until at least one byte is there, or watch gives up.
func (in *in) read(p []byte) (int, error) {
	for in.watch != nil && in.t.wait(readable, in.tick) == 0 {
		if err := in.watch(); err != nil {
			return 0, err
		}
	}
	return in.t.read(p)
}

// full reads len(p) bytes: those that are buffered, the rest from the transport straight into p. It never refills the buffer, so slices
// of it stay valid.
func (in *in) full(p []byte) error {
	n := copy(p, in.b[in.r:in.w])
	in.r += n
	in.middle(true)
	for n < len(p) {
		k, err := in.read(p[n:])
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
		n += k
	}
	return nil
}

// skip drops n bytes.
func (in *in) skip(n int) error {
	k := min(n, in.buffered())
	in.r += k
	n -= k
	if n == 0 {
		return nil
	}
	scratch := make([]byte, min(n, inBase))
	for n > 0 {
		p := scratch[:min(n, len(scratch))]
		if err := in.full(p); err != nil {
			return err
		}
		n -= len(p)
	}
	return nil
}

// header gives the next header without consuming it; it blocks for it.
func (in *in) header() (Header, error) {
	if err := in.fill(HeaderSize); err != nil {
		return Header{}, err
	}
	return ParseHeader(in.b[in.r:])
}

// next consumes a header of a message's continuation and leaves the buffer's memory alone.
func (in *in) next() (Header, error) {
	if err := in.full(in.head[:]); err != nil {
		return Header{}, err
	}
	in.frames.Add(1)
	return ParseHeader(in.head[:])
}

// ready reports whether a whole frame is buffered (or a length over the limit, which needs no more to be judged).
func (in *in) ready() bool {
	n := in.w - in.r
	if n < HeaderSize {
		return false
	}
	length := binary.LittleEndian.Uint32(in.b[in.r+12:])
	return length > MaxPayload || n >= HeaderSize+int(length)
}

// eofWithin is err for a frame that has begun.
func eofWithin(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
