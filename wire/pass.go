package wire

import "errors"

// passer is a transport beside which descriptors go from the server to the client.
type passer interface {
	canPass() bool
	pass(tag uint64, fd int) error
	passed(tag uint64) (fd int, err error)
}

// CanPass says whether descriptors can be passed to the client: the connection goes through shared memory, and the client knows how.
func (s *ServerConn) CanPass() bool {
	p, ok := s.t.(passer)
	return ok && p.canPass()
}

// Pass sends a descriptor, which stays the caller's, with a number by which the client asks for it once it has been told. It never waits: a client that
// takes none gets no more. Safe for concurrent use.
func (s *ServerConn) Pass(tag uint64, fd int) error {
	p, ok := s.t.(passer)
	if !ok {
		return errors.ErrUnsupported
	}
	return p.pass(tag, fd)
}

// Passed gives the descriptor that the server has passed with a number, before it said so. Descriptors that came before are dropped. Safe for concurrent use.
func (c *Client) Passed(tag uint64) (fd int, err error) {
	p, ok := c.t.(passer)
	if !ok {
		return -1, errors.ErrUnsupported
	}
	return p.passed(tag)
}
