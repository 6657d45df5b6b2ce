//go:build !linux

package localsmi

import (
	"log/slog"
	"runtime"

	"github.com/rocwire/rocwire/smi"
)

// The files are those of Linux's driver.
func openSysfs(*slog.Logger) (smi.Source, error) {
	return nil, smi.Errorf(smi.ErrNotSupported, "the kernel's files are not available on %s", runtime.GOOS)
}
