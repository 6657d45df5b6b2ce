package worker

import (
	"errors"
	"net"

	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/wire"
)

// transportOf is what a new connection goes through.
func transportOf(conn net.Conn) string {
	switch conn.(type) {
	case *wire.SecureConn:
		return smi.TransportTLS
	case *net.UnixConn:
		return smi.TransportUnix
	}
	return smi.TransportTCP
}

// share agrees with a client on this machine on memory to share, whose descriptor it gives; -1 where the connection goes on as it is. An error is the
// connection's end.
func (s *Server) share(conn net.Conn, hello *wire.Hello, rec *sessionRecord) (memory int, err error) {
	if s.local == nil {
		return -1, nil
	}
	memory, err = s.local.Offer(conn, hello, s.cfg.HelloTimeout)
	if errors.Is(err, wire.ErrNotShared) {
		s.cfg.Log.Debug("a session's connection goes through its socket", "session", rec.id, "reason", err)
		return -1, nil
	}
	if err == nil {
		rec.mu.Lock() // it is listed already
		rec.transport = smi.TransportShared
		rec.mu.Unlock()
	}
	return memory, err
}

// connectionOn is the connection of a session: on the client's socket, which security protects, or in memory that is shared with the client (-1: none).
func connectionOn(socket, memory int, security []byte, opt wire.ServerOptions) (*wire.ServerConn, error) {
	if memory >= 0 {
		return wire.NewServerShared(memory, socket, opt)
	}
	return wire.NewServerFD(socket, security, opt)
}
