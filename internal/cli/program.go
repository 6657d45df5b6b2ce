package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rocwire/rocwire/internal/version"
)

// Program is one that runs until it is ended, and all of whose flags may stand in a file.
type Program struct {
	Name, Short string
	// Help is the whole text of --help, but for the commands. It explains every flag, --config, --version and --help among them.
	Help   func() string
	Flags  *flag.FlagSet
	Values map[string][]string // what some flags may be
	Getenv func(string) string
	// ConfigVariable names the configuration file where --config does not.
	ConfigVariable string
	// Run is the program. given reports whether a flag has been given, or is in the file.
	Run func(ctx context.Context, given func(flag string) bool) error
}

// configFlag names the configuration file.
const configFlag = "config"

// Command is the program's root. Further commands may be added to it.
func (p *Program) Command() *cobra.Command {
	help := p.Help()
	of := explain(help)
	root := &cobra.Command{
		Use: p.Name + " [flags]", Short: p.Short, Long: introduction(help), Version: version.String(),
		SilenceErrors: true, SilenceUsage: true, DisableAutoGenTag: true, Args: cobra.ArbitraryArgs,
	}
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.SetFlagErrorFunc(FlagError)
	flags := root.Flags()
	flags.SortFlags = false
	file := p.Flags.String(configFlag, p.Getenv(p.ConfigVariable), "")
	p.Flags.Bool("version", false, "")
	p.Flags.Bool("help", false, "")
	p.Flags.VisitAll(func(plain *flag.Flag) {
		f := pflag.PFlagFromGoFlag(plain)
		e := of[f.Name]
		f.Shorthand, f.Usage = e.letter, e.text
		if e.value != "" {
			f.Usage = "`" + e.value + "`: " + e.text
		}
		f.Annotations = map[string][]string{Variables: e.variables}
		flags.AddFlag(f)
	})
	for name, values := range p.Values {
		if err := root.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
			panic(err) // the test of each program finds it
		}
	}
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return NoCommand(cmd, args)
		}
		if *file != "" {
			if err := configure(flags, *file, p.Getenv); err != nil {
				return err
			}
		}
		return p.Run(cmd.Context(), func(name string) bool { return flags.Changed(name) })
	}
	root.AddCommand(VersionCommand(p.Name))
	AddDocs(root)
	usual := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if cmd != root {
			usual(cmd, args)
			return
		}
		fmt.Fprint(cmd.OutOrStdout(), help+commands(root))
	})
	return root
}

// VersionCommand prints the version of the program of that name.
func VersionCommand(name string) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: Words(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), name, version.String())
			return err
		},
	}
}

// introduction is what a help says before it comes to the flags.
func introduction(help string) string {
	var keep []string
	for line := range strings.Lines(help) {
		if strings.HasPrefix(line, "  -") {
			break
		}
		if !strings.HasPrefix(line, "Usage:") {
			keep = append(keep, line)
		}
	}
	return strings.TrimSpace(strings.Join(keep, ""))
}

func commands(root *cobra.Command) string {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	var b strings.Builder
	b.WriteString("\nCommands:\n")
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() || c.Name() == "help" {
			fmt.Fprintf(&b, "  %-22s  %s\n", c.Name(), c.Short)
		}
	}
	return b.String()
}

// Main runs a command line and gives the exit code. What fails is told on stderr, a line for each.
func Main(ctx context.Context, root *cobra.Command, args []string, stdout, stderr io.Writer) int {
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := Execute(ctx, root)
	if err == nil {
		return 0
	}
	var told said
	if !errors.As(err, &told) {
		for line := range strings.SplitSeq(err.Error(), "\n") {
			fmt.Fprintf(stderr, "%s: %s\n", root.Name(), line)
		}
	}
	var coded interface{ ExitCode() int }
	var usage UsageError
	switch {
	case errors.As(err, &usage):
		return ExitUsage
	case errors.As(err, &coded):
		return coded.ExitCode()
	}
	return ExitFailure
}
