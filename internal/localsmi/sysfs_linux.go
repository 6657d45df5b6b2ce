package localsmi

import (
	"log/slog"

	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/sysfs"
)

func openSysfs(log *slog.Logger) (smi.Source, error) { return sysfs.Open(sysfs.Options{Log: log}) }
