package main

import (
	"context"
	"flag"

	"github.com/spf13/cobra"

	"github.com/rocwire/rocwire/exporter/service"
	"github.com/rocwire/rocwire/internal/cli"
)

const program = "hip-worker"

const ending = `
Exit codes: 0 ended by a signal, 1 failure, 2 wrong usage, 3 the port is in use.
`

func help() string { return usage + whoUsage + service.Usage() + ending }

// newRoot is the command line; serving is f's.
func newRoot(getenv func(string) string, f func(*options) error) *cobra.Command {
	fs := flag.NewFlagSet(program, flag.ContinueOnError)
	o, envErr := newOptions(fs, getenv)
	p := cli.Program{
		Name: program, Short: "Serve GPUs to HIP programs on other machines", Help: help, Flags: fs, Getenv: getenv, ConfigVariable: "ROCWIRE_WORKER_CONFIG",
		Values: service.Values(map[string][]string{
			"backend": backends, "smi-backend": smiBackends, "sim-arch": simArchs, "sim-trace-format": {"text", "json"},
		}),
		Run: func(context.Context, func(string) bool) error {
			err := envErr
			if err == nil {
				err = o.check()
			}
			if err != nil {
				return cli.Usagef("%v (see %s --help)", err, program)
			}
			return f(o)
		},
	}
	root := p.Command()
	root.AddCommand(keysCommand(), tokenCommand())
	return root
}
