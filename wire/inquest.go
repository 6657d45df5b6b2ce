package wire

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"syscall"
	"time"
)

// A client whose connection lasts comes back when it is cut, and learns what became of its session. One whose connection does not last, as through shared
// memory, asks: a session that has died said nothing.

// inquestTime is how long the server is asked, while calls wait.
const inquestTime = 10 * time.Second

// inquest asks the server once why a connection has ended that said nothing.
type inquest struct {
	dial func(context.Context, timeLimit) (net.Conn, error)
	once sync.Once
	says string
}

// fail notes why the connection ends, and ends it.
func (c *Client) fail(err error) { c.link.fail(c.known(err)) }

// known is err with what the server knows of it.
func (c *Client) known(err error) error {
	if c.inquest == nil || !Closed(err) || c.Err() != nil {
		return err
	}
	c.inquest.once.Do(func() { c.inquest.says = c.inquire() })
	if c.inquest.says == "" {
		return err
	}
	return c.error(ErrLost, fmt.Sprintf("%s; it says: %s", reasonOf(c.explain(err)), c.inquest.says), err)
}

// inquire is what the server says of the session, "" for nothing.
func (c *Client) inquire() string {
	ctx, cancel, limit := limited(context.Background(), inquestTime)
	defer cancel()
	for pause := firstPause; ; pause = min(2*pause, longPause) {
		says, err := c.ask(ctx, limit)
		if err == nil || errors.Is(err, ErrProtocol) || errors.Is(err, syscall.ECONNREFUSED) || rest(ctx, pause) != nil {
			return says
		}
	}
}

// ask asks as a client does that wants to go on, which this one cannot: it has no secret.
func (c *Client) ask(ctx context.Context, limit timeLimit) (says string, err error) {
	conn, err := c.inquest.dial(ctx, limit)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	hello := c.opt.Hello
	if err := c.opt.introduce(conn, &hello); err != nil {
		return "", err
	}
	hello.Resume = &Resumption{Session: c.welcome.Session, Proof: make([]byte, secretSize)}
	w, err := exchange(ctx, conn, &hello, &sharing{})
	switch {
	case err != nil:
		return "", err
	case w.Later:
		return "", errors.New(w.Error)
	}
	return w.Error, nil
}
