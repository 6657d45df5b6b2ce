//go:build !(linux && amd64)

package ebpf

import (
	"context"
	"runtime"

	"github.com/rocwire/rocwire/exporter/local"
)

// Tracer cannot be had on this kind of machine.
type Tracer struct{}

// Open says so.
func Open(Options) (*Tracer, error) {
	return nil, &SupportError{ErrUnsupported, "eBPF programs for HIP are not available on " + runtime.GOOS + "/" + runtime.GOARCH + ", only on linux/amd64", nil}
}

// Run implements what is not there.
func (*Tracer) Run(context.Context) {}

// Poll implements what is not there.
func (*Tracer) Poll(context.Context) {}

// Local implements local.Source.
func (*Tracer) Local() local.Reading { return local.Reading{} }

// Err says why nothing is known.
func (*Tracer) Err() error { return ErrUnsupported }

// Close implements what is not there.
func (*Tracer) Close() error { return nil }
