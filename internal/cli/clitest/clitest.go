// Package clitest checks command lines that are made by package cli.
package clitest

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rocwire/rocwire/internal/cli"
)

// CheckHelp finds flags that are not explained, explanations of none, and variables of flags that are other ones than those in a file.
func CheckHelp(t *testing.T, root *cobra.Command, help, variables string) {
	t.Helper()
	var b strings.Builder
	explained := map[string]int{}
	for _, m := range regexp.MustCompile(`(?m)^  (?:-[a-z], )?--([a-z0-9-]+)`).FindAllStringSubmatch(help, -1) {
		explained[m[1]]++
	}
	root.Flags().VisitAll(func(f *pflag.Flag) {
		if explained[f.Name] != 1 || f.Usage == "" {
			t.Errorf("--%s is explained %d times: %q", f.Name, explained[f.Name], f.Usage)
		}
		delete(explained, f.Name)
		if v := f.Annotations[cli.Variables]; len(v) > 0 {
			fmt.Fprintf(&b, "%s: %s\n", f.Name, strings.Join(v, " "))
		}
	})
	if len(explained) > 0 {
		t.Errorf("explained, and no flags: %v", explained)
	}
	want, err := os.ReadFile(variables)
	if err != nil || b.String() != string(want) {
		t.Errorf("%s: %v; variables that go before the configuration file:\n%s", variables, err, b.String())
	}
}
