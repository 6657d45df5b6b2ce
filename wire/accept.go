package wire

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"
)

// ReadHello reads the INIT frame of a new connection and not a byte more, so that the descriptor can then be handed to another
// process. The whole frame must arrive within timeout. The header is returned as far as it was read, even with an error, for Refuse.
func ReadHello(conn net.Conn, timeout time.Duration) (*Hello, Header, error) {
	if timeout > 0 {
		if err := conn.SetReadDeadline(time.Now().Add(timeout)); err != nil {
			return nil, Header{}, err
		}
	}
	h, p, err := readInit(conn)
	if err == nil && h.Flags != 0 {
		err = violation(h, "INIT with flags")
	}
	var hello *Hello
	if err == nil {
		hello, err = ParseHello(p)
	}
	if err != nil {
		kind := ErrLost
		switch {
		case errors.Is(err, ErrProtocol):
			kind = ErrProtocol
		case errors.Is(err, os.ErrDeadlineExceeded):
			kind, err = ErrTimeout, fmt.Errorf("no handshake within %v: %w", timeout, err)
		case errors.Is(err, io.EOF):
			err = fmt.Errorf("the client said nothing: %w", err)
		}
		host, port := hostPort(conn.RemoteAddr())
		return nil, h, &Error{Kind: kind, Host: host, Port: port, Reason: err.Error(), Err: err}
	}
	hello.Protocol, hello.Sum = h.Version, frameSum(h, p)
	return hello, h, conn.SetReadDeadline(time.Time{})
}

// hostPort takes an address apart, for errors.
func hostPort(a net.Addr) (host, port string) {
	if a == nil {
		return "", ""
	}
	if u, ok := a.(*net.UnixAddr); ok && (u.Name == "" || u.Name == "@") { // of a client's socket, which has no name
		return "local client", ""
	}
	host, port, err := net.SplitHostPort(a.String())
	if err != nil {
		return a.String(), ""
	}
	return host, port
}

// Refuse answers a connection's handshake, or whatever came instead of one, with a refusal and closes it. code must not be 0.
func Refuse(conn net.Conn, code int32, reason string) error {
	return refuse(conn, &Welcome{Code: code, Error: reason})
}

// RefuseNow is Refuse of a client that may be let in when it comes again in a while. One that resumes does.
func RefuseNow(conn net.Conn, code int32, reason string) error {
	return refuse(conn, &Welcome{Code: code, Error: reason, Later: true})
}

func refuse(conn net.Conn, w *Welcome) error {
	w.Error = w.Error[:min(len(w.Error), MaxReason)]
	b, err := appendWelcome(nil, w)
	if err == nil {
		if err = conn.SetWriteDeadline(time.Now().Add(time.Second)); err == nil {
			_, err = conn.Write(b)
		}
	}
	if cw, ok := conn.(interface{ CloseWrite() error }); ok && err == nil {
		// Take what the client has still sent, so that the answer is not lost to a reset.
		if err = cw.CloseWrite(); err == nil && conn.SetReadDeadline(time.Now().Add(50*time.Millisecond)) == nil {
			_, _ = io.CopyN(io.Discard, conn, MaxHello)
		}
	}
	return errors.Join(err, conn.Close())
}

// negotiated is the version that frames after the handshake carry.
func negotiated(theirs uint16) uint16 { return min(theirs, Version) }

// appendWelcome adds the reply to INIT.
func appendWelcome(b []byte, w *Welcome) ([]byte, error) {
	version, flags := w.Protocol, FlagResponse
	if version == 0 {
		version = Version
	}
	if w.Code != 0 {
		flags |= FlagError
	}
	start := len(b)
	b = append(b, make([]byte, HeaderSize)...)
	e := Enc{b}
	e.I32(w.Code)
	b, err := AppendMap(e.B, w)
	if err != nil {
		return b[:start], err
	}
	h := Header{Version: version, Op: OpInit, Length: uint32(len(b) - start - HeaderSize), Flags: flags}
	h.Append(b[start:start])
	return b, nil
}
