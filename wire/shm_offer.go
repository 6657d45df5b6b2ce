package wire

import (
	"fmt"
	"net"
)

// FeatureSharedMemory is what a client wants in its Hello if it is on the server's machine, as far as it can tell, and would rather share memory with it than
// use the connection.
const FeatureSharedMemory = "shared-memory"

// OpShare is the operation of both frames by which client and server agree on shared memory, between Hello and Welcome.
const OpShare = 4

const (
	shareToken = 16 // bytes
	maxPlace   = 108
)

// shareOffer is the payload of the server's OpShare: where the descriptor of the memory is to be had, for whom. Where it comes along with the frame, both are
// empty.
type shareOffer struct {
	place string // name of an abstract Unix socket, with an @ in front
	token [shareToken]byte
}

func (o *shareOffer) frame() []byte {
	e := Enc{make([]byte, HeaderSize, 128)}
	e.Bytes([]byte(o.place))
	e.Raw(o.token[:])
	Header{Version: Version, Op: OpShare, Length: uint32(len(e.B) - HeaderSize), Flags: FlagNoReply}.Append(e.B[:0])
	return e.B
}

func parseShareOffer(h Header, p []byte) (o shareOffer, err error) {
	d := NewDec(p)
	place := d.Bytes()
	copy(o.token[:], d.Raw(shareToken))
	if !d.Done() || h.Flags != FlagNoReply || len(place) > maxPlace || len(place) > 0 && place[0] != '@' {
		return o, violation(h, "malformed offer of shared memory")
	}
	o.place = string(place)
	return o, nil
}

// shareAnswer is the client's OpShare: whether it has the memory, and uses nothing else from now on.
func shareAnswer(taken bool) []byte {
	code, flags := int32(0), FlagResponse
	if !taken {
		code, flags = 1, flags|FlagError
	}
	e := Enc{Header{Version: Version, Op: OpShare, Length: 4, Flags: flags}.Append(nil)}
	e.I32(code)
	return e.B
}

func parseShareAnswer(h Header, p []byte) (taken bool, err error) {
	d := NewDec(p)
	code := d.I32()
	if !d.Done() || h.Op != OpShare || h.Flags&^FlagError != FlagResponse || (code != 0) != (h.Flags&FlagError != 0) {
		return false, violation(h, "no answer to the offer of shared memory")
	}
	return code == 0, nil
}

// oneMachine says whether a connection does not leave the machine, as far as its addresses tell: a port that is forwarded looks like it, too.
func oneMachine(conn net.Conn) bool {
	switch a := conn.RemoteAddr().(type) {
	case *net.UnixAddr:
		return true
	case *net.TCPAddr:
		own, ok := conn.LocalAddr().(*net.TCPAddr)
		return ok && (a.IP.IsLoopback() || a.IP.Equal(own.IP))
	}
	return false
}

// rawConn is the socket below a connection, which may be its own.
func rawConn(conn net.Conn) net.Conn {
	if c, ok := conn.(*SecureConn); ok {
		return c.Conn
	}
	return conn
}

// errNotShared says why a connection does not use shared memory.
func errNotShared(why error) error { return fmt.Errorf("%w: %w", ErrNotShared, why) }
