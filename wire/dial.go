package wire

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/rocwire/rocwire/internal/tlsrecord"
)

// Dial connects and shakes hands. Its errors are ErrRefused, ErrTimeout, ErrLost or ErrProtocol and name host and port.
func Dial(ctx context.Context, opt Options) (*Client, error) {
	if opt.ConnectTimeout <= 0 {
		opt.ConnectTimeout = DefaultConnectTimeout
	}
	ctx, cancel, limit := limited(ctx, opt.ConnectTimeout)
	defer cancel()
	network, address, host, port := splitAddress(opt.Address)
	connect := func(ctx context.Context, limit timeLimit) (net.Conn, error) {
		var d net.Dialer
		conn, err := d.DialContext(ctx, network, address)
		if err != nil {
			return nil, dialError(err, host, port, limit)
		}
		if opt.TLS != nil && network == "tcp" {
			return dialTLS(ctx, conn, opt.TLS, host, port, limit)
		}
		return conn, nil
	}
	conn, err := connect(ctx, limit)
	if err != nil {
		return nil, err
	}
	if opt.inquire = connect; network == "tcp" {
		opt.redial = connect
	}
	return handshake(ctx, conn, opt, host, port, limit)
}

// NewClient shakes hands on a connection that is already there, for example a TLS one. It takes conn over. Once cut, it is not made again.
func NewClient(ctx context.Context, conn net.Conn, opt Options) (*Client, error) {
	if opt.ConnectTimeout <= 0 {
		opt.ConnectTimeout = DefaultConnectTimeout
	}
	ctx, cancel, limit := limited(ctx, opt.ConnectTimeout)
	defer cancel()
	_, _, host, port := splitAddress(opt.Address)
	return handshake(ctx, conn, opt, host, port, limit)
}

// splitAddress takes unix:PATH and host:port apart.
func splitAddress(a string) (network, address, host, port string) {
	if path, ok := strings.CutPrefix(a, "unix:"); ok {
		return "unix", path, path, ""
	}
	host, port, err := net.SplitHostPort(a)
	if err != nil {
		host, port = a, ""
	}
	return "tcp", a, host, port
}

func dialError(err error, host, port string, limit timeLimit) error {
	e := &Error{Kind: ErrLost, Host: host, Port: port, Err: err, Reason: err.Error()}
	var ne net.Error
	var op *net.OpError
	switch {
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.ENOENT):
		e.Kind, e.Reason = ErrRefused, "nobody listens there"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &ne) && ne.Timeout():
		e.Kind, e.Reason = ErrTimeout, "no connection "+limit.String()
	case errors.Is(err, context.Canceled):
		e.Kind, e.Reason = ErrTimeout, "canceled"
	case errors.As(err, &op) && op.Err != nil:
		e.Reason = op.Err.Error()
	}
	return e
}

// handshake sends the Hello and reads the Welcome.
func handshake(ctx context.Context, conn net.Conn, opt Options, host, port string, limit timeLimit) (*Client, error) {
	if opt.IOTimeout <= 0 {
		opt.IOTimeout = DefaultIOTimeout
	}
	if opt.Hello.HeartbeatMS == 0 {
		opt.Hello.HeartbeatMS = uint32(max(min(opt.IOTimeout/4, DefaultHeartbeat)/time.Millisecond, 1))
	}
	if opt.Reconnect > 0 && opt.redial != nil {
		opt.Hello.Features = append(slices.Clip(opt.Hello.Features), FeatureResume)
	}
	hello := opt.Hello
	if err := opt.introduce(conn, &hello); err != nil {
		_ = conn.Close()
		return nil, &Error{Kind: ErrRefused, Host: host, Port: port, Reason: err.Error(), Err: err}
	}
	sh := shareFor(conn, &hello, opt.NoShare)
	w, err := exchange(ctx, conn, &hello, sh)
	if err == nil && w.Code != 0 {
		err = &Error{Kind: ErrRefused, Host: host, Port: port, Reason: w.Error, Code: w.Code}
	}
	if err != nil {
		sh.drop()
		_ = conn.Close()
		return nil, handshakeError(err, host, port, limit)
	}
	t := sh.t
	if t != nil { // there is nothing to cut
		opt.redial = nil
	} else {
		if t, err = newTransport(conn); err == nil {
			t, err = opt.agree(t, w)
		}
		if err != nil {
			return nil, &Error{Kind: ErrLost, Host: host, Port: port, Reason: err.Error(), Err: err}
		}
	}
	c := newClient(t, opt, w, host, port)
	c.notShared = sh.why
	return c, nil
}

func handshakeError(err error, host, port string, limit timeLimit) error {
	if own := (*Error)(nil); errors.As(err, &own) {
		return err
	}
	e := &Error{Kind: ErrLost, Host: host, Port: port, Reason: "during the handshake: " + err.Error(), Err: err}
	switch {
	case errors.Is(err, context.Canceled):
		e.Kind, e.Reason = ErrTimeout, "canceled"
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		e.Kind, e.Reason = ErrTimeout, "no answer to the handshake "+limit.String()
	case errors.As(err, new(tlsrecord.AlertError)):
		e.Kind, e.Reason = ErrRefused, tlsReason(err)
	case errors.Is(err, ErrProtocol):
		e.Kind = ErrProtocol
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		e.Reason = "the server ended the connection during the handshake"
	}
	return e
}

// exchange does the handshake, byte-exact: nothing after the Welcome is read.
func exchange(ctx context.Context, conn net.Conn, hello *Hello, sh *sharing) (_ *Welcome, err error) {
	if t, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(t) // a connection without deadlines still works
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer func() {
		if stop() {
			_ = conn.SetDeadline(time.Time{})
		}
		if err != nil && errors.Is(ctx.Err(), context.Canceled) {
			err = fmt.Errorf("%w: %w", context.Canceled, err) // that of the connection says that its time is over
		}
	}()
	p, err := hello.Append(make([]byte, HeaderSize, 1024))
	if err != nil {
		return nil, err
	}
	head := Header{Version: Version, Op: OpInit, Length: uint32(len(p) - HeaderSize)}
	head.Append(p[:0])
	sum := frameSum(head, p[HeaderSize:])
	if _, err := conn.Write(p); err != nil {
		return nil, err
	}
	h, p, err := sh.answer(ctx, conn)
	if err != nil {
		return nil, err
	}
	if h.Flags&^FlagError != FlagResponse || len(p) < 4 {
		return nil, violation(h, "no reply to INIT")
	}
	code := int32(binary.LittleEndian.Uint32(p))
	if (code != 0) != (h.Flags&FlagError != 0) {
		return nil, violation(h, "code %d and ERROR flag disagree", code)
	}
	w, err := parseWelcome(p[4:])
	if err != nil {
		return nil, err
	}
	w.Code, w.Protocol, w.sums = code, h.Version, [2]uint32{sum, frameSum(h, p)}
	return w, nil
}

// readInit reads exactly one INIT frame.
func readInit(r io.Reader) (Header, []byte, error) { return readHandshake(r, OpInit) }

// readHandshake reads exactly one frame of a handshake, of an operation that may come.
func readHandshake(r io.Reader, ops ...uint16) (Header, []byte, error) {
	var b [HeaderSize]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return Header{}, nil, err
	}
	h, err := ParseHeader(b[:])
	switch {
	case err != nil && b[0] == tlsHandshake && b[1] == 3:
		return Header{}, nil, violation(Header{}, "the client speaks TLS, for which there is no certificate here (--tls-cert, --tls-key)")
	case err != nil:
		return h, nil, err
	case h.Version>>8 != Version>>8:
		return h, nil, &ProtocolError{What: fmt.Sprintf("version %#04x is not spoken here", h.Version), Header: h, kind: ErrVersion}
	case !slices.Contains(ops, h.Op) || h.ID != 0:
		return h, nil, violation(h, "the first frame is not INIT")
	case h.Length > MaxHello:
		return h, nil, violation(h, "INIT longer than %d bytes", MaxHello)
	}
	p, err := readSome(r, int(h.Length))
	if err != nil {
		return h, nil, eofWithin(err)
	}
	return h, p, nil
}

// helloFirst is as much of a handshake as memory is taken for before any of it has come: most are shorter.
const helloFirst = 2 << 10

// readSome reads n bytes, and takes memory as they come: a stranger that announces much and sends nothing has none.
func readSome(r io.Reader, n int) ([]byte, error) {
	p := make([]byte, min(n, helloFirst))
	for at := 0; at < n; {
		if at == len(p) {
			p = append(p, make([]byte, min(n-at, at))...)
		}
		if _, err := io.ReadFull(r, p[at:]); err != nil {
			return nil, err
		}
		at = len(p)
	}
	return p, nil
}
