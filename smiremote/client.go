package smiremote

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"os/user"
	"strings"
	"sync"
	"time"

	"github.com/rocwire/rocwire/exporter/rpcstats"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/wire"
)

// Options say which worker to ask.
type Options struct {
	Address        string        // host:port, or unix:PATH
	ConnectTimeout time.Duration // default 30 s
	IOTimeout      time.Duration // how long the worker may be silent; default 60 s
	Name, Version  string        // of the program, for the worker to show
}

// Client is an smi.Source of a worker's cards. It connects when it is first asked,
// and again after the connection was lost; a question that meets a lost connection
// is asked once more. All methods may be called from several goroutines.
type Client struct {
	smi.Unimplemented
	opt  Options
	dial chan struct{} // held while connecting

	mu     sync.Mutex
	conn   *wire.Client
	closed bool
}

var (
	_ smi.Source      = (*Client)(nil)
	_ smi.Snapshotter = (*Client)(nil)
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
	conn, err = wire.Dial(ctx, wire.Options{
		Address: c.opt.Address, ConnectTimeout: c.opt.ConnectTimeout, IOTimeout: c.opt.IOTimeout, Hello: c.hello(),
	})
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
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == '\uFFFD' {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
}

// ask sends one question and returns the results of its reply.
func (c *Client) ask(ctx context.Context, op uint16, args []byte) ([]byte, error) {
	for {
		conn, fresh, err := c.connection(ctx)
		if err != nil {
			return nil, err
		}
		code, results, err := exchange(ctx, conn, op, args)
		if err == nil && code == 0 {
			return results, nil
		}
		if err == nil {
			return nil, smi.Errorf(smi.Code(code), "%s", oneLine(string(results[:min(len(results), maxReason)])))
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if fresh || !errors.Is(err, wire.ErrLost) {
			return nil, c.failure(ctx, err)
		}
		// The worker was restarted since the last question. Ask the new one.
	}
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

func indexArg(index int) ([]byte, error) {
	if int(int32(index)) != index {
		return nil, smi.Errorf(smi.ErrNotFound, "no GPU %d", index)
	}
	return binary.LittleEndian.AppendUint32(nil, uint32(int32(index))), nil
}

// Devices implements smi.Source.
func (c *Client) Devices(ctx context.Context) ([]smi.Device, error) {
	b, err := c.ask(ctx, opDevices, nil)
	if err != nil {
		return nil, err
	}
	return decodeDevices(b)
}

// Info implements smi.Source.
func (c *Client) Info(ctx context.Context, index int) (*smi.Info, error) {
	b, err := c.askCard(ctx, opInfo, index)
	if err != nil {
		return nil, err
	}
	return decodeInfo(b, index)
}

// Metrics implements smi.Source.
func (c *Client) Metrics(ctx context.Context, index int) (*smi.Metrics, error) {
	b, err := c.askCard(ctx, opMetrics, index)
	if err != nil {
		return nil, err
	}
	return decodeMetrics(b)
}

// Processes implements smi.Source.
func (c *Client) Processes(ctx context.Context, index int) ([]smi.Process, error) {
	b, err := c.askCard(ctx, opProcesses, index)
	if err != nil {
		return nil, err
	}
	return decodeProcesses(b, index)
}

func (c *Client) askCard(ctx context.Context, op uint16, index int) ([]byte, error) {
	args, err := indexArg(index)
	if err != nil {
		return nil, err
	}
	return c.ask(ctx, op, args)
}

// Snapshot implements smi.Snapshotter.
func (c *Client) Snapshot(ctx context.Context) (*smi.Snapshot, error) {
	b, err := c.ask(ctx, opSnapshot, nil)
	if err != nil {
		return nil, err
	}
	return decodeSnapshot(b)
}

// Sessions lists the worker's clients.
func (c *Client) Sessions(ctx context.Context) (*SessionList, error) {
	b, err := c.ask(ctx, opSessions, nil)
	if err != nil {
		return nil, err
	}
	return decodeSessions(b)
}

// Calls tells how long the calls of the worker's clients took since it started.
func (c *Client) Calls(ctx context.Context) ([]rpcstats.CallTotal, error) {
	b, err := c.ask(ctx, opCalls, nil)
	if err != nil {
		return nil, err
	}
	return decodeCalls(b)
}
