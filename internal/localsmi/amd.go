//go:build linux && cgo

package localsmi

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/rocwire/rocwire/rocm/amdsmi"
	"github.com/rocwire/rocwire/smi"
)

func openAMD(log *slog.Logger) (smi.Source, error) {
	if err := RunProbe(ProbeCommand); err != nil {
		return nil, err
	}
	return amdsmi.Open(amdsmi.Options{Log: log})
}

// Probe is the main function of a process that only looks. Its result is the exit code.
func Probe() int {
	src, err := amdsmi.Open(amdsmi.Options{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer src.Close()
	ctx, cancel := context.WithTimeout(context.Background(), probeLimit)
	defer cancel()
	if devices, err := src.Devices(ctx); err != nil || len(devices) == 0 {
		fmt.Printf("the library sees no GPU: %v\n", err)
		return 1
	}
	return 0
}
