package service

import (
	"context"
	"errors"
	"log/slog"

	"github.com/rocwire/rocwire/exporter/ebpf"
	"github.com/rocwire/rocwire/exporter/local"
)

// localSource watches local programs.
type localSource interface {
	local.Source
	Run(context.Context)
	Close() error
}

// openLocal opens it if it is wanted. Where the kernel or the rights are missing,
// everything else works all the same, and the scrape tells of the failure.
func openLocal(o ebpf.Options, log *slog.Logger) (localSource, error) {
	if !o.Enabled {
		return nil, nil
	}
	o.Log = log
	t, err := ebpf.Open(o)
	switch {
	case err == nil:
		return t, nil
	case errors.Is(err, ebpf.ErrOptions):
		return nil, err
	}
	log.Warn("local programs are not watched", "reason", err)
	return unwatched{err}, nil
}

// unwatched knows nothing of local programs, and why.
type unwatched struct{ err error }

func (unwatched) Local() local.Reading { return local.Reading{} }
func (u unwatched) Err() error         { return u.err }
func (unwatched) Run(context.Context)  {}
func (unwatched) Close() error         { return nil }
