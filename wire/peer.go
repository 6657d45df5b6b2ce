package wire

import (
	"fmt"
	"net"
)

// Peer is who is at the other end of a connection, as far as the operating system vouches for it.
type Peer struct {
	Addr net.Addr // a *net.TCPAddr or a *net.UnixAddr; nil if it is not known
	// Credentials are of the process that has connected through a Unix socket, as they were then; nil if they are not known.
	Credentials *Credentials
}

// Credentials are what the kernel knows of a process. Where it lives in another PID namespace PID is 0.
type Credentials struct {
	PID      int32
	UID, GID uint32
	Groups   []uint32 // supplementary ones
}

// String is an address, or who it is on this machine.
func (p Peer) String() string {
	switch {
	case p.Credentials != nil:
		return fmt.Sprintf("local process %d of uid %d", p.Credentials.PID, p.Credentials.UID)
	case p.Addr == nil:
		return "unknown"
	}
	if _, ok := p.Addr.(*net.UnixAddr); ok { // most clients' sockets have no name
		return "local client"
	}
	return p.Addr.String()
}

// Local reports whether the peer is on this machine: a Unix socket, or loopback. Whoever forwards a port to this machine's loopback makes its
// users local ones.
func (p Peer) Local() bool {
	switch a := p.Addr.(type) {
	case *net.UnixAddr:
		return true
	case *net.TCPAddr:
		return a.IP.IsLoopback()
	}
	return false
}

// PeerOf says who has connected.
func PeerOf(conn net.Conn) Peer {
	return Peer{Addr: conn.RemoteAddr(), Credentials: credentials(conn)}
}
