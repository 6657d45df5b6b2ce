package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/rocwire/rocwire/internal/cli"
	"github.com/rocwire/rocwire/internal/slurm"
	"github.com/rocwire/rocwire/smi"
)

func fleetCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "fleet", Short: "All workers: what they have, who uses it, and what is wrong", GroupID: groupShow, Args: cobra.ArbitraryArgs,
		Long: "All workers, a line for each: its GPUs, how much of their memory is free, who\nuses them, and what is wrong. One that cannot be reached is shown with the\nreason.\n\n" +
			"The workers are those of --workers and --host; without either, all that the\nconfiguration file names, or TF_WORKER_HOST. --workers takes\n\n" + discoverySources,
		Example: "  smi-remote fleet\n  smi-remote fleet --workers dns:_rocwire._tcp.example.org\n  smi-remote fleet --workers workers.yaml --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cli.NoCommand(cmd, args)
			}
			return a.fleet(cmd.Context(), cmd.Flags().Changed("host"))
		},
	}
	c.PersistentFlags().StringSliceVar(&a.sources, "workers", nil, "`SOURCE` that names workers: a file, URL, dns:,\nkubernetes: or consul+http:, see above; several\nwith commas, or the flag again")
	nodes, layout, dir := "", "", slurm.DefaultCards
	gres := &cobra.Command{
		Use: "gres [GPU...]", Short: "gres.conf of Slurm, from the workers' GPUs", Args: cobra.ArbitraryArgs, ValidArgsFunction: a.completeCards,
		Long: "Prints gres.conf of Slurm: the GPUs of the workers, all or those given, spread\nover the nodes. --layout gets which GPU of which worker each entry is, for\n" +
			"rocwire-slurm; it may be changed by hand, and the same file makes the same\ngres.conf again. Workers are named there as --host names them, or by the\naddress at which they were found, so nodes must know them by that name.",
		Example: "  smi-remote -H gpu1,gpu2 fleet gres --nodes 'n[1-4]' --layout slurm.yaml",
		RunE: func(cmd *cobra.Command, words []string) error {
			if nodes == "" || layout == "" {
				return usagef("gres: --nodes and --layout are needed")
			}
			list, err := slurm.ParseNodes(nodes)
			if err != nil {
				return usagef("--nodes: %v", err)
			}
			if !filepath.IsAbs(dir) {
				return usagef("--dir %q is not absolute", dir)
			}
			if err := a.find(cmd.Context(), cmd.Flags().Changed("host")); err != nil {
				return err
			}
			return a.gres(cmd.Context(), words, list, layout, dir)
		},
	}
	f := gres.Flags()
	f.SortFlags = false
	f.StringVar(&nodes, "nodes", "", "`NODES` that jobs run on, as Slurm writes them")
	f.StringVar(&layout, "layout", "", "`FILE` for the layout, replaced if it is there")
	f.StringVar(&dir, "dir", dir, "`FOLDER` on the nodes for what stands for GPUs;\nmade by rocwire-slurm devices\n")
	c.AddCommand(gres)
	return c
}

// gres writes gres.conf and the layout. All workers must be there: cards of one that is not would be missing.
func (a *app) gres(ctx context.Context, words, nodes []string, layout, dir string) error {
	found, p, err := a.cards(ctx, words, false)
	if err != nil {
		return err
	}
	if err := p.err(); err != nil {
		return err
	}
	var cards []slurm.Card
	for i := range found {
		d := &found[i].Device
		if d.UUID == "" {
			return smi.Errorf(smi.ErrNotSupported, "GPU %d of %s has no UUID to know it by", d.Index, found[i].address())
		}
		cards = append(cards, slurm.Card{Worker: found[i].name, UUID: d.UUID, Type: slurm.TypeOf(d)})
	}
	if err := errNoGPU(len(cards)); err != nil {
		return err
	}
	l := slurm.Spread(cards, nodes)
	b, err := l.Append([]byte("# Which card of which worker each of a node's cards is. Written by smi-remote fleet gres.\n"))
	if err != nil {
		return err
	}
	if _, err := slurm.ParseLayout(b); err != nil {
		return fmt.Errorf("no layout: %w", err)
	}
	if err := os.WriteFile(layout, b, 0o644); err != nil {
		return err
	}
	return l.GRES(&a.out, nodes, dir)
}
