package greptime

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/rocwire/rocwire/exporter/rows"
)

// Name is the name of the sink in figures and logs, and of its queue's folder.
const Name = "greptimedb"

// Sink sends what an exporter knows to a GreptimeDB.
type Sink struct {
	*rows.Runner
	client  *client
	log     *slog.Logger
	address string
}

// Open checks the options and opens the queue. It does not wait for the server.
func Open(o Options, r rows.RunnerOptions) (*Sink, error) {
	if r.Log == nil {
		r.Log = slog.New(slog.DiscardHandler)
	}
	log := r.Log.With("sink", Name)
	c, err := dial(&o, log)
	if err != nil {
		return nil, err
	}
	runner, err := rows.Open(r, Name, c.send)
	if err != nil {
		_ = c.close()
		return nil, err
	}
	if o.Password != "" && !o.UseTLS {
		log.Warn("the password is sent in the clear; --greptime-tls protects it")
	}
	return &Sink{Runner: runner, client: c, log: log, address: o.Address}, nil
}

// Run works until ctx is done; see rows.Runner.
func (s *Sink) Run(ctx context.Context) {
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() { s.greet(ctx) })
	s.Runner.Run(ctx)
}

// greet tells whether the server is there, for whoever looks at the log after a start.
func (s *Sink) greet(ctx context.Context) {
	asking, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	switch err := s.client.health(asking); {
	case ctx.Err() != nil:
	case err != nil:
		s.log.Warn("GreptimeDB does not answer; figures wait until it does", "address", s.address, "reason", err)
	default:
		s.log.Info("GreptimeDB answers", "address", s.address)
	}
}

// Close ends the connection and closes the queue. Run must have returned.
func (s *Sink) Close() error {
	err := s.Runner.Close()
	if e := s.client.close(); err == nil {
		err = e
	}
	return err
}
