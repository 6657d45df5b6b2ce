package main

import (
	"context"
	"strings"
	"time"

	"github.com/rocwire/rocwire/hipv1"
	"github.com/rocwire/rocwire/internal/dialing"
	"github.com/rocwire/rocwire/smi"
)

// knownToV1 reports whether a command can be answered by a worker of the earlier protocol, or needs none.
func knownToV1(command string) bool {
	switch command {
	case "list", "metrics", "power", "info", "version", "help", "completion":
		return true
	}
	return false
}

// oldWorker is a worker of the earlier protocol, which has no way to be sure of anybody: who asks for one must not be given less than nothing.
func oldWorker(w dialing.Worker, timeout time.Duration) (*worker, error) {
	address := w.Address.String()
	switch {
	case w.Settings != dialing.Settings{Integrity: w.Settings.Integrity}:
		return nil, usagef("--v1: TLS and tokens are set for %s, and the earlier protocol has neither", address)
	case strings.HasPrefix(address, "unix:"):
		return nil, usagef("--v1: %s: workers of the earlier hip-remote listen on TCP only", address)
	}
	return &worker{label: strings.TrimSuffix(w.Label(), ":"+defaultPort), old: hipv1.NewSource(address, timeout)}, nil
}

func (w *worker) address() string {
	if w.old != nil {
		return w.old.Address()
	}
	return w.client.Address()
}

func (w *worker) connect(ctx context.Context) error {
	if w.old != nil {
		return w.old.Connect(ctx)
	}
	return w.client.Connect(ctx)
}

func (w *worker) close() error {
	if w.old != nil {
		return w.old.Close()
	}
	return w.client.Close()
}

// snapshot is everything about the cards.
func (w *worker) snapshot(ctx context.Context) (*smi.Snapshot, error) {
	if w.old != nil {
		return smi.TakeSnapshot(ctx, w.old)
	}
	return w.client.Snapshot(ctx)
}

func (w *worker) devices(ctx context.Context) ([]smi.Device, error) {
	if w.old != nil {
		return w.old.Devices(ctx)
	}
	return w.client.Devices(ctx)
}
