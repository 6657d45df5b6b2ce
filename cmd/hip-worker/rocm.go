package main

import (
	"fmt"
	"log/slog"
	"strconv"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/internal/cli"
	"github.com/rocwire/rocwire/internal/localsmi"
	"github.com/rocwire/rocwire/internal/visible"
	"github.com/rocwire/rocwire/rocm"
	"github.com/rocwire/rocwire/worker"
	"github.com/rocwire/rocwire/worker/rocmbackend"
)

const rocmName = rocmbackend.Name

// openROCm makes the backend of this machine's GPUs. Whether there are any is asked in a process of its own: the parent must not have a
// context on them.
func openROCm(o *options, log *slog.Logger) (worker.Backend, error) {
	served := visible.Within(o.rocrVisible, o.visible)
	if o.device >= 0 {
		served = visible.Within(served, strconv.Itoa(o.device))
	}
	if err := probe(); err != nil {
		return worker.Backend{}, err
	}
	log.Debug("using this machine's GPUs", "visible", served)
	return rocmbackend.New(served)
}

// probeCommand is the first argument of a process that only looks whether there are GPUs.
const probeCommand = "__probe-rocm"

// probe runs such a process.
func probe() error {
	return localsmi.RunProbe(probeCommand) // whose reasons say that they are rocm's
}

// probeROCm is that process's main function.
func probeROCm() int {
	rt, err := rocm.Open("")
	if err != nil {
		fmt.Println(err)
		return cli.ExitFailure
	}
	if n, code := rt.GetDeviceCount(); code != hip.Success || n == 0 {
		fmt.Printf("%s sees no GPU: %v\n", rt.Path(), code)
		return cli.ExitFailure
	}
	return 0
}
