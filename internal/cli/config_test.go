package cli

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
)

const testHelp = `lamp shines.

Usage: lamp [flags]

  -b, --bulbs N           how many (TF_BULBS)
  --colour NAME           which one, again for more (ROCWIRE_COLOUR, or the room's in
                          ROOM_COLOUR)
  --dim                   less (ROCWIRE_DIM=1)
  --for TIME              then it ends
  --config FILE           these settings
  --version               print the version
  -h, --help              this text

Exit codes: 0.
`

type lamp struct {
	bulbs   int
	colours []string
	dim     bool
	time    time.Duration
	given   []string
}

// light runs a program called lamp.
func light(getenv func(string) string, args ...string) (l lamp, code int, stdout, stderr string) {
	fs := flag.NewFlagSet("lamp", flag.ContinueOnError)
	fs.IntVar(&l.bulbs, "bulbs", 1, "")
	fs.Func("colour", "", func(s string) error {
		if s == "black" {
			return errors.New("not that one")
		}
		l.colours = append(l.colours, s)
		return nil
	})
	fs.BoolVar(&l.dim, "dim", getenv("ROCWIRE_DIM") != "", "")
	fs.DurationVar(&l.time, "for", time.Second, "")
	p := Program{
		Name: "lamp", Short: "Shine", Help: func() string { return testHelp }, Flags: fs, Values: map[string][]string{"colour": {"red", "green"}},
		Getenv: getenv, ConfigVariable: "ROCWIRE_LAMP_CONFIG",
		Run: func(_ context.Context, given func(string) bool) error {
			for _, name := range []string{"bulbs", "colour", "dim", "for"} {
				if given(name) {
					l.given = append(l.given, name)
				}
			}
			if l.bulbs == 13 {
				return fmt.Errorf("unlucky\nreally")
			}
			return nil
		},
	}
	var out, errs bytes.Buffer
	code = Main(context.Background(), p.Command(), args, &out, &errs)
	return l, code, out.String(), errs.String()
}

func environment(kv ...string) func(string) string {
	return func(k string) string {
		for i := 0; i+1 < len(kv); i += 2 {
			if kv[i] == k {
				return kv[i+1]
			}
		}
		return ""
	}
}

// Flags go before variables, and those before the file.
func TestConfiguration(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lamp.yaml")
	for _, c := range []struct {
		text string
		env  func(string) string
		args string
		want lamp
	}{
		{"", environment(), "", lamp{bulbs: 1, time: time.Second}},
		{"# nothing\n", environment(), "", lamp{bulbs: 1, time: time.Second}},
		{"bulbs: 3\ncolour: [red, green]\ndim: true\nfor: 90s", environment(), "",
			lamp{3, []string{"red", "green"}, true, 90 * time.Second, []string{"bulbs", "colour", "dim", "for"}}},
		{"bulbs: 3\ncolour: red", environment(), "-b 4 --colour blue", lamp{4, []string{"blue"}, false, time.Second, []string{"bulbs", "colour"}}},
		{"bulbs: 3\ndim: false\ncolour: red", environment("TF_BULBS", "1", "ROCWIRE_DIM", "1", "ROOM_COLOUR", "green"), "",
			lamp{1, []string{"red"}, true, time.Second, []string{"colour"}}},
	} {
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, code, _, errs := light(c.env, append(strings.Fields(c.args), "--config", file)...)
		if code != 0 || fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%q, %s: exit %d, %s: %+v, want %+v", c.text, c.args, code, errs, got, c.want)
		}
	}
	if err := os.WriteFile(file, []byte("bulbs: 5"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, _, _, _ := light(environment("ROCWIRE_LAMP_CONFIG", file)); got.bulbs != 5 {
		t.Errorf("the file that a variable names: %+v", got)
	}
}

func TestConfigurationRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lamp.yaml")
	for text, want := range map[string]string{
		"bulb: 3": `there is no setting "bulb"; did you mean bulbs?`, "sun: 3": "named like the flags", "bulbs: many": `"many" for "-b, --bulbs"`, "bulbs: {a: 1}": "cannot unmarshal",
		"bulbs: 1\nbulbs: 2": "already set", "colour: [red, black]": "not that one", "config: x": "no setting", "version: true": "no setting", "colour: []": "colour has no value",
		"[1, 2]": "cannot unmarshal", "dim: perhaps": "perhaps", "\x00": "control characters",
		strings.Repeat("# long\n", maxConfig/7+1): "more than",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, code, _, errs := light(environment(), "--config", file); code != ExitUsage || !strings.Contains(errs, want) || !strings.Contains(errs, "lamp.yaml") || strings.Count(errs, "\n") != 1 {
			t.Errorf("%.20q: exit %d, %s", text, code, errs)
		}
	}
	if _, code, _, errs := light(environment(), "--config", "/none"); code != ExitUsage || !strings.Contains(errs, "/none") {
		t.Errorf("no file: exit %d, %s", code, errs)
	}
}

// What stands in a file cannot do more than refuse.
func FuzzConfiguration(f *testing.F) {
	f.Add([]byte("a: 1\nb: [x, y]"))
	f.Add([]byte("&x [*x]"))
	f.Add([]byte("b: !!binary eA=="))
	f.Fuzz(func(_ *testing.T, b []byte) {
		fs := pflag.NewFlagSet("", pflag.ContinueOnError)
		fs.Int("a", 0, "")
		fs.StringArray("b", nil, "")
		_ = apply(fs, b, environment())
	})
}

func TestExplain(t *testing.T) {
	got := explain(testHelp + `  --a[=KINDS]             one
  --b on|off              two (x) (ROCWIRE_B, TF_B_2)
  --c HOST:PORT           three, in the environment ROCWIRE_C
  --d                     four [OTEL_D]
  --e NAME:UNIT
                          five
`)
	for name, want := range map[string]explanation{
		"bulbs":  {"b", "N", "how many (TF_BULBS)", []string{"TF_BULBS"}},
		"colour": {"", "NAME", "which one, again for more (ROCWIRE_COLOUR, or the room's in ROOM_COLOUR)", []string{"ROCWIRE_COLOUR"}},
		"help":   {"h", "", "this text", nil},
		"a":      {"", "", "one", nil}, "b": {"", "on|off", "two (x) (ROCWIRE_B, TF_B_2)", []string{"ROCWIRE_B", "TF_B_2"}},
		"c": {"", "HOST:PORT", "three, in the environment ROCWIRE_C", nil}, "d": {"", "", "four [OTEL_D]", []string{"OTEL_D"}}, "e": {"", "NAME:UNIT", "five", nil},
	} {
		if g := got[name]; g.letter != want.letter || g.value != want.value || g.text != want.text || !slices.Equal(g.variables, want.variables) {
			t.Errorf("%s: %+v, want %+v", name, g, want)
		}
	}
}

func TestCommandLine(t *testing.T) {
	for _, c := range []struct {
		args, out, errs string
		code            int
	}{
		{"--help", "  completion ", "", 0},
		{"-h", "Usage: lamp [flags]", "", 0},
		{"help", "Usage: lamp [flags]", "", 0},
		{"--version", "lamp dev\n", "", 0},
		{"version", "lamp dev\n", "", 0},
		{"version x", "", `"x" is too much`, ExitUsage},
		{"shine", "", `there is no command "shine"`, ExitUsage},
		{"verson", "", "did you mean version?", ExitUsage},
		{"--bulb 3", "", "unknown flag: --bulb; did you mean --bulbs?", ExitUsage},
		{"-bulbs 3", "", "did you mean --bulbs?", ExitUsage},
		{"--bulbs many", "", `lamp: --bulbs "many" is no number (see lamp --help)`, ExitUsage},
		{"-b many", "", `--bulbs "many" is no number`, ExitUsage},
		{"--for ages", "", `--for "ages" is no time such as 500ms, 30s or 2h`, ExitUsage},
		{"--dim=perhaps", "", `--dim "perhaps" is no true or false`, ExitUsage},
		{"--colour black", "", `--colour "black": not that one`, ExitUsage},
		{"shine --help", "", `there is no command "shine"; there are completion, version`, ExitUsage},
		{"help shine", "", `there is no command "shine"`, ExitUsage},
		{"help verson", "", "did you mean version?", ExitUsage},
		{"version --help", "Print the version", "", 0},
		{"help version", "Print the version", "", 0},
		{"help completion bash", "Generate the autocompletion script for the bash shell", "", 0},
		{"-dim", "", "did you mean --dim?", ExitUsage},
		{"--nothing", "", "(see lamp --help)", ExitUsage},
		{"-b 13", "", "lamp: unlucky\nlamp: really\n", ExitFailure},
		{"__complete --colour r", "red\ngreen\n", "", 0},
		{"__complete --b", "--bulbs\t", "", 0},
	} {
		_, code, out, errs := light(environment(), strings.Fields(c.args)...)
		if code != c.code || !strings.Contains(out, c.out) || !strings.Contains(errs, c.errs) || c.errs != "" && out != "" {
			t.Errorf("%s: exit %d, %q, %q", c.args, code, out, errs)
		}
	}
}
