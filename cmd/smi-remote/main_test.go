package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rocwire/rocwire/cmd/smi-remote/internal/text"
	"github.com/rocwire/rocwire/internal/version"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
	"github.com/rocwire/rocwire/smiremote"
	"github.com/rocwire/rocwire/smiremote/remotetest"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files anew")

func TestMain(m *testing.M) {
	time.Local = time.UTC
	now = func() time.Time { return smitest.Then }
	os.Exit(m.Run())
}

// call runs the program with --host for each of the workers.
func call(t *testing.T, workers []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return callUntil(t, t.Context(), workers, args...)
}

func callUntil(t *testing.T, ctx context.Context, workers []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	env := map[string]string{"TF_WORKER_HOST": strings.Join(workers, ",")}
	var out, errs bytes.Buffer
	code = run(ctx, args, func(k string) string { return env[k] }, strings.NewReader(""), &out, &errs)
	return code, out.String(), errs.String()
}

// worker1 serves a source in the test's process.
func worker1(t *testing.T, src smi.Source) string {
	return remotetest.Start(t, "", smiremote.HandlerOptions{Source: src, Sessions: smitest.Clients{}, Calls: someCalls(1), AllowSet: true}).Addr
}

func cards(t *testing.T, cards ...smi.DeviceSnapshot) []string {
	return []string{worker1(t, smitest.NewFake(cards...))}
}

// golden compares got with a file.
func golden(t *testing.T, file, got string) {
	t.Helper()
	file = filepath.Join("testdata", file)
	if *rewrite {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant (go test -rewrite writes it anew)\n%s", file, got, want)
	}
}

// checkForm checks what any output of its kind has to be.
func checkForm(t *testing.T, args, out string) {
	t.Helper()
	switch {
	case strings.Contains(args, "--json"):
		var doc map[string]any
		if err := json.Unmarshal([]byte(out), &doc); err != nil {
			t.Errorf("%s: JSON: %v", args, err)
		}
		if _, ok := doc["errors"].([]any); !ok {
			t.Errorf("%s: JSON without a list of errors", args)
		}
	case strings.Contains(args, "--csv"):
		if strings.Count(out, "\r\n") != strings.Count(out, "\n") {
			t.Errorf("%s: lines do not end in CR LF", args)
		}
		rows, err := csv.NewReader(strings.NewReader(out)).ReadAll() // checks that all rows are as long
		if err != nil || len(rows) == 0 {
			t.Errorf("%s: CSV: %d rows, %v", args, len(rows), err)
		}
		seen := map[string]bool{}
		for _, name := range rows[0] {
			if name == "" || seen[name] {
				t.Errorf("%s: column %q", args, name)
			}
			seen[name] = true
		}
	default:
		checkWidth(t, args, out)
	}
}

func checkWidth(t *testing.T, args, out string) {
	t.Helper()
	for line := range strings.Lines(out) {
		if n := text.Width(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%s: %d characters: %s", args, n, line)
		}
	}
}

// commands of the golden files.
var shown = []string{
	"list", "metrics", "metrics 0", "metrics 1", "info", "info 0", "power", "power 0", "processes", "topology", "topology 1", "firmware", "firmware 0",
	"ecc", "ecc 0", "partitions", "partitions 0", "xgmi", "xgmi 0", "bad-pages", "sessions", "calls",
}

// TestOverview: without a command there are the cards, and who uses them.
func TestOverview(t *testing.T) {
	for name, workers := range map[string][]string{
		"machine": {worker1(t, smitest.NewMachine(3, 2))}, "poor": cards(t, smitest.Cards()...), "none": cards(t),
		"several": {worker1(t, smitest.NewMachine(2, 1)), worker1(t, smitest.NewFake(smitest.Cards()...))},
	} {
		for _, form := range []string{"", "--json"} {
			code, out, errs := call(t, workers, strings.Fields(form)...)
			checkForm(t, form, out)
			out += fmt.Sprintf("--- exit %d\n%s", code, errs)
			for i, w := range workers {
				out = strings.ReplaceAll(out, w, "127.0.0.1:1000"+string(rune('0'+i)))
			}
			golden(t, filepath.Join("overview", name+strings.TrimPrefix(form, "--")+".txt"), out)
		}
	}
}

// variants are further forms of them.
var variants = []string{"calls MEMCPY --side client", "calls --slowest"}

// goldens runs every command in every form against workers.
func goldens(t *testing.T, dir string, workers []string) {
	for _, command := range append(slices.Clone(shown), variants...) {
		for _, form := range []string{"", " --json", " --csv"} {
			args := command + form
			t.Run(args, func(t *testing.T) {
				code, out, errs := call(t, workers, strings.Fields(args)...)
				checkForm(t, args, out)
				var b strings.Builder
				b.WriteString(out)
				if errs != "" {
					b.WriteString("--- stderr\n" + errs)
				}
				if code != 0 {
					b.WriteString("--- exit " + string(rune('0'+code)) + "\n")
				}
				got := b.String()
				for i, w := range workers {
					got = strings.ReplaceAll(got, w, "127.0.0.1:1000"+string(rune('0'+i)))
				}
				golden(t, filepath.Join(dir, strings.NewReplacer(" ", "_", "--", "").Replace(args)+".txt"), strings.ReplaceAll(got, "\r\n", "\n"))
			})
		}
	}
}

// A machine that tells everything.
func TestMachine(t *testing.T) { goldens(t, "machine", []string{worker1(t, smitest.NewMachine(3, 2))}) }

// A machine of which little is known.
func TestPoor(t *testing.T) { goldens(t, "poor", cards(t, smitest.Cards()...)) }

// Several workers.
func TestSeveral(t *testing.T) {
	goldens(t, "several", []string{worker1(t, smitest.NewMachine(2, 1)), worker1(t, smitest.NewFake(smitest.Cards()...))})
}

// The help of every command.
func TestHelp(t *testing.T) {
	for _, c := range []string{
		"", "list", "metrics", "info", "power", "topology", "firmware", "ecc", "partitions", "xgmi", "bad-pages", "processes", "sessions", "session",
		"session kill", "workers", "calls", "top", "watch", "events", "set", "set power-cap", "set clock", "set reset", "fleet", "fleet gres", "sim", "sim set", "sim clear", "sim scenario",
		"version",
	} {
		code, out, errs := call(t, []string{"localhost"}, append(strings.Fields(c), "--help")...)
		if code != 0 || errs != "" {
			t.Errorf("%s --help: exit %d, %q", c, code, errs)
		}
		checkWidth(t, c+" --help", out)
		golden(t, filepath.Join("help", "smi-remote"+strings.ReplaceAll(" "+c, " ", "_")+".txt"), out)
		code, again, _ := call(t, []string{"localhost"}, append([]string{"help"}, strings.Fields(c)...)...)
		if code != 0 || again != out {
			t.Errorf("help %s differs from %s --help:\n%s", c, c, again)
		}
	}
}

func TestUsage(t *testing.T) {
	workers := cards(t, smitest.Cards()...)
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"--csv", 2, "--csv is of one table"},
		{"frobnicate", 2, `there is no command "frobnicate" (see smi-remote --help)`},
		{"metric", 2, "did you mean metrics?"},
		{"set", 2, "no command behind smi-remote set; there are power-cap, "},
		{"sim frob", 2, `there is no command "frob"; there are set, clear, scenario (see smi-remote sim --help)`},
		{"frobnicate --help", 2, `there is no command "frobnicate"`},
		{"help lst", 2, "did you mean list"},
		{"sessions more", 2, `"more" is too much`},
		{"version more", 2, `"more" is too much`},
		{"info abc", 2, `"abc" is not a GPU`},
		{"info 0x0", 2, `"0x0" is not a GPU`},
		{"metrics 1.5", 2, `"1.5" is not a GPU`},
		{"metrics 99999999999999", 4, "there is no GPU 99999999999999"}, // the start of a UUID, perhaps
		{"metrics -1", 2, "unknown shorthand flag: '1' in -1"},
		{"info 2", 4, "no GPU 2: there are GPUs 0 to 1"},
		{"metrics 17", 4, "no GPU 17: there are GPUs 0 to 1"},
		{"ecc c2:00.0", 4, "there is no GPU c2:00.0"},
		{"power 12ff74a2", 4, "there is no GPU 12ff74a2"},
		{"list --port 0", 2, `"0" is not a port`},
		{"list --port 65536", 2, `"65536" is not a port`},
		{"list --port http", 2, `"http" is not a port`},
		{"list --host a:0", 2, `"0" is not a port`},
		{"list --host unix:", 2, `"unix:" is not a worker`},
		{"list --host a,,b", 2, `"" is not a worker`},
		{"list --host [::1", 2, `"[::1" is not a worker`},
		{"list --host a/b", 2, `"a/b" is not a worker`},
		{"list --timeout 0s", 2, "is not more than 0"},
		{"list --timeout soon", 2, `--timeout "soon" is no time such as`},
		{"list --nonsense", 2, "unknown flag: --nonsense (see smi-remote list --help)"},
		{"list --json --csv", 2, "--json or --csv, not both"},
		{"watch", 2, "watch which command?"},
		{"watch top", 2, "watch which command?"},
		{"watch list --nonsense", 2, "unknown flag: --nonsense"},
		{"watch -n 0 list", 2, "-n 0 is not"},
		{"watch -n NaN list", 2, "-n NaN is not"},
		{"top -n 0", 2, "-n 0 is not"},
		{"calls -n 0", 2, "-n 0 is not"},
		{"calls --sort size", 2, "none of time, rate"},
		{"calls --side queue", 2, "neither client nor worker"},
		{"top", 2, "top needs a terminal"},
		{"session kill", 2, "usage: smi-remote session kill ID..."},
		{"session kill 1 --host a,b", 2, "which worker"},
		{"set power-cap 0", 2, "usage: smi-remote set power-cap GPU WATTS"},
		{"set power-cap 0 much", 2, `"much" is no power in watts`},
		{"set power-cap 0 -5", 2, "unknown shorthand flag"},
		{"set power-cap 7 100", 4, "no GPU 7"},
		{"set clock 0 gfx 1000", 2, `"1000" is no range of a clock`},
		{"set clock 0 gfx 1000-500", 2, "above the upper one"},
		{"set clock 0 gfx 1000-5THz", 2, `"5THz" is no frequency`},
		{"set fan 0 120%", 2, "more than 100%"},
		{"set fan 0 60", 2, `"60" is no speed of a fan`},
		{"set reset 0", 2, "say --yes"},
		{"sim set", 2, "usage: smi-remote sim set FAULT"},
		{"sim set flood", 2, `there is no fault "flood"; there are: ecc, thermal`},
		{"sim set ecc", 2, "which GPU? There are 2"},
		{"sim set ecc 0 colour=red", 2, `ecc has no setting "colour"; there are: block, error, count`},
		{"sim set hang 0 for=1s", 2, `hang has no setting "for": it has none`},
		{"sim set ecc 0 count=many", 2, "count=many"},
		{"sim set ecc 0 1", 2, `"1" is too much`},
		{"sim clear ecc 0", 2, "there is nothing to clear"},
		{"sim scenario", 2, "usage: smi-remote sim scenario FILE"},
		{"sim scenario no-such-file", 1, "no-such-file"},
	} {
		code, out, errs := call(t, workers, strings.Fields(c.args)...)
		if code != c.code || out != "" || !strings.Contains(errs, c.want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%q: exit %d, %q, %q; want %d, %q", c.args, code, out, errs, c.code, c.want)
		}
	}
}

// The version is one, whatever way it is asked for.
func TestVersion(t *testing.T) {
	for _, args := range []string{"--version", "version"} {
		if code, out, errs := call(t, nil, args); code != 0 || out != "smi-remote "+version.String()+"\n" || errs != "" {
			t.Errorf("%s: exit %d, %q, %q", args, code, out, errs)
		}
	}
}

// Cards are found by number, PCI address and UUID.
func TestSelect(t *testing.T) {
	workers := []string{worker1(t, smitest.NewMachine(3, 0))}
	for words, want := range map[string]string{
		"0": "0", "2 0": "0 2", "0000:22:00.0": "1", "22:00.0": "1", "10ff": "0", "GPU-11FF74": "1", "12ff74a1-0000-1000-8012-3456789abcde": "2", "1 22:00.0": "1",
	} {
		code, out, errs := call(t, workers, append([]string{"list", "--csv", "--no-header"}, strings.Fields(words)...)...)
		rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
		var got []string
		for _, r := range rows {
			got = append(got, r[1])
		}
		if code != 0 || err != nil || strings.Join(got, " ") != want {
			t.Errorf("%q: exit %d, %v, %v, %q; want %s", words, code, got, err, errs, want)
		}
	}
	same := smitest.Machine(2, 0)
	same[1].Device.UUID = "10ff0000-0000-1000-8012-3456789abcde"
	if code, _, errs := call(t, cards(t, same...), "list", "10ff"); code != 2 || !strings.Contains(errs, "of 2 GPUs") {
		t.Errorf("two that begin alike: exit %d, %q", code, errs)
	}
}
