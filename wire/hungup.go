package wire

import "io"

// Cuts is how often the connection has been cut, for HungUp.
func (s *ServerConn) Cuts() uint64 {
	if s.lasting == nil {
		return 0
	}
	s.lasting.mu.Lock()
	defer s.lasting.mu.Unlock()
	return s.lasting.cuts
}

// HungUp is told, by who watches the client's socket, that the transport in use since so many cuts has come to its end. That may lie behind what nobody
// reads, because what is handled does not end.
func (s *ServerConn) HungUp(cuts uint64) {
	s.resuming.Lock() // Welcome may be making it last just now
	mortal := s.lasting == nil
	if mortal {
		s.fail(io.EOF)
	}
	s.resuming.Unlock()
	if mortal {
		return
	}
	for s.Cuts() == cuts && s.Err() == nil {
		if err := s.lasting.pump(maxNap); err != nil {
			s.fail(err)
		}
	}
}
