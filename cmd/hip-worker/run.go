package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/rocwire/rocwire/exporter"
	"github.com/rocwire/rocwire/wire"
	"github.com/rocwire/rocwire/worker"
)

// sessionCommand is the first argument of a session process. People do not use it.
const sessionCommand = "__session"

// run serves until SIGTERM or SIGINT.
func run(o *options, log *slog.Logger) error {
	backend, err := openBackend(o, log)
	if err != nil {
		return err
	}
	if err := addSource(&backend, o, openers, log); err != nil {
		return err
	}
	if o.allowSet && o.insecure {
		log.Warn("whoever can connect may change the cards and end sessions")
	}
	if src := backend.Source; src != nil {
		defer func() {
			if err := src.Close(); err != nil {
				log.Warn("management data", "error", err)
			}
		}()
	}
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	command := []string{exe, sessionCommand}
	if o.verbose {
		command = append(command, "-v")
	}
	w, err := worker.New(worker.Config{
		Listen: o.listen, Port: o.port, Insecure: o.insecure, Backend: backend, Command: command,
		MaxSessions: o.maxSessions, Quota: o.quota, AllowSet: o.allowSet, Version: version, Log: log,
	})
	if err != nil {
		return fmt.Errorf("cannot listen: %w", err)
	}
	stop, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer cancel()
	if o.metrics != "" {
		if err := serveMetrics(stop, o, w, log); err != nil {
			w.Close()
			return err
		}
	}
	if err := announce(o, w.Addr(), backend.Name); err != nil {
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

// announce tells scripts and people where the worker listens: who reads the line finds the file, and finds it whole.
func announce(o *options, addr *net.TCPAddr, backend string) error {
	if o.portFile != "" {
		if err := writePort(o.portFile, addr.Port); err != nil {
			return err
		}
	}
	_, err := fmt.Printf("hip-worker listening on %s port %d backend %s\n", addr.IP, addr.Port, backend)
	return err
}

func writePort(name string, port int) error {
	tmp, err := os.CreateTemp(filepath.Dir(name), ".port-*")
	if err != nil {
		return err
	}
	_, err = tmp.WriteString(strconv.Itoa(port) + "\n")
	if err = errors.Join(err, tmp.Close()); err != nil {
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	return os.Rename(tmp.Name(), name)
}

// serveMetrics serves what the worker knows to Prometheus.
func serveMetrics(ctx context.Context, o *options, w *worker.Server, log *slog.Logger) error {
	e, err := exporter.New(exporter.Options{Source: w.Source(), Sessions: w, Calls: w.Calls(), Version: version, Runtime: true, Log: log})
	if err != nil {
		return err
	}
	host, _, err := net.SplitHostPort(o.metrics)
	if err != nil {
		return fmt.Errorf("--metrics-addr: %w", err)
	}
	if err := wire.CheckListen(host, o.insecure); err != nil {
		return fmt.Errorf("--metrics-addr: %w", err)
	}
	l, err := net.Listen("tcp", o.metrics)
	if err != nil {
		if errors.Is(err, syscall.EADDRINUSE) {
			return fmt.Errorf("--metrics-addr %s: %w", o.metrics, worker.ErrPortInUse)
		}
		return fmt.Errorf("--metrics-addr: %w", err)
	}
	fmt.Printf("metrics at http://%s/metrics\n", l.Addr())
	srv := &http.Server{Handler: e.Handler(), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute}
	go e.Run(ctx)
	go func() {
		if err := srv.Serve(l); err != nil && !errors.Is(err, http.ErrServerClosed) {
			log.Error("metrics", "error", err)
		}
	}()
	context.AfterFunc(ctx, func() { _ = srv.Close() })
	return nil
}
