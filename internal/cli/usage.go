package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Exit codes that all programs have in common.
const (
	ExitFailure = 1
	ExitUsage   = 2
)

// UsageError is a mistake of the user's.
type UsageError string

func (e UsageError) Error() string { return string(e) }

// Usagef makes one.
func Usagef(format string, args ...any) error { return UsageError(fmt.Sprintf(format, args...)) }

// said is an error that has been told already.
type said struct{ error }

func (s said) Unwrap() error { return s.error }

// Said keeps Main from telling an error that has been told.
func Said(err error) error { return said{err} }

// NoCommand answers words that are no command, or none where one is needed.
func NoCommand(cmd *cobra.Command, args []string) error {
	see := fmt.Sprintf("(see %s --help)", cmd.CommandPath())
	cmd.SuggestionsMinimumDistance = 2
	if len(args) == 0 {
		return Usagef("no command %s", see)
	}
	if like := cmd.SuggestionsFor(args[0]); len(like) > 0 {
		see = "; did you mean " + strings.Join(like, " or ") + "?"
	} else {
		see = " " + see
	}
	return Usagef("there is no command %q%s", args[0], see)
}

// FlagError makes of pflag's error a mistake that says what could have been meant.
func FlagError(cmd *cobra.Command, err error) error {
	see := fmt.Sprintf(" (see %s --help)", cmd.CommandPath())
	var none *pflag.NotExistError
	if errors.As(err, &none) {
		name := none.GetSpecifiedName()
		if letters := none.GetSpecifiedShortnames(); letters != "" { // a name with one dash
			if name, _, _ = strings.Cut(letters, "="); len(name) < 3 || cmd.Flags().Lookup(name) == nil {
				name = ""
			}
		}
		if like := similar(name, flagNames(cmd.Flags())); len(like) > 0 {
			see = "; did you mean --" + strings.Join(like, " or --") + "?"
		}
	}
	return Usagef("%v%s", err, see)
}

func flagNames(flags *pflag.FlagSet) (names []string) {
	flags.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	return names
}

// similar are those of some names that could have been meant by another.
func similar(name string, names []string) []string {
	if name == "" {
		return nil
	}
	// cobra knows what is similar to the name of a command.
	of := &cobra.Command{Use: "names", SuggestionsMinimumDistance: 2}
	for _, n := range names {
		of.AddCommand(&cobra.Command{Use: n, Run: func(*cobra.Command, []string) {}})
	}
	like := of.SuggestionsFor(name)
	return like[:min(len(like), 3)]
}

// Words checks how many words follow a command, at most -1: any number. Its usage says what they are.
func Words(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return Usagef("%s: what is missing? Usage: %s", cmd.Name(), cmd.UseLine())
		case most >= 0 && len(args) > most:
			return Usagef("%q is too much (see %s --help)", strings.Join(args[most:], " "), cmd.CommandPath())
		}
		return nil
	}
}
