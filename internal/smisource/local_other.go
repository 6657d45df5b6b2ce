//go:build !linux

package smisource

import (
	"log/slog"

	"github.com/rocwire/rocwire/smi"
)

// Local is smi.ErrNotSupported: this machine's own cards are read on Linux only.
func Local(*slog.Logger) (smi.Source, error) {
	return nil, smi.Errorf(smi.ErrNotSupported, "this machine's own cards cannot be read here; AMDSMI_REMOTE or TF_WORKER_HOST names a worker")
}
