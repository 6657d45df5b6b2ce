package smisource

import (
	"log/slog"

	"github.com/rocwire/rocwire/rocm/amdsmi"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/sysfs"
)

// Local opens the source of this machine's own cards: AMD's library, else the kernel's
// files. Package amdsmi refuses a libamd_smi that leads to librocwire.so, which is one
// by name. log gets what is worth knowing.
func Local(log *slog.Logger) (smi.Source, error) {
	return firstOf([]func() (smi.Source, error){
		func() (smi.Source, error) { return amdsmi.Open(amdsmi.Options{Log: log}) },
		func() (smi.Source, error) { return sysfs.Open(sysfs.Options{Log: log}) },
	})
}
