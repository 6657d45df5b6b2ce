package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rocwire/rocwire/attribution"
	"github.com/rocwire/rocwire/exporter/service"
	"github.com/rocwire/rocwire/internal/cli"
	"github.com/rocwire/rocwire/internal/dialing"
	"github.com/rocwire/rocwire/internal/localsmi"
	"github.com/rocwire/rocwire/internal/workerlist"
)

const usage = `gpu-exporter serves metrics of GPUs and of who uses them to Prometheus, pushes them
elsewhere, and has a page to look at.

Usage: gpu-exporter [flags]

  --worker HOST:PORT      worker to ask, also unix:PATH or a name in ~/.config/rocwire/config.yaml (TF_WORKER_HOST, localhost); TF_WORKER_PORT
                          or 18515 where no port is said
  --worker-token-file FILE  token that says to workers who this is (TF_WORKER_TOKEN_FILE)
  --worker-tls-ca FILE    CA that has signed the worker's certificate; TLS then, with this and the following (TF_WORKER_TLS_CA).
                          They are of workers that are probed, too. TF_WORKER_TLS=1 in the environment is TLS with this machine's CAs
  --worker-tls-cert FILE  certificate to show to the worker (TF_WORKER_TLS_CERT)
  --worker-tls-key FILE   its private key (TF_WORKER_TLS_KEY)
  --worker-tls-server-name NAME
                          what the worker's certificate is for, if not its host (TF_WORKER_TLS_SERVER_NAME)
  --local                 ask this machine's own cards instead of a worker
  --smi-backend SOURCE    with --local: amdsmi (AMD's library), sysfs (the kernel's files), or auto (auto)
  --kubelet-socket SOCKET with --local: kubelet to ask which pod a card was given to, such as
                          unix:///var/lib/kubelet/pod-resources/kubelet.sock (that one if it is there), or none
  --proc DIR              with --local: where the host's /proc is, in a container that is not in the host's PID
                          namespace (/proc)
  --listen HOST:PORT      where to serve /, /metrics, /probe, /sd, /-/healthy and /-/ready (127.0.0.1:9400)
  --insecure              let --listen be an address that other machines reach, although nobody is authenticated
  --timeout TIME          how long the worker may take to answer (10s)
  --config FILE           these settings, as YAML: the names of flags without dashes, and their values. Flags and variables go before it
                          (ROCWIRE_EXPORTER_CONFIG)
  --version               print the version
  -h, --help              this text
`

const ending = `
The worker need not be there: gpu_exporter_source_up is 0 until it is.

Exit codes: 0 ended by a signal, 1 cannot serve, 2 wrong usage.
`

func help() string { return usage + service.Usage() + ending }

type options struct {
	name, port         string // of the worker
	local              bool
	worker             dialing.Worker
	smi, kubelet, proc string
	timeout            time.Duration
	service            service.Options
}

// newRoot is the command line. A flag goes before its variable. Serving is f's.
func newRoot(getenv func(string) string, f func(context.Context, *options) error) *cobra.Command {
	o := &options{port: cmp.Or(getenv("TF_WORKER_PORT"), workerlist.DefaultPort)}
	fs := flag.NewFlagSet(program, flag.ContinueOnError)
	envErr := o.service.FromEnv(getenv)
	fs.StringVar(&o.name, "worker", getenv("TF_WORKER_HOST"), "")
	o.service.Dialing.AddFlags(fs, "worker-tls")
	fs.BoolVar(&o.local, "local", false, "")
	fs.StringVar(&o.smi, "smi-backend", localsmi.Auto, "")
	fs.StringVar(&o.kubelet, "kubelet-socket", "", "")
	fs.StringVar(&o.proc, "proc", "", "")
	fs.StringVar(&o.service.Listen, "listen", "127.0.0.1:9400", "")
	fs.BoolVar(&o.service.Insecure, "insecure", false, "")
	fs.DurationVar(&o.timeout, "timeout", 10*time.Second, "")
	o.service.Flag = "--listen"
	o.service.AddFlags(fs)
	p := cli.Program{
		Name: program, Short: "Metrics of GPUs and of who uses them", Help: help, Flags: fs, Getenv: getenv, ConfigVariable: "ROCWIRE_EXPORTER_CONFIG",
		Values: service.Values(map[string][]string{"smi-backend": smiBackends}),
		Run: func(ctx context.Context, given func(string) bool) error {
			if err := errors.Join(envErr, o.check(given, getenv)); err != nil {
				return cli.Usagef("%v (see %s --help)", err, program)
			}
			return f(ctx, o)
		},
	}
	return p.Command()
}

// smiBackends are what --smi-backend may be.
var smiBackends = []string{localsmi.Auto, localsmi.AMD, localsmi.Sysfs}

// check completes the options and says what is wrong with them.
func (o *options) check(given func(string) bool, getenv func(string) string) (err error) {
	for _, name := range []string{"smi-backend", "kubelet-socket", "proc"} {
		if given(name) && !o.local {
			return fmt.Errorf("--%s is of use with --local only", name)
		}
	}
	if o.local && given("worker") {
		return errors.New("--local and --worker: one of them")
	}
	if o.worker, err = findWorker(o.name, o.port, o.service.Dialing, getenv); err != nil && !o.local {
		return fmt.Errorf("--worker: %w", err)
	}
	if !slices.Contains(smiBackends, o.smi) {
		return fmt.Errorf("--smi-backend %q: there are %s", o.smi, strings.Join(smiBackends, ", "))
	}
	if o.proc != "" && !filepath.IsAbs(o.proc) {
		return fmt.Errorf("--proc %q is not an absolute path", o.proc)
	}
	if o.kubelet, err = attribution.ParseKubelet(o.kubelet); err != nil {
		return fmt.Errorf("--kubelet-socket: %w", err)
	}
	if o.timeout <= 0 {
		return fmt.Errorf("--timeout %v is not more than 0", o.timeout)
	}
	if err := o.service.Check(); err != nil {
		return err
	}
	_, err = o.service.CheckWeb()
	return err
}

// findWorker is the one worker to ask.
func findWorker(name, port string, set dialing.Settings, getenv func(string) string) (dialing.Worker, error) {
	list, err := dialing.Workers(name, port, set, getenv)
	if err == nil && list == nil { // nobody has said anything
		list, err = dialing.Workers("localhost", port, set, getenv)
	}
	switch {
	case err != nil:
		return dialing.Worker{}, err
	case len(list) > 1:
		return dialing.Worker{}, fmt.Errorf("%d workers; one is asked, others are probed", len(list))
	}
	return list[0], nil
}
