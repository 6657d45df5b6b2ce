package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/rocwire/rocwire/internal/cli"
	"github.com/rocwire/rocwire/smi"
)

// perfLevels are those that can be set by name alone.
var perfLevels = []string{smi.PerfAuto, smi.PerfLow, smi.PerfHigh, smi.PerfManual, smi.PerfStandard, smi.PerfPeak, smi.PerfMinMem, smi.PerfMinGFX, smi.PerfDeterminism}

var clockDomains = []string{smi.ClockGFX, smi.ClockMem, smi.ClockSOC, smi.ClockDF, smi.ClockVideo, smi.ClockData, smi.ClockDCEF, smi.ClockPCIe}

func setCommand(a *app) *cobra.Command {
	set := &cobra.Command{
		Use: "set", Short: "Change a GPU's power cap, clocks, partitions, quotas; reset it", GroupID: groupChange, Args: cobra.ArbitraryArgs, RunE: cli.NoCommand,
		Long: "Change a GPU. A worker takes this only if it was started with --smi-allow-set.\nGPU is a number, a PCI address, a UUID or \"all\".",
	}
	// change is a command of a card and a value, which parse understands.
	change := func(use, short string, values []string, parse func(words []string) (smi.Setting, error)) *cobra.Command {
		name, usage, _ := strings.Cut(use, " ")
		n := len(strings.Fields(usage))
		return &cobra.Command{
			Use: use, Short: short, Args: cli.Words(n, n), ValidArgsFunction: a.completeThen(values),
			RunE: func(cmd *cobra.Command, words []string) error {
				s, err := parse(words[1:])
				if err != nil {
					return err
				}
				return a.set(cmd.Context(), words[0], name+" "+strings.Join(words[1:], " "), s)
			},
		}
	}
	var yes bool
	reset := &cobra.Command{
		Use: "reset GPU", Short: "Reset a GPU: all work on it is lost", Args: cli.Words(1, 1), ValidArgsFunction: a.completeThen(nil),
		RunE: func(cmd *cobra.Command, words []string) error { return a.reset(cmd.Context(), words[0], yes) },
	}
	reset.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	set.AddCommand(
		change("power-cap GPU WATTS", "Set the power cap", nil, func(w []string) (smi.Setting, error) {
			v, err := parseWatts(w[0])
			return smi.Setting{PowerCap: smi.Some(v)}, err
		}),
		change("perf-level GPU LEVEL", "Set the performance level: auto, low, high, manual, ...", perfLevels, func(w []string) (smi.Setting, error) {
			return smi.Setting{PerfLevel: w[0]}, nil
		}),
		change("clock GPU DOMAIN MIN-MAX", "Set the range of a clock: gfx 500-1200, mem 900MHz-", clockDomains, func(w []string) (smi.Setting, error) {
			r, err := parseClock(w[0], w[1])
			return smi.Setting{Clock: r}, err
		}),
		change("determinism GPU CLOCK", "Hold the gfx clock, so that times repeat: 1200MHz", nil, func(w []string) (smi.Setting, error) {
			v, err := parseHertz(w[0])
			return smi.Setting{Determinism: smi.Some(v)}, err
		}),
		change("fan GPU PERCENT|auto", "Set the fans, 60% or auto", []string{"auto"}, func(w []string) (smi.Setting, error) { return parseFan(w[0]) }),
		change("compute-partition GPU MODE", "Divide the chip: SPX, DPX, TPX, QPX, CPX", []string{"SPX", "DPX", "TPX", "QPX", "CPX"}, func(w []string) (smi.Setting, error) {
			return smi.Setting{ComputePartition: strings.ToUpper(w[0])}, nil
		}),
		change("memory-partition GPU MODE", "Divide the memory: NPS1, NPS2, NPS4, NPS8", []string{"NPS1", "NPS2", "NPS4", "NPS8"}, func(w []string) (smi.Setting, error) {
			return smi.Setting{MemoryPartition: strings.ToUpper(w[0])}, nil
		}),
		quotaCommand(a), reset,
	)
	return set
}

const faultHelp = `Faults, and what may be said about them:

  ecc      errors are counted     block=umc count=1
                                  error=correctable|uncorrectable|deferred
  thermal  it is too hot          temperature=105
  hang     work does not get on
  link     PCIe is slower         width=4 speed=8
  reset    it is reset: the work on it is lost
  gone     it does not answer any more

A fault lasts until sim clear; ecc and reset happen once. GPU is a number, a PCI
address, a UUID or "all", and is not needed where there is only one.`

const scenarioHelp = `A scenario is a file of lines like

  # time  fault             GPU  settings
  0s      ecc               0    count=20
  10s     thermal           0    temperature=108
  40s     clear thermal     0
  1m      ecc               0    error=uncorrectable
  1m1s    reset             0

with times counted from the start. The program ends after the last line and
leaves what that left; Ctrl-C ends the faults that are going on. "-" is standard
input.`

func simCommand(a *app) *cobra.Command {
	sim := &cobra.Command{
		Use: "sim", Short: "Make simulated GPUs fail, for training and tests", GroupID: groupChange, Args: cobra.ArbitraryArgs, RunE: cli.NoCommand,
		Long: "Make simulated GPUs fail, for training and tests. Real ones refuse.\n\n" + faultHelp,
	}
	command := func(name, short string, clear bool) *cobra.Command {
		usage := "FAULT [GPU]"
		if !clear {
			usage += " [KEY=VALUE...]"
		}
		return &cobra.Command{
			Use: name + " " + usage, Short: short, Long: short + ".\n\n" + faultHelp, Args: cli.Words(1, -1),
			ValidArgsFunction: a.completeFault(clear),
			RunE: func(cmd *cobra.Command, words []string) error {
				o, err := parseOrder(words, clear)
				if err != nil {
					return err
				}
				return a.inject(cmd.Context(), &o)
			},
		}
	}
	var dry bool
	scenario := &cobra.Command{
		Use: "scenario FILE", Short: "Faults in time, from a file", Long: "Faults in time, from a file.\n\n" + scenarioHelp + "\n\n" + faultHelp, Args: cli.Words(1, 1),
		RunE: func(cmd *cobra.Command, words []string) error { return a.scenario(cmd.Context(), words[0], dry) },
	}
	scenario.Flags().BoolVar(&dry, "check", false, "only check the file and show its steps")
	sim.AddCommand(command("set", "Begin a fault", false), command("clear", "End a fault", true), scenario)
	return sim
}

// completeThen offers the cards first and then values.
func (a *app) completeThen(values []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return values, cobra.ShellCompDirectiveNoFileComp
		}
		offers, d := a.completeCards(cmd, args, word)
		return append(offers, all), d
	}
}

// completeFault offers a fault, then a card, then its settings.
func (a *app) completeFault(clear bool) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			var names []string
			for _, k := range faultNames() {
				if !clear || !momentary(k) {
					names = append(names, k)
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		}
		var offers []string
		if len(args) == 1 {
			offers, _ = a.completeCards(cmd, args, word)
			offers = append(offers, all)
		}
		if !clear {
			for _, k := range faultKinds[args[0]] {
				offers = append(offers, k+"=")
			}
		}
		return offers, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}
