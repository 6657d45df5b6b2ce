package smiremote

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"strings"
	"sync"
	"time"

	"github.com/rocwire/rocwire/internal/dialing"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/wire"
)

// Options say which worker to ask.
type Options struct {
	Address        string        // host:port, or unix:PATH
	ConnectTimeout time.Duration // default 30 s
	IOTimeout      time.Duration // how long the worker may be silent; default 60 s
	Dialing        dialing.Settings
	Name, Version  string // of the program, for the worker to show
}

// Client is an smi.Source of a worker's cards. It connects when it is first asked,
// and again after the connection was lost; a question that meets a lost connection
// is asked once more, unless it changes something. All methods may be called from
// several goroutines.
type Client struct {
	smi.Unimplemented
	opt  Options
	dial chan struct{} // held while connecting

	mu     sync.Mutex
	conn   *wire.Client
	closed bool
	plain  *wire.Client // a connection whose worker packs no snapshots
}

var (
	_ smi.Source      = (*Client)(nil)
	_ smi.Snapshotter = (*Client)(nil)
	_ smi.Injector    = (*Client)(nil)
)

// NewClient returns a client that has not connected yet.
func NewClient(opt Options) *Client {
	if opt.Name == "" {
		opt.Name = "smiremote"
	}
	return &Client{opt: opt, dial: make(chan struct{}, 1)}
}

// Address is the worker's.
func (c *Client) Address() string { return c.opt.Address }

// Connect connects now; its error says why that cannot be.
func (c *Client) Connect(ctx context.Context) error {
	_, _, err := c.connection(ctx)
	return err
}

// Backend is what drives the worker's cards, "sim" or "rocm"; "" before the first
// connection.
func (c *Client) Backend() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn == nil {
		return ""
	}
	return c.conn.Welcome().Backend
}

// Close ends the connection.
func (c *Client) Close() error {
	c.mu.Lock()
	conn := c.conn
	c.conn, c.closed = nil, true
	c.mu.Unlock()
	if conn != nil {
		// What a connection says while it ends is of no use any more.
		_ = conn.Close()
	}
	return nil
}

// current is the connection if it lives.
func (c *Client) current() (*wire.Client, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, smi.Errorf(smi.ErrUnavailable, "the connection to %s is closed", c.opt.Address)
	}
	if c.conn != nil && c.conn.Err() == nil {
		return c.conn, nil
	}
	return nil, nil
}

// connection is a connection that lives, made if need be; fresh says that it was.
func (c *Client) connection(ctx context.Context) (conn *wire.Client, fresh bool, err error) {
	if conn, err = c.current(); conn != nil || err != nil {
		return conn, false, err
	}
	select {
	case c.dial <- struct{}{}:
		defer func() { <-c.dial }()
	case <-ctx.Done():
		return nil, false, ctx.Err()
	}
	if conn, err = c.current(); conn != nil || err != nil { // somebody else made it
		return conn, false, err
	}
	opt := wire.Options{Address: c.opt.Address, ConnectTimeout: c.opt.ConnectTimeout, IOTimeout: c.opt.IOTimeout, Hello: c.hello()}
	if err = c.opt.Dialing.Apply(&opt); err == nil {
		conn, err = wire.Dial(ctx, opt)
	}
	if err != nil {
		return nil, false, c.failure(ctx, err)
	}
	c.mu.Lock()
	old, closed := c.conn, c.closed
	if !closed {
		c.conn = conn
	}
	c.mu.Unlock()
	if closed {
		old = conn
	}
	if old != nil {
		_ = old.Close() // it is lost, or nobody wants it
	}
	if closed {
		return nil, false, smi.Errorf(smi.ErrUnavailable, "the connection to %s is closed", c.opt.Address)
	}
	return conn, true, nil
}

func (c *Client) hello() wire.Hello {
	h := wire.Hello{Client: c.opt.Name, Version: c.opt.Version, Purpose: Purpose, PID: int64(os.Getpid())}
	// What cannot be found out is left empty.
	h.Host, _ = os.Hostname()
	h.Executable, _ = os.Executable()
	if u, err := user.Current(); err == nil {
		h.User = u.Username
	}
	return h
}

// failure turns an error of the connection into one of package smi that names
// host, port and reason in one line.
func (c *Client) failure(ctx context.Context, err error) error {
	if ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return ctx.Err()
	}
	code, reason := smi.ErrUnavailable, err.Error()
	var we *wire.Error
	if errors.As(err, &we) && we.Reason != "" {
		reason = we.Reason
	}
	switch {
	case errors.Is(err, wire.ErrTimeout):
		code = smi.ErrTimeout
	case errors.Is(err, wire.ErrProtocol):
		code = smi.ErrBadData
		reason = "not a rocwire worker, or of another version: " + reason
	case errors.As(err, &we) && errors.Is(err, wire.ErrRefused) && we.Code != 0:
		reason = "the worker refused: " + reason
	}
	return &smi.Error{Code: code, Detail: "worker " + c.opt.Address + ": " + oneLine(reason), Err: err}
}

// oneLine makes a text from afar safe to print.
func oneLine(s string) string { return smi.Printable(strings.ToValidUTF8(s, "?")) }

// ask sends one question and returns the results of its reply.
func (c *Client) ask(ctx context.Context, op uint16, args []byte) ([]byte, error) {
	for {
		conn, fresh, err := c.connection(ctx)
		if err != nil {
			return nil, err
		}
		results, err := c.askOn(ctx, conn, op, args)
		if fresh || !errors.Is(err, wire.ErrLost) || changes(op) {
			return results, err
		}
		// The worker was restarted since the last question. Ask the new one.
	}
}

// changes says whether an operation must not be done twice: whether one that met
// the end of the connection was done is not known.
func changes(op uint16) bool {
	switch op {
	case opSet, opInject, opKill, opQuota, opIssue, opRevoke:
		return true
	}
	return false
}

// askOn asks over one connection.
func (c *Client) askOn(ctx context.Context, conn *wire.Client, op uint16, args []byte) ([]byte, error) {
	code, results, err := exchange(ctx, conn, op, args)
	switch {
	case err == nil && code == 0:
		return results, nil
	case err == nil:
		return nil, c.answerError(conn, op, smi.Code(code), string(results[:min(len(results), maxReason)]))
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return nil, c.failure(ctx, err)
}

// answerError is the worker's answer that there is no answer.
func (c *Client) answerError(conn *wire.Client, op uint16, code smi.Code, reason string) error {
	if (code == smi.ErrNotSupported || code == smi.ErrInvalid) && strings.HasPrefix(reason, fmt.Sprintf("operation %#04x", op)) {
		return smi.Errorf(smi.ErrNotSupported, "worker %s (version %s) is too old: it does not know %s", c.opt.Address, oneLine(conn.Welcome().Version), opNames[op])
	}
	return smi.Errorf(code, "%s", oneLine(reason))
}

// exchange does one round trip, given up when ctx is done.
func exchange(ctx context.Context, conn *wire.Client, op uint16, args []byte) (int32, []byte, error) {
	m := &wire.Msg{Req: args}
	done := make(chan error, 1)
	if err := conn.Go(op, m, func(_ *wire.Msg, err error) { done <- err }); err != nil {
		return 0, nil, err
	}
	if err := conn.Flush(); err != nil {
		return 0, nil, err
	}
	select {
	case err := <-done:
		return m.Code, m.Rep, err
	case <-ctx.Done():
		return 0, nil, ctx.Err() // the reply, when it comes, finds m alone
	}
}
