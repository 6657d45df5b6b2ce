package worker

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/wire"
	"github.com/rocwire/rocwire/worker/access"
	"github.com/rocwire/rocwire/worker/admission"
	"github.com/rocwire/rocwire/worker/audit"
)

// greet reads a new connection's Hello, says who it is and brings it to where it belongs. A client that says nothing holds only this goroutine, for a
// limited time; known is called when it has said who it is.
func (s *Server) greet(conn net.Conn, known func()) {
	conn, hello, head, from, err := s.meet(conn)
	known()
	if errors.Is(err, errV1) {
		s.greetV1(conn, from.peer, head)
		return
	}
	if err != nil {
		return
	}
	switch hello.Purpose {
	case PurposeHIP:
		if hello.Resume != nil {
			if err := s.resume(conn, from, hello); err != nil {
				s.refuse(conn, from, hello, wire.CodeNoSession, err)
			}
			return
		}
		switch err := s.begin(conn, from, hello, head); {
		case errors.Is(err, errLeft): // there is nobody to be told
			s.refused(from, hello, err)
			_ = conn.Close()
		case err != nil:
			s.refuse(conn, from, hello, int32(refusalCode(err)), err)
		}
	case PurposeSMI:
		s.manage(conn, from, hello)
	}
}

// meet secures the connection, reads the Hello and decides who the client is and whether it may have what it has come for. With an error the connection
// is over.
func (s *Server) meet(conn net.Conn) (c net.Conn, hello *wire.Hello, head wire.Header, from caller, err error) {
	from = caller{peer: wire.PeerOf(conn), who: &access.Identity{}}
	if err := s.cfg.Socket.allowed(from.peer); err != nil {
		s.refuse(conn, from, nil, int32(hip.ErrorNotInitialized), err)
		return nil, nil, head, from, err
	}
	plain := conn
	if conn, err = s.secure(conn); err != nil {
		var old *v1Error
		if errors.As(err, &old) {
			return plain, nil, old.head, from, errV1
		}
		s.refused(from, nil, err)
		return nil, nil, head, from, err
	}
	stop := context.AfterFunc(s.ctx, func() { _ = conn.SetReadDeadline(time.Unix(1, 0)) })
	hello, head, err = wire.ReadHello(conn, s.cfg.HelloTimeout)
	stop()
	if isV1(head, err) {
		return conn, nil, head, from, errV1
	}
	if err != nil {
		s.drop(conn, from, err)
		return nil, nil, head, from, err
	}
	if *from.who, err = s.admit(conn, from.peer, hello); err != nil {
		code := int32(refusalCode(err))
		if hello.Purpose == PurposeSMI {
			code = int32(smi.ErrNoPermission)
			if errors.Is(err, access.ErrAway) {
				code = int32(smi.ErrBusy)
			}
		}
		s.refuse(conn, from, hello, code, err)
	}
	return conn, hello, head, from, err
}

// drop ends a connection that has not said a Hello.
func (s *Server) drop(conn net.Conn, from caller, err error) {
	if errors.Is(err, wire.ErrProtocol) {
		s.refuse(conn, from, nil, int32(hip.ErrorInvalidValue), err)
		return
	}
	s.refused(from, nil, err)
	_ = conn.Close()
}

// refuse tells a client why it is not let in. hello is nil if it has said nothing.
func (s *Server) refuse(conn net.Conn, from caller, hello *wire.Hello, code int32, err error) {
	s.refused(from, hello, err)
	tell := wire.Refuse
	if passes(err) {
		tell = wire.RefuseNow
	}
	_ = tell(conn, code, err.Error())
}

// passes says whether a refusal is for now: a client that comes again may be let in.
func passes(err error) bool {
	return errors.Is(err, admission.ErrFull) || errors.Is(err, access.ErrAway) || errors.Is(err, errDying) || errors.Is(err, errComers)
}

// refused counts and records a client that is not let in.
func (s *Server) refused(from caller, hello *wire.Hello, err error) {
	s.totals.refuse()
	s.failed(from.peer, hello != nil, err)
	what, args := "", []any{"from", from.peer.String(), "who", from.who.String(), "error", err}
	if hello != nil {
		what = printable(hello.Purpose, 64)
		args = append(args, "purpose", what)
	}
	if cause := access.Cause(err); cause != "" {
		args = append(args, "cause", cause)
	}
	s.cfg.Log.Warn("client refused", args...)
	s.audit(audit.Refuse, from, what, err)
}
