package discovery

import (
	"context"
	"errors"
	"net"
	"runtime"
	"sync/atomic"
)

// errCut is the error of a list of records that is not whole. Go's resolver gives what there is of it and does not say so.
var errCut = errors.New("the answer has more records than fit into one of DNS, which are 64 KiB; divide them among several names")

// resolver asks the source's server; cut tells afterwards that an answer was not whole.
func (d *dnsSource) resolver() (r *net.Resolver, cut *atomic.Bool) {
	cut = new(atomic.Bool)
	if d.server == "" && runtime.GOOS == "windows" { // it asks for itself
		return net.DefaultResolver, cut
	}
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		if d.server != "" {
			address = d.server
		}
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		if _, stream := conn.(*net.TCPConn); err == nil && stream { // by UDP the resolver looks itself, and asks again by TCP
			conn = &cutConn{Conn: conn, cut: cut}
		}
		return conn, err
	}}, cut
}

// cutConn looks whether the answer that is read says that it was cut: bit TC of its header, behind two bytes of length.
type cutConn struct {
	net.Conn
	cut  *atomic.Bool
	read int // bytes
}

const (
	flagsAt   = 4
	truncated = 1 << 1
)

func (c *cutConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if i := flagsAt - c.read; i >= 0 && i < n && b[i]&truncated != 0 {
		c.cut.Store(true)
	}
	c.read += n
	return n, err
}
