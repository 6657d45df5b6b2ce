package wire

// NewServerFD takes over the descriptor of a stream socket whose Hello has been read, possibly by another process. It is closed on an error too. security
// is what Handover gave with it, nil for a connection that nothing protects.
func NewServerFD(fd int, security []byte, opt ServerOptions) (*ServerConn, error) {
	t, err := newTransportFD(fd, security)
	if err != nil {
		return nil, err
	}
	forServer(t, opt)
	return newServer(t, Peer{Addr: t.peer()}, opt), nil
}

// forServer tells a transport that it is a server's.
func forServer(t transport, opt ServerOptions) {
	var s *socket
	switch t := t.(type) {
	case *socket:
		s = t
	case *secured:
		s = t.socket
	case *kernelTLS:
		s = t.socket
	default:
		return
	}
	s.server, s.alone = true, opt.Alone
}
