package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/rocwire/rocwire/internal/localsmi"
	"github.com/rocwire/rocwire/internal/version"
	"github.com/rocwire/rocwire/internal/wholefile"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/worker"
)

// sessionProgram is what runs in a session process (cmd/hip-session). It lies beside this one.
const sessionProgram = "hip-session"

// findSession finds it.
func findSession() (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", err
	}
	if exe, err = filepath.EvalSymlinks(exe); err != nil {
		return "", err
	}
	path := filepath.Join(filepath.Dir(exe), sessionProgram)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%s belongs beside hip-worker: %w", sessionProgram, err)
	}
	return path, nil
}

// run serves until SIGTERM or SIGINT.
func run(o *options, log *slog.Logger) error {
	backend, err := openBackend(o, log)
	if err != nil {
		return err
	}
	if err := addSource(&backend, o, localsmi.Openers, log); err != nil {
		return err
	}
	if o.confine.None {
		log.Warn("--unconfined-sessions: nothing keeps a client that takes its session process over from all that this user may do on this machine")
	}
	if o.most != (smi.Quota{}) {
		log.Info("TensorFusion's hard limits: no session gets more of a card", "memory_bytes", uint64(o.most.Memory.Or(0)), "compute_ratio", float64(o.most.Compute.Or(0)))
	}
	if o.insecure {
		warnInsecure(o, log)
	}
	if src := backend.Source; src != nil {
		defer func() {
			if err := src.Close(); err != nil {
				log.Warn("management data", "error", err)
			}
		}()
	}
	session, err := findSession()
	if err != nil {
		return err
	}
	command := []string{session}
	if o.verbose {
		command = append(command, "-v")
	}
	record, endRecord, err := o.who.record(log)
	if err != nil {
		return err
	}
	defer endRecord()
	web := 0
	if o.metrics != "" {
		web = o.service.MaxConns
	}
	if err := keepDescriptors(&o.limits, o.maxSessions, web, log); err != nil {
		return err
	}
	var metrics metrics
	w, err := worker.New(worker.Config{
		NoShare: o.noShare, AllowV1: o.allowV1,
		Listen: o.listen.address, Socket: o.listen.socket, TLS: o.tls, Port: o.port, Insecure: o.insecure, Backend: backend, Command: command,
		Access: o.who.config(), Audit: record, MaxSessions: o.maxSessions, Park: o.park, Limits: o.limits, Quota: o.quota, Most: o.most, HostMemory: o.hostMemory, ModuleCache: o.moduleCache, Confine: o.confine, AllowSet: o.allowSet, Version: version.String(), Spans: metrics.spans(o), Log: log,
	})
	if err != nil {
		return fmt.Errorf("cannot listen: %w", err)
	}
	stop, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer cancel()
	endMetrics, err := metrics.start(o, w, log)
	if err != nil {
		w.Close()
		return err
	}
	defer endMetrics() // after the worker's end, so that its last figures are sent
	if err := announce(o, w, backend.Name); err != nil {
		w.Close()
		return err
	}
	served := make(chan error, 1)
	go func() { served <- w.Serve() }()
	select {
	case err = <-served:
	case <-stop.Done():
		cancel() // a second signal ends the process at once
		log.Info("stopping")
	}
	w.Close()
	return err
}

// writePort tells whoever waits for the file: it is there when it is whole.
func writePort(name string, port int) error {
	return wholefile.Write(name, []byte(strconv.Itoa(port)+"\n"), 0o600)
}
