package main

import (
	"log/slog"
	"os"

	"github.com/rocwire/rocwire/internal/smisource"
	"github.com/rocwire/rocwire/smi"
)

// openSource is the source that the environment names.
func openSource() (smi.Source, error) {
	switch address, err := smisource.Address(os.Getenv); {
	case err != nil:
		return nil, err
	case address == smisource.Simulated:
		return simSource()
	case address != "":
		return smisource.Remote(address, "libamd_smi"), nil
	}
	// A person who only started a program is told what should not be missed.
	return smisource.Local(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})))
}
