package main

import (
	"fmt"
	"log/slog"
	"strings"

	"github.com/rocwire/rocwire/attribution"
	"github.com/rocwire/rocwire/internal/localsmi"
	"github.com/rocwire/rocwire/worker"
	"github.com/rocwire/rocwire/worker/simbackend"
)

// Sources of management data, the values of --smi-backend.
const (
	smiAuto  = localsmi.Auto
	smiAMD   = localsmi.AMD
	smiSysfs = localsmi.Sysfs
	smiSim   = simbackend.Name
	smiNone  = "none"
)

// addSource gives b the source that was asked for, joined with who uses the cards. A source that was not asked for by name need not be
// there: b then knows why it is not.
func addSource(b *worker.Backend, o *options, openers []localsmi.Opener, log *slog.Logger) error {
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
		src, name, err := localsmi.Open(localsmi.Auto, openers, log)
		if err != nil {
			b.NoSource = oneLine(err)
			log.Warn("there is no management data; HIP is served all the same", "reason", b.NoSource)
			break
		}
		b.Source, b.SourceName = src, name
	default:
		src, name, err := localsmi.Open(o.smi, openers, log)
		if err != nil {
			return fmt.Errorf("--smi-backend %w", err)
		}
		b.Source, b.SourceName = src, name
		if own != nil {
			b.Devices = nil // the cards that are told of are not those that sessions use
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
