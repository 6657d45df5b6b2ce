package cli

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v2"
)

// Variables is the annotation of a flag that lists the variables of the environment that set it, too.
const Variables = "variables"

// setting is a value in a configuration file, or several of a flag that may be given again.
type setting []string

// UnmarshalYAML takes values as they are written: 8G, 30s, true.
func (s *setting) UnmarshalYAML(unmarshal func(any) error) error {
	var one string
	if err := unmarshal(&one); err == nil {
		*s = setting{one}
		return nil
	}
	return unmarshal((*[]string)(s))
}

// maxConfig is how large a configuration file may be.
const maxConfig = 1 << 20

// configure sets what a configuration file says and neither a flag nor a variable does. The file is YAML: the names of flags, and
// their values.
func configure(flags *pflag.FlagSet, file string, getenv func(string) string) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return UsageError(err.Error())
	}
	if len(b) > maxConfig {
		return Usagef("%s: more than %d bytes", file, maxConfig)
	}
	if err := apply(flags, b, getenv); err != nil {
		return Usagef("%s: %v", file, err)
	}
	return nil
}

func apply(flags *pflag.FlagSet, b []byte, getenv func(string) string) error {
	var settings map[string]setting
	if err := yaml.UnmarshalStrict(b, &settings); err != nil {
		return errors.New(strings.ReplaceAll(err.Error(), "\n", " "))
	}
	names := make([]string, 0, len(settings))
	for name := range settings {
		names = append(names, name)
	}
	slices.Sort(names) // so that the same mistake is told each time
	for _, name := range names {
		f := flags.Lookup(name)
		if f == nil || slices.Contains(notInFiles, name) {
			return fmt.Errorf("there is no setting %q%s", name, meant(name, flags))
		}
		if len(settings[name]) == 0 {
			return fmt.Errorf("%s has no value", name)
		}
		if f.Changed || slices.ContainsFunc(f.Annotations[Variables], func(v string) bool { return getenv(v) != "" }) {
			continue
		}
		for _, v := range settings[name] {
			if err := flags.Set(name, v); err != nil {
				return err
			}
		}
	}
	return nil
}

// notInFiles are flags that make sense only where they are typed.
var notInFiles = []string{configFlag, "version", "help"}

func meant(name string, flags *pflag.FlagSet) string {
	like := slices.DeleteFunc(similar(name, flagNames(flags)), func(s string) bool { return slices.Contains(notInFiles, s) })
	if len(like) == 0 {
		return "; they are named like the flags, without dashes"
	}
	return "; did you mean " + strings.Join(like, " or ") + "?"
}
