// Command gpu-exporter serves the metrics of a rocwire worker's GPUs, sessions and
// calls to Prometheus, over HTTP.
//
// Trust: anybody who reaches the listener may read the metrics, which name users,
// hosts and programs; it is on loopback unless told otherwise.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rocwire/rocwire/exporter"
	"github.com/rocwire/rocwire/smiremote"
	"github.com/rocwire/rocwire/wire"
)

const help = `gpu-exporter serves the metrics of a rocwire worker to Prometheus.

Usage: gpu-exporter [flags]

Flags:
  --worker HOST:PORT  worker to ask, also unix:PATH
                      [TF_WORKER_HOST:TF_WORKER_PORT, localhost:18515]
  --listen HOST:PORT  where to serve /metrics, /-/healthy, /-/ready  [127.0.0.1:9400]
  --insecure          let --listen be an address that other machines reach,
                      although nobody is authenticated
  --interval TIME     how often the worker is asked                  [1s]
  --timeout TIME      how long the worker may take to answer         [10s]
  --max-processes N   processes of one GPU that have series at most: those that
                      hold most of its memory                        [256]
  --help              this text

The worker need not be there: gpu_exporter_source_up is 0 until it is.

Exit codes: 0 ended by a signal, 1 cannot serve, 2 wrong usage.
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

type options struct {
	worker, listen    string
	interval, timeout time.Duration
	processes         int
	insecure          bool
}

func parse(args []string, getenv func(string) string) (o options, err error) {
	fs := flag.NewFlagSet("gpu-exporter", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	env := func(key, def string) string {
		if v := getenv(key); v != "" {
			return v
		}
		return def
	}
	fs.StringVar(&o.worker, "worker", net.JoinHostPort(env("TF_WORKER_HOST", "localhost"), env("TF_WORKER_PORT", "18515")), "")
	fs.StringVar(&o.listen, "listen", "127.0.0.1:9400", "")
	fs.BoolVar(&o.insecure, "insecure", false, "")
	fs.DurationVar(&o.interval, "interval", time.Second, "")
	fs.DurationVar(&o.timeout, "timeout", 10*time.Second, "")
	fs.IntVar(&o.processes, "max-processes", 256, "")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if fs.NArg() > 0 {
		return o, fmt.Errorf("%q is too much", strings.Join(fs.Args(), " "))
	}
	if _, port, err := net.SplitHostPort(o.worker); !strings.HasPrefix(o.worker, "unix:") && (err != nil || port == "") {
		return o, fmt.Errorf("--worker %q is not HOST:PORT", o.worker)
	}
	host, _, err := net.SplitHostPort(o.listen)
	if err != nil {
		return o, fmt.Errorf("--listen %q is not HOST:PORT", o.listen)
	}
	if err := wire.CheckListen(host, o.insecure); err != nil {
		return o, fmt.Errorf("--listen: %w", err)
	}
	if o.interval < 100*time.Millisecond {
		return o, fmt.Errorf("--interval %v is less than 100ms", o.interval)
	}
	if o.timeout <= 0 {
		return o, fmt.Errorf("--timeout %v is not more than 0", o.timeout)
	}
	if o.processes <= 0 {
		return o, fmt.Errorf("--max-processes %d is not more than 0", o.processes)
	}
	return o, nil
}

// shutdownTime is how long scrapes under way may still take at the end.
const shutdownTime = 5 * time.Second

func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) int {
	o, err := parse(args, getenv)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(stdout, help)
		return 0
	}
	if err != nil {
		fmt.Fprintf(stderr, "gpu-exporter: %v (see gpu-exporter --help)\n", err)
		return 2
	}
	log := slog.New(slog.NewTextHandler(stderr, nil))
	if err := serve(ctx, o, log); err != nil {
		log.Error("cannot serve", "reason", err)
		return 1
	}
	return 0
}

func serve(ctx context.Context, o options, log *slog.Logger) error {
	client := smiremote.NewClient(smiremote.Options{
		Address: o.worker, ConnectTimeout: o.timeout, IOTimeout: o.timeout, Name: "gpu-exporter", Version: version(),
	})
	defer client.Close()
	mirror := smiremote.NewMirror(client, o.interval)
	e, err := exporter.New(exporter.Options{
		Source: client, Sessions: mirror, Calls: mirror, Interval: o.interval, Timeout: o.timeout, MaxProcesses: o.processes,
		Version: version(), Runtime: true, Log: log,
	})
	if err != nil {
		return err
	}
	ln, err := net.Listen("tcp", o.listen)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	wg.Go(func() { e.Run(ctx) })
	wg.Go(func() { mirror.Run(ctx) })

	srv := &http.Server{
		Handler: e.Handler(), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 32 << 10, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	wg.Go(func() {
		<-ctx.Done()
		end, cancel := context.WithTimeout(context.Background(), shutdownTime)
		defer cancel()
		if srv.Shutdown(end) != nil {
			_ = srv.Close() // whoever is still reading has had time enough
		}
	})
	log.Info("serving", "url", "http://"+ln.Addr().String()+"/metrics", "worker", o.worker)
	if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func version() string {
	if b, ok := debug.ReadBuildInfo(); ok && b.Main.Version != "" {
		return b.Main.Version
	}
	return "unknown"
}
