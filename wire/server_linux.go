package wire

// NewServerFD takes over the descriptor of a stream socket whose Hello has been read, possibly by another process. It is closed on an error too.
func NewServerFD(fd int, opt ServerOptions) (*ServerConn, error) {
	t, err := newSocket(fd)
	if err != nil {
		return nil, err
	}
	return newServer(t, Peer{Addr: t.peer()}, opt), nil
}
