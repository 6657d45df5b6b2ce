//go:build !linux

package wire

import (
	"context"
	"errors"
	"io"
	"net"
)

// canShare says that this system does not know how to share memory with a server.
const canShare = false

func withRights(conn net.Conn) (io.Reader, func()) { return conn, func() {} }

func attach(context.Context, net.Conn, io.Reader, shareOffer) (transport, error) {
	return nil, errors.ErrUnsupported
}
