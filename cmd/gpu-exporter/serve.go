package main

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"github.com/rocwire/rocwire/attribution"
	"github.com/rocwire/rocwire/exporter/service"
	"github.com/rocwire/rocwire/internal/localsmi"
	"github.com/rocwire/rocwire/internal/version"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smiremote"
)

const program = "gpu-exporter"

// serve exports until ctx is done.
func serve(ctx context.Context, o *options, log *slog.Logger) error {
	src := service.Source{Timeout: o.timeout, Program: program, Version: version.String()}
	if o.local {
		cards, name, err := openLocal(o, log)
		if err != nil {
			return err
		}
		defer func() {
			if err := cards.Close(); err != nil {
				log.Warn("management data", "reason", err)
			}
		}()
		src.Cards = cards
		return export(ctx, o, src, log, "source", name)
	}
	client := smiremote.NewClient(smiremote.Options{
		Address: o.worker.Address.String(), ConnectTimeout: o.timeout, IOTimeout: o.timeout, Dialing: o.worker.Settings, Name: program, Version: version.String(),
	})
	defer client.Close()
	mirror := smiremote.NewMirror(client, o.service.Metrics.Interval)
	src.Cards, src.Sessions, src.Calls = client, mirror, mirror
	if o.worker.Port != "" { // not a Unix socket
		src.Remote = o.worker.Host
	}
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	wg.Go(func() { mirror.Run(ctx) })
	return export(ctx, o, src, log, "worker", o.worker.Label())
}

// openLocal opens this machine's cards, with who uses them.
func openLocal(o *options, log *slog.Logger) (smi.Source, string, error) {
	cards, name, err := localsmi.Open(o.smi, localsmi.Openers, log)
	if err != nil {
		return nil, "", fmt.Errorf("this machine's cards cannot be asked: %s", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return attribution.New(cards, attribution.Options{Proc: o.proc, Kubelet: o.kubelet, Log: log}), name, nil
}

func export(ctx context.Context, o *options, src service.Source, log *slog.Logger, what, which string) error {
	s, err := service.New(o.service, src, log)
	if err != nil {
		return err
	}
	log.Info("serving", "url", s.URL(), what, which)
	return s.Run(ctx)
}
