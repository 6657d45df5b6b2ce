package hipv1

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/rocwire/rocwire/hip"
)

// Client speaks to a worker of this protocol: one request at a time, as its own clients do. Safe for concurrent use.
type Client struct {
	mu      sync.Mutex
	conn    net.Conn
	r       *bufio.Reader
	timeout time.Duration // for a request and its reply; 0: none
	id      uint32
	broken  error
}

// NewClient speaks over a connection, which it closes.
func NewClient(conn net.Conn, timeout time.Duration) *Client {
	return &Client{conn: conn, r: bufio.NewReader(conn), timeout: timeout}
}

// Dial connects. It sends nothing.
func Dial(ctx context.Context, address string, timeout time.Duration) (*Client, error) {
	d := net.Dialer{Timeout: timeout}
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return NewClient(conn, timeout), nil
}

// Close ends the connection.
func (c *Client) Close() error { return c.conn.Close() }

// Post sends a request that is not answered: a struct, nil for none, and what is behind it.
func (c *Client) Post(op Op, req any, tail []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.send(op, FlagNoReply, req, tail)
	return err
}

// Call sends a request and waits for its reply, into the struct resp, nil for none. It returns what the reply has behind that. A code that is not 0 is
// an error: a [hip.Error], or of an SMI operation a [CodeError].
func (c *Client) Call(op Op, req any, tail []byte, resp any) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	id, err := c.send(op, 0, req, tail)
	if err != nil {
		return nil, err
	}
	b, err := c.receive(id, op)
	if err != nil {
		c.broken = err
		_ = c.conn.Close() // what comes next would be taken for the answer to another question
		return nil, err
	}
	code, b := int32(le.Uint32(b)), b[4:]
	if code != 0 {
		if op.SMI() {
			return nil, CodeError(code)
		}
		return nil, hip.Error(code)
	}
	if resp == nil {
		return b, nil
	}
	n, err := binary.Decode(b, le, resp)
	if err != nil {
		return nil, violation("reply to %v: %d bytes", op, len(b))
	}
	return b[n:], nil
}

// CodeError is the code of a reply to a question about cards.
type CodeError int32

func (e CodeError) Error() string {
	switch e {
	case SMINotInitialised:
		return "the worker's management library is not initialised (-1)"
	case SMIBadIndex, SMIBadMetrics:
		return fmt.Sprintf("there is no such card (%d)", int32(e))
	}
	return fmt.Sprintf("the worker's management library answered %d", int32(e))
}

func (c *Client) send(op Op, flags Flags, req any, tail []byte) (id uint32, err error) {
	if c.broken != nil {
		return 0, c.broken
	}
	if c.timeout > 0 {
		_ = c.conn.SetDeadline(time.Now().Add(c.timeout)) // what is wrong with it, the write says
	}
	if len(tail) > 0 {
		flags |= FlagInlineData
	}
	c.id++
	b := make([]byte, HeaderSize, 256)
	if req != nil {
		if b, err = binary.Append(b, le, req); err != nil {
			return 0, err
		}
	}
	h := Header{Version: Version, Op: op, ID: c.id, Length: uint32(len(b) - HeaderSize + len(tail)), Flags: flags}
	h.Append(b[:0])
	bufs := net.Buffers{b, tail}
	if _, err := bufs.WriteTo(c.conn); err != nil {
		c.broken = err
		return 0, err
	}
	return c.id, nil
}

// maxReply bounds what is taken into memory of a reply.
const maxReply = 1 << 30

func (c *Client) receive(id uint32, op Op) ([]byte, error) {
	var head [HeaderSize]byte
	if _, err := io.ReadFull(c.r, head[:]); err != nil {
		if errors.Is(err, io.EOF) {
			err = fmt.Errorf("the worker has closed the connection: %w", err)
		}
		return nil, err
	}
	h, err := ParseHeader(head[:])
	switch {
	case err != nil:
		return nil, err
	case h.Flags&FlagResponse == 0 || h.ID != id || h.Op != replyOp(op):
		return nil, violation("the reply to %v, request %d, is one to %v, request %d", op, id, h.Op, h.ID)
	case h.Length < 4 || h.Length > maxReply:
		return nil, violation("reply to %v: %d bytes", op, h.Length)
	}
	return readSome(c.r, int(h.Length))
}

// readSome reads n bytes and takes memory as they come, whoever announces them.
func readSome(r io.Reader, n int) ([]byte, error) {
	b := make([]byte, min(n, 64<<10))
	for at := 0; ; {
		if _, err := io.ReadFull(r, b[at:]); err != nil {
			return nil, err
		}
		if at = len(b); at == n {
			return b, nil
		}
		b = append(b, make([]byte, min(n-at, at))...)
	}
}
