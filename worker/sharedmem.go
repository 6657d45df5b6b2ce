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

// notShared is what a client has that shares nothing.
var notShared = wire.Memory{FD: -1, Channel: -1}

// share agrees with a client on this machine on memory to share; notShared where the connection goes on as it is. An error is the connection's end.
func (s *Server) share(conn net.Conn, hello *wire.Hello, rec *sessionRecord) (wire.Memory, error) {
	if s.local == nil {
		return notShared, nil
	}
	m, err := s.local.Offer(conn, hello, s.cfg.HelloTimeout)
	if errors.Is(err, wire.ErrNotShared) {
		s.cfg.Log.Debug("a session's connection goes through its socket", "session", rec.id, "reason", err)
		return notShared, nil
	}
	if err == nil {
		rec.mu.Lock() // it is listed already
		rec.transport = smi.TransportShared
		rec.mu.Unlock()
	}
	return m, err
}

// sendMemory hands what is shared with a client to its session process.
func (c *control) sendMemory(m wire.Memory) error {
	if err := c.send([]byte{msgMemory}, m.FD); err != nil {
		return err
	}
	return c.send([]byte{msgChannel}, m.Channel)
}

// takeMemory takes in what sendMemory sends, if that is what msg is, and the message behind it, which it gives.
func (c *control) takeMemory(msg []byte, fd int, buf []byte) (m wire.Memory, next []byte, nextFD int, err error) {
	if msg[0] != msgMemory || fd < 0 {
		return notShared, msg, fd, nil
	}
	m = wire.Memory{FD: fd, Channel: -1}
	msg, fd, err = c.receive(buf)
	if err == nil && msg[0] == msgChannel {
		m.Channel = fd
		msg, fd, err = c.receive(buf)
	}
	return m, msg, fd, err
}

// connectionOn is the connection of a session: on the client's socket, which security protects, or in memory that is shared with the client.
func connectionOn(socket int, m wire.Memory, security []byte, opt wire.ServerOptions) (*wire.ServerConn, error) {
	if m.FD >= 0 {
		return wire.NewServerShared(m, socket, opt)
	}
	return wire.NewServerFD(socket, security, opt)
}
