package wire

import (
	"errors"
	"fmt"
	"net"
)

// Kinds of failure, to be asked for with errors.Is. All of them end the connection.
var (
	ErrRefused  = errors.New("refused")            // nobody listens, or the server declined the Hello
	ErrTimeout  = errors.New("timed out")          // no connection or no handshake in time
	ErrLost     = errors.New("connection lost")    // the peer went away or has been silent for too long
	ErrProtocol = errors.New("protocol violation") // the peer sent what the specification does not allow
	ErrClosed   = errors.New("connection closed")  // this side closed the connection
)

// ErrVersion is a first frame of another major version, of which the header was read and nothing else. It is ErrProtocol, too.
var ErrVersion = errors.New("another version of the protocol")

// ErrNotShared says that a connection does not go through shared memory. It is no failure.
var ErrNotShared = errors.New("no shared memory")

// Error says which connection failed and why. Kind is one of the sentinels of this package.
type Error struct {
	Kind       error
	Host, Port string // of the peer; Port is empty for a Unix socket, Host then is its path
	Reason     string
	Code       int32 // of a refusing Welcome, otherwise 0
	Err        error // the cause, may be nil
}

func (e *Error) Error() string {
	at := e.Host
	if e.Port != "" {
		at = net.JoinHostPort(e.Host, e.Port)
	}
	if at == "" {
		at = "peer"
	}
	if e.Reason == "" {
		return fmt.Sprintf("wire: %s: %v", at, e.Kind)
	}
	return fmt.Sprintf("wire: %s: %v: %s", at, e.Kind, e.Reason)
}

// Is reports whether target is the kind of the error.
func (e *Error) Is(target error) bool { return target == e.Kind }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// A ProtocolError names what was wrong with something the peer sent. It is ErrProtocol.
type ProtocolError struct {
	What   string
	Header Header // the frame at fault, as far as it is known
	kind   error  // nil, or what it is besides
}

func (e *ProtocolError) Error() string {
	if e.Header == (Header{}) {
		return "protocol violation: " + e.What
	}
	return fmt.Sprintf("protocol violation: %s (version %#04x op %#04x id %d length %d flags %#x)",
		e.What, e.Header.Version, e.Header.Op, e.Header.ID, e.Header.Length, uint32(e.Header.Flags))
}

// Is reports whether target is ErrProtocol, or what else the error is.
func (e *ProtocolError) Is(target error) bool {
	return target == ErrProtocol || e.kind != nil && target == e.kind
}

func violation(h Header, format string, args ...any) error {
	return &ProtocolError{What: fmt.Sprintf(format, args...), Header: h}
}
