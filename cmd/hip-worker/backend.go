package main

import (
	"fmt"
	"log/slog"
	"os"

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
	return simbackend.New(simbackend.Options{Arch: o.simArch, MemoryBytes: o.simMemory, Cards: o.simCards, Visible: served}, log)
}

// choose takes one of the visible cards, or all.
func choose(visible []int, device int) ([]int, error) {
	switch {
	case device >= len(visible):
		return nil, fmt.Errorf("--device %d: there are %d cards", device, len(visible))
	case device >= 0:
		return visible[device : device+1], nil
	case len(visible) == 0:
		return nil, fmt.Errorf("ROCR_VISIBLE_DEVICES and HIP_VISIBLE_DEVICES leave no card")
	}
	return visible, nil
}

// session is the main function of a session process.
func session(args []string) int {
	verbose := len(args) > 0 && args[0] == "-v"
	if verbose {
		args = args[1:]
	}
	log := newLog(verbose)
	p, err := openSession(args, log)
	if err == nil {
		p.Version = version
		err = p.Run()
	}
	if err != nil {
		log.Error("session process", "error", err)
		return exitFailure
	}
	return 0 // and whatever still runs ends with the process
}

func openSession(args []string, log *slog.Logger) (*worker.SessionProcess, error) {
	if len(args) > 1 && args[0] == "--backend" && args[1] == rocmName {
		return rocmSession(args, log)
	}
	return simbackend.Session(args, log)
}
