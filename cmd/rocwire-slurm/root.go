//go:build linux

package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/rocwire/rocwire/internal/cli"
	"github.com/rocwire/rocwire/internal/slurm"
	"github.com/rocwire/rocwire/internal/version"
)

const about = `rocwire-slurm hands the cards of rocwire workers to Slurm's jobs. It is Slurm's
Prolog, Epilog and TaskProlog; which of them, it sees by itself:

  Prolog=/usr/bin/rocwire-slurm
  Epilog=/usr/bin/rocwire-slurm
  TaskProlog=/usr/bin/rocwire-slurm
  PrologFlags=Alloc

A job gets a token for its cards alone, good until it ends, and its programs find
them. smi-remote fleet gres writes gres.conf and the layout, which says what each
card of it is.

Exit codes: 0 done, 1 not done (the reason is in the system's log, too), 2 wrong
usage.`

// contexts are what Slurm calls the scripts, and the commands that are them.
var contexts = map[string]string{"prolog_slurmd": "prolog", "epilog_slurmd": "epilog", "prolog_task": "task-prolog"}

func newRoot(getenv func(string) string) *cobra.Command {
	n := &slurm.Node{Getenv: getenv}
	root := &cobra.Command{
		Use: "rocwire-slurm", Short: "Hand the cards of rocwire workers to Slurm's jobs", Long: about, Version: version.String(),
		SilenceErrors: true, SilenceUsage: true, DisableAutoGenTag: true, Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cli.NoCommand(cmd, args)
			}
			name, ok := contexts[getenv("SLURM_SCRIPT_CONTEXT")]
			if !ok {
				return cli.Usagef("no command: Slurm says in SLURM_SCRIPT_CONTEXT what is to be done, people by one of prolog, task-prolog, epilog, devices (see rocwire-slurm --help)")
			}
			c, _, err := cmd.Find([]string{name})
			if err != nil {
				return err
			}
			c.SetContext(cmd.Context())
			return c.RunE(c, nil)
		},
	}
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.SetFlagErrorFunc(cli.FlagError)
	f := root.PersistentFlags()
	f.SortFlags = false
	f.StringVar(&n.Layout, "layout", slurm.DefaultLayout, "`FILE` that says which card of which worker\neach of a node's cards is")
	f.StringVar(&n.State, "state", slurm.DefaultState, "`FOLDER` for what jobs that run need")
	f.DurationVar(&n.Timeout, "timeout", 0, "how long a worker may take, a `TIME` like 30s (10s)")
	script := func(name, short, long string, do func(*cobra.Command, *slurm.Job) error) *cobra.Command {
		return &cobra.Command{Use: name, Short: short, Long: long, Args: cli.Words(0, 0), RunE: func(cmd *cobra.Command, _ []string) error {
			j, err := slurm.JobOf(getenv)
			if err != nil {
				return err
			}
			return do(cmd, &j)
		}}
	}
	root.AddCommand(
		cli.VersionCommand("rocwire-slurm"),
		script("prolog", "Let a job in on its workers", "Has a token issued on each worker that the job has cards of, and ends what earlier jobs have left there. Slurm's Prolog, as root.",
			func(cmd *cobra.Command, j *slurm.Job) error { return n.Prolog(cmd.Context(), j) }),
		script("task-prolog", "Tell a task where its cards are", "Prints what Slurm is to set for a task. Slurm's TaskProlog, as the job's user.",
			func(cmd *cobra.Command, j *slurm.Job) error {
				lines, err := n.TaskProlog(j)
				for _, l := range lines {
					fmt.Fprintln(cmd.OutOrStdout(), l)
				}
				return err
			}),
		script("epilog", "End what a job has left on its workers", "Has the job's tokens revoked, which ends its sessions. Slurm's Epilog, as root. A worker that is not there\nkeeps no node from going on: the next job with its cards ends what is left.",
			func(cmd *cobra.Command, j *slurm.Job) error {
				if err := n.Epilog(cmd.Context(), j); err != nil { // an exit code would take the node out of service
					fmt.Fprintln(cmd.ErrOrStderr(), "rocwire-slurm:", err)
					tell(err)
				}
				return nil
			}),
		devicesCommand(n),
	)
	cli.AddDocs(root)
	return root
}

// devicesCommand makes the files that stand for cards.
func devicesCommand(n *slurm.Node) *cobra.Command {
	dir := slurm.DefaultCards
	c := &cobra.Command{
		Use: "devices NODE...", Short: "Make the files that stand for a node's cards", Args: cli.Words(1, -1),
		Long: "Makes the files that gres.conf names for the cards of a node, as root, on that node:\nSlurm takes devices only. Nothing is behind them.",
		RunE: func(_ *cobra.Command, nodes []string) error {
			b, err := os.ReadFile(n.Layout)
			if err != nil {
				return err
			}
			l, err := slurm.ParseLayout(b)
			if err != nil {
				return fmt.Errorf("%s: %w", n.Layout, err)
			}
			for _, node := range nodes {
				if len(l.Nodes[node]) == 0 {
					return fmt.Errorf("%s: there is no node %q with cards", n.Layout, node)
				}
				if err := slurm.Devices(l, node, dir); err != nil {
					return err
				}
			}
			return nil
		},
	}
	c.Flags().StringVar(&dir, "dir", dir, "`FOLDER` for them, as for smi-remote fleet gres")
	return c
}
