package worker

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/wire"
	"github.com/rocwire/rocwire/worker/access"
)

// greet reads a new connection's Hello and brings it to where it belongs. A client that says nothing holds only this goroutine, for a
// limited time.
func (s *Server) greet(conn net.Conn) {
	peer := wire.PeerOf(conn)
	if err := s.cfg.Socket.allowed(peer); err != nil {
		s.strangers.Add(-1)
		s.totals.refuse()
		s.cfg.Log.Warn("client refused", "from", peer.String(), "error", err)
		_ = wire.Refuse(conn, int32(hip.ErrorNotInitialized), err.Error())
		return
	}
	conn, err := s.secure(conn)
	if err != nil {
		s.strangers.Add(-1)
		s.totals.refuse()
		s.cfg.Log.Warn("client refused", "from", peer.String(), "error", err)
		return
	}
	stop := context.AfterFunc(s.ctx, func() { _ = conn.SetReadDeadline(time.Unix(1, 0)) })
	hello, head, err := wire.ReadHello(conn, s.cfg.HelloTimeout)
	s.strangers.Add(-1)
	stop()
	if err != nil {
		s.totals.refuse()
		s.cfg.Log.Warn("connection dropped", "from", peer.String(), "error", err)
		if errors.Is(err, wire.ErrProtocol) {
			_ = wire.Refuse(conn, int32(hip.ErrorInvalidValue), err.Error())
			return
		}
		_ = conn.Close()
		return
	}
	switch hello.Purpose {
	case PurposeHIP:
		if err := s.begin(conn, peer, identify(peer, conn), hello, head); err != nil {
			s.totals.refuse()
			s.cfg.Log.Warn("client refused", "from", peer.String(), "error", err)
			_ = wire.Refuse(conn, int32(refusalCode(err)), err.Error())
		}
	case PurposeSMI:
		s.manage(conn, hello)
	default:
		s.totals.refuse()
		s.cfg.Log.Warn("client refused", "from", peer.String(), "purpose", printable(hello.Purpose, 64))
		_ = wire.Refuse(conn, int32(hip.ErrorNotSupported), fmt.Sprintf("purpose %q is not served here", printable(hello.Purpose, 64)))
	}
}

// identify says who a client is, by how it has come.
func identify(peer wire.Peer, conn net.Conn) access.Identity {
	if who, ok := certified(conn); ok {
		return who
	}
	switch {
	case peer.Credentials != nil:
		return access.Identity{Name: userName(peer.Credentials.UID), Method: access.Socket, Rights: access.HIP | access.Read}
	case peer.Local():
		return access.Identity{Method: access.Local, Rights: access.HIP | access.Read}
	}
	return access.Identity{Method: access.Nobody, Rights: access.HIP | access.Read}
}
