package wire

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"syscall"
	"time"
)

const (
	firstPause = 10 * time.Millisecond // between attempts to reconnect; it doubles up to
	longPause  = 2 * time.Second
	tryTime    = 10 * time.Second // for one attempt
	// refusedTime is how long nobody listening is taken for something that passes: a forwarded port, a balancer. A worker that has ended has ended its
	// sessions, too.
	refusedTime = 10 * time.Second
)

// again makes a client's connection again.
type again struct {
	dial   func(context.Context, timeLimit) (net.Conn, error)
	secret []byte
	ctx    context.Context // ends with the client
	cancel context.CancelFunc

	mu      sync.Mutex // held by who tries
	attempt uint64
	pause   time.Duration // before the next attempt
	moved   uint64        // bytes that had come when the last one succeeded
}

// reconnect is told that the connection was cut. It goes on over another one, or ends the client.
func (c *Client) reconnect(cause error) {
	a := c.again
	a.mu.Lock()
	defer a.mu.Unlock()
	cause = c.explain(cause)
	if c.opt.OnCut != nil {
		c.opt.OnCut(cause)
	}
	ctx, cancel := context.WithTimeout(a.ctx, c.opt.Reconnect)
	defer cancel()
	if err := c.resume(ctx); err != nil {
		c.fail(c.error(ErrLost, fmt.Sprintf("%s; it could not be resumed: %v", reasonOf(cause), err), cause))
		return
	}
	if c.opt.OnResumed != nil {
		c.opt.OnResumed(c.lasting.sinceCut())
	}
	c.lasting.catchUp()
}

func reasonOf(err error) string {
	if e := (*Error)(nil); errors.As(err, &e) {
		return e.Reason
	}
	return err.Error()
}

// resume tries until there is another transport.
func (c *Client) resume(ctx context.Context) error {
	a := c.again
	if n := c.lasting.received(); n != a.moved { // the last connection was of use
		a.pause, a.moved = 0, n
	}
	var refused time.Time
	last := errors.New("nobody was asked")
	for {
		if rest(ctx, a.pause) != nil {
			return fmt.Errorf("not within %v; at last: %w", c.opt.Reconnect, last)
		}
		a.pause = min(max(2*a.pause, firstPause), longPause)
		final, err := c.attempt(ctx)
		last = err
		switch {
		case err == nil:
			return nil
		case final:
			return err
		case !errors.Is(err, syscall.ECONNREFUSED):
			refused = time.Time{}
		case refused.IsZero():
			refused = time.Now()
		case time.Since(refused) > refusedTime:
			return err
		}
	}
}

// rest waits for about d.
func rest(ctx context.Context, d time.Duration) error {
	if d > 0 {
		d = d/2 + rand.N(d)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// attempt tries once. final: there is no sense in trying again.
func (c *Client) attempt(ctx context.Context) (final bool, err error) {
	a := c.again
	ctx, cancel, limit := limited(ctx, min(tryTime, c.opt.ConnectTimeout))
	defer cancel()
	conn, err := a.dial(ctx, limit)
	if err != nil {
		return false, err
	}
	hello := c.opt.Hello
	if err := c.opt.introduce(conn, &hello); err != nil {
		_ = conn.Close()
		return false, err
	}
	a.attempt++
	hello.Resume = &Resumption{Session: c.welcome.Session, Attempt: a.attempt, Received: c.lasting.received()}
	hello.Resume.Prove(a.secret)
	w, err := exchange(ctx, conn, &hello, &sharing{})
	switch {
	case err != nil:
		final = errors.Is(err, ErrProtocol)
		err = handshakeError(err, c.host, c.port, limit)
	case w.Code != 0:
		final, err = !w.Later, errors.New(w.Error)
	case !w.HasFeature(FeatureResume) || w.Session != c.welcome.Session:
		final, err = true, errors.New("the server knows nothing of the session")
	}
	if err != nil {
		_ = conn.Close()
		return final, err
	}
	t, err := newTransport(conn)
	if err == nil {
		t, err = c.opt.agree(t, w)
	}
	if err != nil {
		return false, err
	}
	if !c.lasting.replace(t, w.Received) {
		return true, errors.New("the server has not got what was acknowledged")
	}
	return false, nil
}

// Leave makes a cut of the connection, even a present one, the end of it: for who is about to close it, and does not want to wait for what it still
// sends.
func (c *Client) Leave() {
	if c.lasting != nil {
		c.lasting.leave()
	}
}
