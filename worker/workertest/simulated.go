package workertest

import (
	"log/slog"
	"os"
	"testing"

	"github.com/rocwire/rocwire/worker"
	"github.com/rocwire/rocwire/worker/simbackend"
)

// SimulatedSession is, in a test binary that was started to be one, a session process on the simulated cards, which ends the binary.
func SimulatedSession() {
	if Session() {
		Run(simbackend.Session(os.Args[2:], slog.New(slog.DiscardHandler)))
	}
}

// Simulated starts a worker with simulated cards until the test ends.
func Simulated(t testing.TB, o simbackend.Options) *worker.Server {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	b, err := simbackend.New(o, log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Source.Close(); err != nil {
			t.Error(err)
		}
	})
	return Start(t, worker.Config{Backend: b, Log: log})
}

// Start starts a worker until the test ends, whose session processes, unless cfg says others, are the test binary.
func Start(t testing.TB, cfg worker.Config) *worker.Server {
	t.Helper()
	if cfg.Command == nil {
		cfg.Command = []string{os.Args[0], SessionCommand}
	}
	w, err := worker.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- w.Serve() }()
	t.Cleanup(func() {
		w.Close()
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return w
}
