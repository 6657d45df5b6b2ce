package conntrack

import (
	"context"
	"net"
)

// Dial makes connections; see net.Dialer.DialContext.
type Dial = func(ctx context.Context, network, address string) (net.Conn, error)

// Option changes how connections are made.
type Option func(*Dial)

// NewDialContextFunc is a Dial for http.Transport.
func NewDialContextFunc(options ...Option) Dial {
	dial := (&net.Dialer{}).DialContext
	for _, o := range options {
		o(&dial)
	}
	return dial
}

// DialWithDialContextFunc makes connections with another Dial.
func DialWithDialContextFunc(d Dial) Option { return func(dial *Dial) { *dial = d } }

// DialWithTracing changes nothing: there is no tracing.
func DialWithTracing() Option { return func(*Dial) {} }

// DialWithName changes nothing: there are no metrics for the name to be a label of.
func DialWithName(string) Option { return func(*Dial) {} }
