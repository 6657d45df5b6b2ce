package wire

import (
	"crypto/tls"
	"errors"
	"net"
)

// introduce completes what a client says of itself on a connection: its token goes where nobody else reads it, or nowhere.
func (o *Options) introduce(conn net.Conn, h *Hello) error {
	if o.Token == nil {
		return nil
	}
	token, err := o.Token()
	if err != nil {
		return err
	}
	_, secure := conn.(interface{ ConnectionState() tls.ConnectionState })
	if token != "" && !secure && !PeerOf(conn).Local() {
		return errors.New("a token is not sent over a plain connection to another machine: connect with TLS (TF_WORKER_TLS_CA)")
	}
	h.Token = token
	return nil
}
