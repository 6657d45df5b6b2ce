package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/rocwire/rocwire/attribution"
	"github.com/rocwire/rocwire/rocm/amdsmi"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/sysfs"
	"github.com/rocwire/rocwire/worker"
	"github.com/rocwire/rocwire/worker/simbackend"
)

// Sources of management data, the values of --smi-backend.
const (
	smiAuto  = "auto"
	smiAMD   = "amdsmi"
	smiSysfs = "sysfs"
	smiSim   = simbackend.Name
	smiNone  = "none"
)

// opener opens a source of this machine's cards.
type opener struct {
	name string
	open func(*slog.Logger) (smi.Source, error)
}

// openers are in the order of preference.
var openers = []opener{
	{smiAMD, func(log *slog.Logger) (smi.Source, error) {
		if err := probeWith(probeSMICommand); err != nil {
			return nil, err
		}
		return amdsmi.Open(amdsmi.Options{Log: log})
	}},
	{smiSysfs, func(log *slog.Logger) (smi.Source, error) { return sysfs.Open(sysfs.Options{Log: log}) }},
}

// addSource gives b the source that was asked for, joined with who uses the cards. A source that was not asked for by name need not be
// there: b then knows why it is not.
func addSource(b *worker.Backend, o *options, openers []opener, log *slog.Logger) error {
	own := b.Source // the simulated cards
	b.SourceName = smiSim
	switch o.smi {
	case smiNone:
		b.Source, b.NoSource = nil, "it was started with --smi-backend none"
	case smiSim:
		if own == nil {
			return fmt.Errorf("--smi-backend sim: there are simulated cards with --backend sim only, and this is --backend %s", b.Name)
		}
	case smiAuto:
		if own != nil {
			break
		}
		var errs []error
		for _, x := range openers {
			src, err := x.open(log)
			if err == nil {
				b.Source, b.SourceName = src, x.name
				break
			}
			log.Debug("no management data from here", "source", x.name, "error", err)
			errs = append(errs, fmt.Errorf("%s: %w", x.name, err))
		}
		if b.Source == nil {
			b.NoSource = oneLine(errors.Join(errs...))
			log.Warn("there is no management data; HIP is served all the same", "reason", b.NoSource)
		}
	default:
		for _, x := range openers {
			if x.name != o.smi {
				continue
			}
			src, err := x.open(log)
			if err != nil {
				return fmt.Errorf("--smi-backend %s: %w", x.name, err)
			}
			b.Source, b.SourceName = src, x.name
			if own != nil {
				b.Devices = nil // the cards that are told of are not those that sessions use
			}
		}
	}
	if b.Source == nil {
		return nil
	}
	opt := attribution.Options{Proc: o.proc, Kubelet: o.kubelet, Log: log}
	if b.SourceName == smiSim {
		// The simulator counts its processes by itself, and a kubelet knows nothing of its cards, though some may have their addresses.
		opt.Proc = ""
		if opt.Kubelet == "" {
			opt.Kubelet = attribution.NoKubelet
		}
	}
	a := attribution.New(b.Source, opt)
	b.Source, b.Local = a, a.Local
	log.Debug("management data", "source", b.SourceName)
	return nil
}

func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// probeSMICommand is the first argument of a process that only looks whether the vendor's library can be used: one that crashes or hangs
// must not do so in the parent.
const probeSMICommand = "__probe-smi"

// probeLimit is how long a library may take to look for cards.
const probeLimit = time.Minute

// probeWith runs such a process.
func probeWith(command string) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), probeLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, exe, command)
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return smi.Errorf(smi.ErrTimeout, "the library does not answer within %v", probeLimit)
	}
	if reason := lastLine(string(out)); reason != "" {
		return errors.New(reason)
	}
	return fmt.Errorf("the library fails: %w", err)
}

// lastLine is where such a process says why; above it stands what the library has to say.
func lastLine(s string) string {
	s = strings.TrimSpace(s)
	s = s[strings.LastIndexByte(s, '\n')+1:]
	return s[:min(len(s), 512)]
}

// probeSMI is that process's main function.
func probeSMI() int {
	src, err := amdsmi.Open(amdsmi.Options{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		fmt.Println(err)
		return exitFailure
	}
	defer src.Close()
	ctx, cancel := context.WithTimeout(context.Background(), probeLimit)
	defer cancel()
	if devices, err := src.Devices(ctx); err != nil || len(devices) == 0 {
		fmt.Printf("the library sees no GPU: %v\n", err)
		return exitFailure
	}
	return 0
}
