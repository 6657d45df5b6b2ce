package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"syscall"

	"github.com/rocwire/rocwire/calls/rpctrace"
	"github.com/rocwire/rocwire/exporter/service"
	"github.com/rocwire/rocwire/internal/version"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/worker"
)

// metrics serves and sends what the worker knows.
type metrics struct{ service *service.Service }

// spans takes what sessions tell of traced calls; nil: nobody wants to know. The worker calls it once it serves, which is after start.
func (m *metrics) spans(o *options) func(smi.Client, string, []rpctrace.Span) {
	if !o.service.TracesEnabled() {
		return nil
	}
	return func(c smi.Client, session string, spans []rpctrace.Span) { m.service.Spans(c, session, spans) }
}

// start starts it if it is wanted. end gives sinks a few seconds to send what waits.
func (m *metrics) start(o *options, w *worker.Server, log *slog.Logger) (end func(), err error) {
	if !o.exports() {
		return func() {}, nil
	}
	m.service, err = service.New(o.service, service.Source{
		Cards: w.Source(), Sessions: w, Calls: w.Calls(), Program: "hip-worker", Version: version.String(), Instance: o.listen.instance(w),
	}, log)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("--metrics-addr %s: %w", o.metrics, worker.ErrPortInUse)
	case err != nil:
		return nil, fmt.Errorf("metrics: %w", err)
	}
	if o.metrics != "" {
		fmt.Printf("metrics at %s\n", m.service.URL())
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := m.service.Run(ctx); err != nil {
			log.Error("metrics", "error", err)
		}
	}()
	return func() { cancel(); <-done }, nil
}
