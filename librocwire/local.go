package main

import (
	"errors"
	"log/slog"
	"os"
	"strings"

	"github.com/rocwire/rocwire/rocm/amdsmi"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/sysfs"
)

// local are the ways to this machine's own cards, the best first. Package amdsmi looks
// for AMD's library by the name that this one has too, and refuses what leads to
// librocwire.so.
var local = []func() (smi.Source, error){
	func() (smi.Source, error) { return amdsmi.Open(amdsmi.Options{Log: warnings()}) },
	func() (smi.Source, error) { return sysfs.Open(sysfs.Options{Log: warnings()}) },
}

// warnings is a log for what a person should know who only started a program.
func warnings() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// firstOf opens the first source that can be opened. If none can, the error has the
// code of the last way's, and tells what all of them say.
func firstOf(ways []func() (smi.Source, error)) (smi.Source, error) {
	var last error
	var reasons []string
	for _, open := range ways {
		src, err := open()
		if err == nil {
			return src, nil
		}
		last = err
		reasons = append(reasons, err.Error())
	}
	if last == nil {
		last = errors.ErrUnsupported
	}
	return nil, smi.Errorf(smi.CodeOf(last), "neither AMDSMI_REMOTE nor TF_WORKER_HOST names a worker, and of this machine's cards: %s", strings.Join(reasons, "; "))
}
