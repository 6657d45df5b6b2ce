package cli

import (
	"errors"
	"fmt"
	"slices"
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

// maxListed is how many commands are listed where one is missing.
const maxListed = 12

// NoCommand answers words that are no command, or none where one is needed.
func NoCommand(cmd *cobra.Command, args []string) error {
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	see := fmt.Sprintf(" (see %s --help)", cmd.CommandPath())
	if len(names) <= maxListed {
		see = "; there are " + strings.Join(names, ", ") + see
	}
	if len(args) == 0 {
		return Usagef("no command behind %s%s", cmd.CommandPath(), see)
	}
	cmd.SuggestionsMinimumDistance = 2
	if like := cmd.SuggestionsFor(args[0]); len(like) > 0 {
		see = "; did you mean " + strings.Join(like, " or ") + "?"
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
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		// A name with one dash is a letter and its value.
		if name := invalid.GetFlag().Shorthand + invalid.GetValue(); len(name) > 2 && cmd.Flags().Lookup(name) != nil {
			see = "; did you mean --" + name + "?"
		}
		if kind := kinds[invalid.GetFlag().Value.Type()]; kind != "" {
			return Usagef("--%s %q is no %s%s", invalid.GetFlag().Name, invalid.GetValue(), kind, see)
		}
		return Usagef("--%s %q: %v%s", invalid.GetFlag().Name, invalid.GetValue(), invalid.Unwrap(), see)
	}
	return Usagef("%v%s", err, see)
}

// kinds are what the values of flags are, by pflag's names: what it says of others is "parse error", or names a function of Go.
var kinds = map[string]string{
	"int": "number", "int64": "number", "uint": "number", "uint16": "number from 0 to 65535", "uint32": "number from 0 up", "uint64": "number from 0 up", "float64": "number",
	"duration": "time such as 500ms, 30s or 2h", "bool": "true or false",
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
	if begun := slices.DeleteFunc(slices.Clone(like), func(s string) bool { return !strings.HasPrefix(s, name) }); len(begun) > 0 {
		like = begun
	}
	return like[:min(len(like), 3)]
}

// Words checks how many words follow a command, at most -1: any number. Its usage says what they are.
func Words(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return Usagef("something is missing; usage: %s", cmd.UseLine())
		case most >= 0 && len(args) > most:
			return Usagef("%q is too much (see %s --help)", strings.Join(args[most:], " "), cmd.CommandPath())
		}
		return nil
	}
}
