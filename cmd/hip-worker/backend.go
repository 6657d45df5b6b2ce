package main

import (
	"log/slog"
	"os"

	"github.com/rocwire/rocwire/internal/cli"
	"github.com/rocwire/rocwire/internal/visible"
	"github.com/rocwire/rocwire/simgpu"
	"github.com/rocwire/rocwire/worker"
	"github.com/rocwire/rocwire/worker/simbackend"
)

// openBackend makes the parent's side of the backend that was asked for.
func openBackend(o *options, log *slog.Logger) (worker.Backend, error) {
	switch o.backend {
	case "rocm":
		return openROCm(o, log)
	case "auto":
		if _, err := os.Stat("/dev/kfd"); err == nil {
			b, err := openROCm(o, log)
			if err == nil {
				return b, nil
			}
			log.Warn("no GPU of this machine can be used; simulating one", "error", err)
		}
	}
	uuids := make([]string, o.simCards)
	for i := range uuids {
		uuids[i] = simgpu.UUID(o.simArch, i)
	}
	served, err := choose(visible.Choose(o.rocrVisible, o.visible, uuids), o.device)
	if err != nil {
		return worker.Backend{}, err
	}
	return simbackend.New(simbackend.Options{Arch: o.simArch, MemoryBytes: o.simMemory, Cards: o.simCards, Visible: served, Watch: o.watch}, log)
}

// choose takes one of the visible cards, or all.
func choose(visible []int, device int) ([]int, error) {
	switch {
	case len(visible) == 0:
		return nil, cli.Usagef("ROCR_VISIBLE_DEVICES and HIP_VISIBLE_DEVICES leave no card")
	case device >= len(visible):
		return nil, cli.Usagef("--device %d: the last card is %d", device, len(visible)-1)
	case device >= 0:
		return visible[device : device+1], nil
	}
	return visible, nil
}
