package wire

// ResumeFD is Resume over a socket whose Hello another process has read, and what protects it (see NewServerFD). It is closed on an error too. resumed, if not
// nil, is called with what Cuts is as long as that transport is in use.
func (s *ServerConn) ResumeFD(fd int, security []byte, hello *Hello, resumed func(cuts uint64)) error {
	t, err := newTransportFD(fd, security)
	if err != nil {
		return err
	}
	forServer(t, s.opt)
	return s.resume(t, hello, resumed)
}
