package main

import (
	"log/slog"
	"os"

	"github.com/rocwire/rocwire/internal/smisource"
	"github.com/rocwire/rocwire/smi"
)

// openSource is the source that the environment names.
func openSource() (smi.Source, error) {
	addresses, err := smisource.Addresses(os.Getenv)
	switch {
	case err != nil:
		return nil, err
	case len(addresses) == 1 && addresses[0] == smisource.Simulated:
		return simSource()
	case len(addresses) > 0:
		var workers []smi.Source
		for _, a := range addresses {
			workers = append(workers, smisource.Remote(a, "libamd_smi"))
		}
		return smi.Join(workers...), nil
	}
	// A person who only started a program is told what should not be missed.
	return smisource.Local(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})))
}
