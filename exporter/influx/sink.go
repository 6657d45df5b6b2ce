package influx

import (
	"log/slog"

	"github.com/rocwire/rocwire/exporter/rows"
)

// Name is the name of the sink in figures and logs, and of its queue's folder.
const Name = "influxdb"

// Sink sends what an exporter knows as line protocol.
type Sink struct {
	*rows.Runner
	client *client
}

// Open checks the options and opens the queue. It does not wait for the server.
func Open(o Options, r rows.RunnerOptions) (*Sink, error) {
	if r.Log == nil {
		r.Log = slog.New(slog.DiscardHandler)
	}
	c, err := newClient(&o)
	if err != nil {
		return nil, err
	}
	runner, err := rows.Open(r, Name, c.send)
	if err != nil {
		return nil, err
	}
	if c.auth != "" && c.target.Scheme == "http" {
		r.Log.Warn("the token or password is sent in the clear; a https URL protects it", "sink", Name)
	}
	return &Sink{Runner: runner, client: c}, nil
}

// Close closes the queue and idle connections. Run must have returned.
func (s *Sink) Close() error {
	s.client.http.CloseIdleConnections()
	return s.Runner.Close()
}
