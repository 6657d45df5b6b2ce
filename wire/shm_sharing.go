package wire

import (
	"context"
	"errors"
	"net"
	"os"
	"slices"
	"time"
)

// sharing is the client's side of agreeing on shared memory.
type sharing struct {
	wanted bool
	t      transport // the shared memory, once it is agreed on
	why    error     // why there is none
}

// shareFor asks for shared memory where it makes sense, in the Hello.
func shareFor(conn net.Conn, hello *Hello, not bool) *sharing {
	s := &sharing{why: errNotShared(errors.New("the server does not offer it"))}
	switch {
	case not:
		s.why = errNotShared(errors.New("it is not wanted"))
	case !canShare || !oneMachine(conn):
		s.why = errNotShared(errors.New("the server is on another machine"))
	default:
		s.wanted = true
		hello.Features = append(slices.Clone(hello.Features), FeatureSharedMemory)
	}
	return s
}

// answer reads the reply to INIT, and follows an offer that comes before it.
func (s *sharing) answer(ctx context.Context, conn net.Conn) (Header, []byte, error) {
	if !s.wanted {
		return readInit(conn)
	}
	r, done := withRights(conn)
	defer done()
	h, p, err := readHandshake(r, OpInit, OpShare)
	if err != nil || h.Op == OpInit {
		return h, p, err
	}
	o, err := parseShareOffer(h, p)
	if err != nil {
		return h, nil, err
	}
	t, why := attach(ctx, conn, r, o)
	if s.t, s.why = t, nil; why != nil {
		s.t, s.why = nil, errNotShared(why)
	}
	if _, err := conn.Write(shareAnswer(s.t != nil)); err != nil {
		return Header{}, nil, err
	}
	if s.t != nil {
		return readInit(welcomeReader{ctx, s.t})
	}
	return readInit(conn)
}

// drop gives up what was agreed on: the handshake has failed.
func (s *sharing) drop() {
	if s.t != nil {
		s.t.close()
		s.t = nil
	}
}

// welcomeReader reads a Welcome from a transport, which has no deadlines of its own.
type welcomeReader struct {
	ctx context.Context
	t   transport
}

func (r welcomeReader) Read(p []byte) (int, error) {
	d := time.Duration(-1)
	if t, ok := r.ctx.Deadline(); ok {
		d = max(0, time.Until(t))
	}
	if r.t.wait(readable, d) == 0 {
		return 0, os.ErrDeadlineExceeded
	}
	n, err := r.t.read(p)
	if err != nil && r.ctx.Err() != nil { // which ends the socket, too
		err = os.ErrDeadlineExceeded
	}
	return n, err
}
