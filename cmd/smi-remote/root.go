package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/rocwire/rocwire/internal/cli"
	"github.com/rocwire/rocwire/internal/dialing"
	"github.com/rocwire/rocwire/internal/version"
)

const about = `smi-remote shows the GPUs of rocwire workers and who uses them; without a
command, both at a glance.

A GPU is named by its number, its PCI address (0000:c1:00.0 or c1:00.0) or its
UUID, of which the start is enough if no other GPU's begins like that.

In tables "-" stands for a figure that is not available; in JSON it is null, in
CSV an empty cell. A table fits 80 columns, or the terminal, and says what it
left out. Figures that are not of now are marked with their age.

` + exitHelp

// Groups of commands in the help.
const (
	groupShow   = "show"
	groupUse    = "use"
	groupChange = "change"
)

// newRoot is the command line. The flags' defaults are what a holds already.
func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use: "smi-remote", Short: "Show the GPUs of rocwire workers and who uses them", Long: about,
		SilenceErrors: true, SilenceUsage: true, DisableAutoGenTag: true,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cli.NoCommand(cmd, args)
			}
			return a.overview(cmd.Context(), nil)
		},
	}
	root.Version = version.String()
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.Flags().Bool("version", false, "print the version")
	root.CompletionOptions.HiddenDefaultCmd = false
	root.SetFlagErrorFunc(cli.FlagError)
	if a.hosts == nil {
		a.hosts, a.port, a.timeout = []string{a.getenv("TF_WORKER_HOST")}, orElse(a.getenv("TF_WORKER_PORT"), defaultPort), 10*time.Second
		a.dialing = dialing.FromEnv(a.getenv)
	}
	f := root.PersistentFlags()
	f.SortFlags = false
	f.StringSliceVarP(&a.hosts, "host", "H", a.hosts, "worker to ask: `HOST`, HOST:PORT, [IPv6]:PORT,\nunix:PATH or a name in the configuration file;\nseveral with commas, or the flag again\n(TF_WORKER_HOST)")
	f.StringVar(&a.port, "port", a.port, "`PORT` of workers without one\n(TF_WORKER_PORT)")
	a.dialing.AddFlags(f, "tls")
	f.DurationVar(&a.timeout, "timeout", a.timeout, "how long a worker may take, a `TIME`\nlike 500ms or 10s")
	f.BoolVar(&a.v1, "v1", a.v1, "the workers are of the earlier hip-remote\n(list, metrics, power and info only)")
	f.BoolVar(&a.json, "json", a.json, "print JSON")
	f.BoolVar(&a.csv, "csv", a.csv, "print CSV: base units, columns named as in JSON")
	f.BoolVar(&a.noHeader, "no-header", a.noHeader, "no line of titles above a table or CSV")
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if a.v1 && !knownToV1(cmd.Name()) {
			return usagef("--v1: workers of the earlier hip-remote can be asked for list, metrics, power and info, and not for %s", cmd.Name())
		}
		if a.json && a.csv {
			return usagef("--json or --csv, not both")
		}
		return nil
	}
	root.AddGroup(
		&cobra.Group{ID: groupShow, Title: "What the GPUs are and do:"},
		&cobra.Group{ID: groupUse, Title: "Who uses them, now and again:"},
		&cobra.Group{ID: groupChange, Title: "Change them:"},
	)
	root.AddCommand(showCommands(a)...)
	root.AddCommand(useCommands(a)...)
	root.AddCommand(setCommand(a), tokenCommand(a), fleetCommand(a), simCommand(a), cli.VersionCommand("smi-remote"))
	cli.AddDocs(root)
	cobra.EnableCommandSorting = false
	return root
}

func orElse(s, def string) string {
	if s == "" {
		return def
	}
	return s
}

// action is what a command does with the words behind it.
type action func(context.Context, []string) error

func (f action) run(cmd *cobra.Command, words []string) error { return f(cmd.Context(), words) }

// about cards is a command that shows some or all of them.
func (a *app) cardCommand(name, short, long string, do action) *cobra.Command {
	return &cobra.Command{
		Use: name + " [GPU...]", Short: short, Long: short + ".\n\n" + long, GroupID: groupShow,
		Args: cobra.ArbitraryArgs, RunE: do.run, ValidArgsFunction: a.completeCards,
	}
}

func showCommands(a *app) []*cobra.Command {
	return []*cobra.Command{
		a.cardCommand("list", "The GPUs", "One line for each: number, PCI address, name, instruction set, memory.", a.list),
		a.cardCommand("metrics", "What the GPUs do now: use, memory, clocks, power, temperatures",
			"Without GPU one line for each; with GPU everything it measures: engines, all\nclocks and sensors, PCIe, and for how long which limit held it back.", a.metrics),
		a.cardCommand("info", "What the GPUs are: chip, memory, board, driver", "All that does not change while the driver is loaded.", a.info),
		a.cardCommand("power", "What the GPUs draw, and what holds them back",
			"HELD BACK BY names the limits that lower the clocks at this moment: ppt is\npackage power, the *_thermal ones are temperatures, prochot is the baseboard.\nWith GPU, for how long each limit was in force.", a.power),
		a.cardCommand("topology", "How the GPUs reach each other",
			"A matrix of links and hops; with GPU all that is known about the ways from it.", a.topology),
		a.cardCommand("firmware", "The firmware that runs on the GPUs", "Name and version of each piece.", a.firmware),
		a.cardCommand("ecc", "Memory errors", "Totals, and the blocks that had errors; with GPU all blocks.\nIn CSV the row without a block is the whole GPU.", a.ecc),
		a.cardCommand("partitions", "How the GPUs are divided, and could be", "With GPU also what each part would get.", a.partitions),
		a.cardCommand("xgmi", "The links between the GPUs and what they carried", "One line for each link.", a.xgmi),
		a.cardCommand("bad-pages", "Pages of memory that are not used any more", "One line for each page.", a.badPages),
	}
}
