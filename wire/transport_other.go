//go:build !linux

package wire

import "net"

// newTransport takes conn over.
func newTransport(conn net.Conn) (transport, error) { return newStream(conn), nil }

// forServer tells a transport that it is a server's.
func forServer(transport, ServerOptions) {}
