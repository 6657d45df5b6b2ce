package worker

import (
	"errors"
	"io"
	"net"
	"os"
	"time"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/wire"
	"github.com/rocwire/rocwire/worker/access"
	"github.com/rocwire/rocwire/worker/admission"
)

// enter lets a new connection in as long as it has not said who it is, or refuses it; leave is to be called when that is known.
func (s *Server) enter(conn net.Conn) (leave func(), ok bool) {
	peer := wire.PeerOf(conn)
	leave, crowded, err := s.gate.Strangers.Enter(admission.SourceOf(peer), func() { _ = conn.Close() })
	if err != nil {
		s.refused(caller{peer: peer, who: &access.Identity{}}, nil, err)
		s.turnAway(conn, err)
		return nil, false
	}
	if crowded { // a burst of clients is let in as fast as they say who they are
		time.Sleep(crowdPause)
	}
	return leave, true
}

const (
	crowdPause = time.Millisecond
	// maxTurned is how many are told why they are refused at once. It takes a moment of waiting for each; others are not told.
	maxTurned = 32
)

// turnAway closes a connection that nobody knows anything of.
func (s *Server) turnAway(conn net.Conn, why error) {
	select {
	case s.turned <- struct{}{}:
		s.conns.Add(1)
		go func() {
			defer s.conns.Done()
			_ = wire.RefuseNow(conn, int32(hip.ErrorNotInitialized), why.Error()) // there are too many
			<-s.turned
		}()
	default:
		_ = conn.Close()
	}
}

// failed notes that a peer's connection has come to nothing, and why: who goes on like that is refused for a while.
func (s *Server) failed(peer wire.Peer, met bool, err error) {
	cost := admission.Denied
	switch {
	case s.ctx.Err() != nil, errors.Is(err, admission.ErrFull), errors.Is(err, errStopping):
		return
	case errors.Is(err, wire.ErrProtocol):
		cost = admission.Garbage
	case errors.Is(err, access.ErrRefused):
	case met: // it is not the client's doing
		return
	case errors.Is(err, io.EOF), errors.Is(err, os.ErrDeadlineExceeded):
		cost = admission.Silent
	}
	s.gate.Penalties.Add(admission.SourceOf(peer), cost)
}
