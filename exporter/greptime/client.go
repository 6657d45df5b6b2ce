package greptime

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	ingester "github.com/GreptimeTeam/greptimedb-ingester-go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/keepalive"

	"github.com/rocwire/rocwire/exporter/push"
	"github.com/rocwire/rocwire/exporter/rows"
)

// client writes records.
type client struct {
	db   *ingester.Client
	time TimeColumn
	log  *slog.Logger
}

func dial(o *Options, log *slog.Logger) (*client, error) {
	host, err := o.check()
	if err != nil {
		return nil, err
	}
	column, err := ParseTime(o.Time)
	if err != nil {
		return nil, err
	}
	cfg := ingester.NewConfig(o.Address).WithDatabase(o.Database).WithAuth(o.User, o.Password.Reveal()).
		// A server that was away is noticed soon, and one that hangs while it is asked.
		WithDialOption(grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: time.Second, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 15 * time.Second},
			MinConnectTimeout: 10 * time.Second,
		})).
		WithDialOption(grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 20 * time.Second, Timeout: 10 * time.Second}))
	if o.UseTLS {
		config, err := o.TLS.Config(host)
		if err != nil {
			return nil, fmt.Errorf("--greptime-ca: %w", err)
		}
		config.NextProtos = []string{"h2"}
		// The ingester knows TLS only with this machine's certificates, so it gets
		// connections that have TLS already.
		dialer := &tls.Dialer{NetDialer: &net.Dialer{Timeout: 10 * time.Second}, Config: config}
		cfg = cfg.WithDialOption(grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
			return dialer.DialContext(ctx, "tcp", address)
		}))
	}
	db, err := ingester.NewClient(cfg)
	if err != nil {
		return nil, err
	}
	return &client{db: db, time: column, log: log}, nil
}

// send delivers one record; see push.Options.Send.
func (c *client) send(ctx context.Context, record []byte) error {
	batch, err := rows.Decode(record)
	if err != nil {
		return fmt.Errorf("%w: %w", push.ErrPermanent, err)
	}
	parts, err := c.split(batch)
	if err != nil {
		return fmt.Errorf("%w: %w", push.ErrPermanent, err)
	}
	if len(parts) == 0 {
		return nil
	}
	err = c.stream(ctx, parts)
	if err == nil || ctx.Err() != nil || unreachable(err) {
		return classify(err)
	}
	c.log.Debug("the stream broke; its tables are written one by one", "reason", words(err))
	return c.single(ctx, parts)
}

// stream writes all parts in one stream.
func (c *client) stream(ctx context.Context, parts []part) error {
	want := 0
	for _, p := range parts {
		if err := c.db.StreamWrite(ctx, p.table); err != nil {
			_, _ = c.db.CloseStream(ctx) // which must not be used for the next record; err says why
			return err
		}
		want += p.rows
	}
	taken, err := c.db.CloseStream(ctx)
	if err != nil {
		return err
	}
	return confirmed(int(taken.GetValue()), want)
}

// single writes the parts one by one. What the server refuses keeps nothing else from
// being written.
func (c *client) single(ctx context.Context, parts []part) error {
	var refused []error
	for _, p := range parts {
		answer, err := c.db.Write(ctx, p.table)
		if err == nil {
			if s := answer.GetHeader().GetStatus(); s.GetStatusCode() != 0 {
				err = &statusError{code: s.GetStatusCode(), text: s.GetErrMsg()}
			} else {
				err = confirmed(int(answer.GetAffectedRows().GetValue()), p.rows)
			}
		}
		err = classify(err)
		if errors.Is(err, push.ErrPermanent) {
			refused = append(refused, fmt.Errorf("table %s: %w", p.name, err))
		} else if err != nil {
			return fmt.Errorf("table %s: %w", p.name, err)
		}
	}
	return errors.Join(refused...)
}

// health asks whether the server is well.
func (c *client) health(ctx context.Context) error {
	_, err := c.db.HealthCheck(ctx)
	return classify(err)
}

func (c *client) close() error { return c.db.Close() }

// errUnconfirmed says that a server took fewer rows than it got, by its own count.
var errUnconfirmed = errors.New("the server did not take all rows")

func confirmed(taken, want int) error {
	if taken < want {
		return fmt.Errorf("%w: %d of %d", errUnconfirmed, taken, want)
	}
	return nil
}
