package session

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipv1"
)

// call is a message that is being executed.
type call struct {
	h    hipv1.Header
	body any
	tail []byte            // of a request that came whole: what is behind its struct; of a question about cards, all of it
	in   *io.LimitedReader // of one that did not: likewise
	// sent sends a reply that has bulk bytes, in the place of one that has none.
	sent func() error
}

// read reads a message as far as it is read at once. A code that is not Success is the answer: the operation is not served. With an error the session is over.
func (s *Session) read(h hipv1.Header) (*call, hip.Error, error) {
	c := &call{h: h, in: &io.LimitedReader{R: s.in}}
	n, split := hipv1.HeadSize(h.Op)
	switch {
	case !split && h.Length > hipv1.MaxSmall:
		if _, _, err := hipv1.Parse(h.Op, s.dialect, 0, nil); errors.Is(err, hipv1.ErrOperation) {
			c.in.N = int64(h.Length)
			return c, hip.ErrorNotSupported, nil
		}
		return c, 0, fmt.Errorf("%w: %v with a payload of %d bytes", hipv1.ErrProtocol, h.Op, h.Length)
	case !split:
		n = int(h.Length)
	}
	b := make([]byte, min(n, int(h.Length)))
	if _, err := io.ReadFull(s.in, b); err != nil {
		return c, 0, s.cut(h, err)
	}
	c.in.N = int64(h.Length) - int64(len(b))
	if h.Op.SMI() {
		c.tail = b
		return c, hip.Success, nil
	}
	if d := hipv1.DialectOf(h.Op, h.Length, b); d != hipv1.Unknown {
		s.dialect = d
	}
	body, used, err := hipv1.Parse(h.Op, s.dialect, h.Length, b)
	switch {
	case errors.Is(err, hipv1.ErrOperation):
		s.Log.Warn("operation that is not served", "op", h.Op.String())
		return c, hip.ErrorNotSupported, nil
	case err != nil:
		return c, 0, fmt.Errorf("%v: %w", h.Op, err)
	}
	c.body, c.tail = body, b[used:]
	if split {
		c.in.R = io.MultiReader(bytes.NewReader(c.tail), s.in)
		c.in.N += int64(len(c.tail))
	}
	return c, hip.Success, nil
}

// cut is a client that has gone within a message.
func (s *Session) cut(h hipv1.Header, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: the client has gone in the middle of %v", hipv1.ErrProtocol, h.Op)
	}
	return err
}

// take reads the next bytes behind a request's struct. False: they did not come, and the session is over.
func (s *Session) take(c *call, b []byte) bool {
	if _, err := io.ReadFull(c.in, b); err != nil {
		s.broken = s.cut(c.h, err)
		return false
	}
	return true
}

// skip passes over what nobody has read of a request.
func (s *Session) skip(c *call) error {
	if _, err := io.Copy(io.Discard, c.in); err != nil {
		return err
	}
	if c.in.N > 0 {
		return s.cut(c.h, io.EOF)
	}
	return nil
}

// violates ends the session because of what a message says.
func (s *Session) violates(c *call, format string, args ...any) hip.Error {
	s.broken = fmt.Errorf("%w: %v: %s", hipv1.ErrProtocol, c.h.Op, fmt.Sprintf(format, args...))
	return hip.ErrorInvalidValue
}

// list is n numbers behind a request's struct.
func (s *Session) list(c *call, n uint32) ([]uint64, bool) {
	l, err := hipv1.Uint64s(c.tail, n)
	if err != nil {
		s.broken = fmt.Errorf("%v: %w", c.h.Op, err)
	}
	return l, err == nil
}

// aboutCards answers a question about cards.
func (s *Session) aboutCards(c *call, begin time.Time) error {
	code, rest := s.Cards(c.h.Op, c.tail)
	s.Ended(c.h.Op, hip.Success, time.Since(begin))
	if c.h.NoReply() {
		return nil
	}
	return s.reply(c.h, code, rest)
}
