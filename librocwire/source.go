package main

import (
	"log/slog"
	"os"

	"github.com/rocwire/rocwire/internal/smisource"
	"github.com/rocwire/rocwire/smi"
)

// openSource is the source that the environment names.
func openSource() (smi.Source, error) {
	list, simulated, err := smisource.Workers(os.Getenv)
	switch {
	case err != nil:
		return nil, err
	case simulated:
		return simSource()
	case len(list) > 0:
		var workers []smi.Source
		for _, w := range list {
			workers = append(workers, smisource.Remote(w, "libamd_smi"))
		}
		return smi.Join(workers...), nil
	}
	// A person who only started a program is told what should not be missed.
	return smisource.Local(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})))
}
