package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rocwire/rocwire/internal/cli"
	"github.com/spf13/cobra"
)

// useCommands are about programs, and about what happens.
func useCommands(a *app) []*cobra.Command {
	processes := a.cardCommand("processes", "Who uses the GPUs",
		"Processes on the worker's machine, and behind those that serve a session the\nremote program. FROM is where the figures come from: session (counted by the\nworker), sim, amd-smi, kfd or fdinfo (the kernel).", a.processes)
	processes.GroupID = groupUse
	return []*cobra.Command{
		processes,
		{
			Use: "sessions", Short: "The clients of the workers", GroupID: groupUse, Args: cli.Words(0, 0), RunE: action(a.sessions).run,
			Long: "The programs that are connected to the workers, since when and what they did.\n\nEnd one by smi-remote session kill ID.",
		},
		sessionCommand(a),
		{
			Use: "workers", Short: "The workers: version, and what they let you do", GroupID: groupUse, Args: cli.Words(0, 0), RunE: action(a.showWorkers).run,
			Long: "Each worker's version, what drives its cards, its machine, since when it runs,\nand whether it lets you change GPUs (SET), end sessions (KILL) and make cards\nfail (FAULTS: they are simulated).",
		},
		callsCommand(a),
		topCommand(a),
		watchCommand(a),
		eventsCommand(a),
	}
}

func sessionCommand(a *app) *cobra.Command {
	session := &cobra.Command{Use: "session", Short: "End a client's session", GroupID: groupUse, Args: cobra.ArbitraryArgs, RunE: cli.NoCommand}
	session.AddCommand(&cobra.Command{
		Use: "kill ID...", Short: "End sessions", Args: cli.Words(1, -1), RunE: action(a.killSessions).run, ValidArgsFunction: a.completeSessions,
		Long: "End sessions of a worker. The programs they belong to get errors from their next\ncalls; what they held is released.\n\nA worker takes this from its own machine only, unless it was told otherwise.\nExit code 4: there is no such session.",
	})
	return session
}

func watchCommand(a *app) *cobra.Command {
	var seconds float64
	var count int
	c := &cobra.Command{
		Use: "watch [-n SECONDS] COMMAND...", Short: "Run a command again and again", GroupID: groupUse, Args: cobra.ArbitraryArgs,
		Long:    "Run a command again and again until Ctrl-C. On a terminal the new output takes\nthe place of the old; otherwise it follows.",
		Example: "  smi-remote watch -n 5 metrics\n  smi-remote watch -n 1 power 0 --csv >> power.csv",
		RunE: func(cmd *cobra.Command, words []string) error {
			if !(seconds >= 0.05 && seconds <= 86400) {
				return usagef("-n %v is not 0.05 to 86400 seconds", seconds)
			}
			if count < 0 {
				return usagef("--count %d is less than 0", count)
			}
			return a.watch(cmd.Context(), time.Duration(seconds*1e9), count, words)
		},
		ValidArgs: watchable,
	}
	c.Flags().SetInterspersed(false) // what is behind COMMAND belongs to it
	c.Flags().Float64VarP(&seconds, "interval", "n", 2, "`SECONDS` between two runs")
	c.Flags().IntVar(&count, "count", 0, "end after so many runs; 0: never")
	return c
}

func eventsCommand(a *app) *cobra.Command {
	var kinds []string
	c := &cobra.Command{
		Use: "events [GPU...]", Short: "What happens to the GPUs, as it happens", GroupID: groupUse, Args: cobra.ArbitraryArgs, ValidArgsFunction: a.completeCards,
		Long: "What happens to the GPUs, as it happens, until Ctrl-C: one line for each event;\nwith --json one JSON object on each line. A worker that is lost is waited for.",
		RunE: func(cmd *cobra.Command, words []string) error {
			return a.events(cmd.Context(), words, kinds)
		},
	}
	c.Flags().StringSliceVar(&kinds, "kind", nil, "only events of this `KIND`, like ecc or vm_fault;\nseveral with commas")
	return c
}

func callsCommand(a *app) *cobra.Command {
	o := &callOptions{}
	seconds := 2.0
	c := &cobra.Command{
		Use: "calls [FUNCTION...]", Short: "How long calls take, and where the time goes", GroupID: groupUse, Args: cobra.ArbitraryArgs,
		Long:    "How many calls of each function are made, how long they take (half of them, 90\nand 99 of 100, the longest), and where the time goes, in percent: QUE they wait\non the worker, NET on the network, EXE they are executed. Side client is from\nissue to return in the program, side worker from arrival to reply.\n\nOn a terminal a live table of what happened meanwhile, until Ctrl-C; with\n--once, --json, --csv or without a terminal one table since the worker started.\nWith FUNCTION only those whose names contain it.\n\n--slowest shows the slowest calls of the last ten minutes and whose they were.",
		Example: "  smi-remote calls --sort p99\n  smi-remote calls memcpy --side client --once\n  smi-remote calls --slowest",
		RunE: func(cmd *cobra.Command, words []string) error {
			if !(seconds >= 0.1 && seconds <= 3600) {
				return usagef("-n %v is not 0.1 to 3600 seconds", seconds)
			}
			if !slices.Contains(orderNames(), o.sort) {
				return usagef("--sort %q is none of %s", o.sort, strings.Join(orderNames(), ", "))
			}
			if o.side != "" && o.side != sideClient && o.side != sideWorker {
				return usagef("--side %q is neither client nor worker", o.side)
			}
			o.interval, o.names = time.Duration(seconds*1e9), words
			return a.calls(cmd.Context(), o)
		},
	}
	c.Flags().Float64VarP(&seconds, "interval", "n", seconds, "`SECONDS` between two readings")
	c.Flags().BoolVar(&o.once, "once", false, "print one table and end")
	c.Flags().BoolVar(&o.slowest, "slowest", false, "the slowest calls of the last ten minutes")
	c.Flags().StringVar(&o.sort, "sort", "time", "order by `KEY`: time (all calls together), rate,\nerrors, p50, p90, p99, max, name")
	c.Flags().StringVar(&o.side, "side", "", "only one `SIDE`: client or worker")
	return c
}

func topCommand(a *app) *cobra.Command {
	seconds := 1.0
	c := &cobra.Command{
		Use: "top", Short: "A live view of GPUs, processes and calls", GroupID: groupUse, Args: cli.Words(0, 0),
		Long: "A live view of the whole terminal: the GPUs, the processes with the remote\nprograms behind them, and how many calls of each kind are made and how long\nthey take. ? shows the keys. Colour is used unless NO_COLOR is set.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !(seconds >= 0.1 && seconds <= 3600) {
				return usagef("-n %v is not 0.1 to 3600 seconds", seconds)
			}
			return a.top(cmd.Context(), time.Duration(seconds*1e9))
		},
	}
	c.Flags().Float64VarP(&seconds, "interval", "n", 1, "`SECONDS` between two readings")
	return c
}

// completeTime is how long completion may take: somebody waits at a prompt.
var completeTime = time.Second

// completeCards offers the cards.
func (a *app) completeCards(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	a.timeout = min(a.timeout, completeTime)
	cards, _, err := a.cards(completeContext(cmd), nil, false)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var offers []string
	for i := range cards {
		d := &cards[i].Device
		offers = append(offers, cobra.CompletionWithDesc(fmt.Sprint(d.Index), d.Name))
		if bdf, ok := d.BDF.Get(); ok {
			offers = append(offers, cobra.CompletionWithDesc(bdf.String(), d.Name))
		}
	}
	return offers, cobra.ShellCompDirectiveNoFileComp
}

// completeSessions offers the sessions.
func (a *app) completeSessions(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	a.timeout = min(a.timeout, completeTime)
	answers, _, err := askSessions(completeContext(cmd), a)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var offers []string
	for _, r := range answers {
		for _, s := range r.value.Sessions {
			offers = append(offers, cobra.CompletionWithDesc(s.ID, sessionText(&s)))
		}
	}
	return offers, cobra.ShellCompDirectiveNoFileComp
}

func completeContext(cmd *cobra.Command) context.Context {
	if ctx := cmd.Context(); ctx != nil {
		return ctx
	}
	return context.Background()
}
