package docs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v2"

	"github.com/rocwire/rocwire/internal/debtree"
	"github.com/rocwire/rocwire/internal/dialing"
	"github.com/rocwire/rocwire/internal/keys"
	"github.com/rocwire/rocwire/internal/slurm"
	"github.com/rocwire/rocwire/worker/access"
)

// TestBlocks: each block says what it is, and is that.
func TestBlocks(t *testing.T) {
	kinds := map[string]func(t *testing.T, b block){
		"sh":         func(*testing.T, block) {}, // TestCommands
		"console":    func(*testing.T, block) {}, // likewise
		"text":       func(*testing.T, block) {}, // what is shown
		"hex":        func(*testing.T, block) {}, // the tests of wire and hip/hiprpc
		"ini":        unit,
		"yaml":       settings,
		"promql":     queries,
		"sql":        columns,
		"json":       values,
		"go":         program,
		"c":          excerpt,
		"powershell": powershell,
	}
	seen := map[string]bool{}
	for _, page := range pages(t) {
		for _, b := range blocks(t, page) {
			seen[b.kind] = true
			if kinds[b.kind] == nil {
				t.Errorf("%s: a block says behind its ``` what it is, such as sh, console (commands behind $, and what they answer), text; not %q", b.where(), b.kind)
				continue
			}
			t.Run(b.where(), func(t *testing.T) { kinds[b.kind](t, b) })
		}
	}
	for kind := range kinds {
		if !seen[kind] {
			t.Errorf("no page has a block of %s", kind)
		}
	}
}

// settings are YAML: of the files that belong to a page's commands TestCommands makes use, the others are judged by who reads them.
func settings(t *testing.T, b block) {
	first, _, _ := strings.Cut(b.text, "\n")
	switch {
	case b.file != "":
		ofCommands(t, b)
	case strings.HasPrefix(first, "scrape_configs:"), strings.HasPrefix(first, "rule_files:"):
		// Paths are from the file's folder: it has what they name.
		dir := t.TempDir()
		if err := os.Symlink(abs(t, "../dashboards"), filepath.Join(dir, "dashboards")); err != nil {
			t.Fatal(err)
		}
		text := b.text
		for _, file := range regexp.MustCompile(`_file: (\S+?)[,}]`).FindAllStringSubmatch(text, -1) {
			text = strings.ReplaceAll(text, file[1], filepath.Join(dir, filepath.Base(file[1])))
		}
		// A CA is read to see whether it is one.
		if err := (&keys.Dir{Path: filepath.Join(dir, "keys")}).Init([]string{"gpu-server"}, nil); err != nil {
			t.Fatal(err)
		}
		if err := os.Link(filepath.Join(dir, "keys", "ca.crt"), filepath.Join(dir, "ca.crt")); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, "gpu-exporter.password"), "secret")
		promtool(t, "check", "config", write(t, filepath.Join(dir, "prometheus.yml"), text))
	case strings.HasPrefix(first, "tokens:"), strings.HasPrefix(first, "oidc:"), strings.HasPrefix(first, "certificates:"):
		digest := regexp.MustCompile(`[0-9a-f]{4}…`)
		text := digest.ReplaceAllStringFunc(b.text, func(s string) string { return strings.Repeat(s[:4], 16) })
		if _, err := access.ParseRules([]byte(text)); err != nil {
			t.Error(err)
		}
	case strings.HasPrefix(first, "nodes:"):
		if l, err := slurm.ParseLayout([]byte(b.text)); err != nil || len(l.Nodes) == 0 {
			t.Errorf("%v, %v", l, err)
		}
	case strings.HasPrefix(first, "volumes:"), strings.HasPrefix(first, "spec:"), strings.HasPrefix(first, "apiVersion:"): // TestPages of deploy/check
	default:
		t.Errorf("nobody reads it; if it is a file of the page's commands, name that: ```%s FILE", b.kind)
	}
}

// ofCommands: the file with workers is taken by who reads it; the others are given to a program by their path, see TestCommands.
func ofCommands(t *testing.T, b block) {
	if !found(b) {
		return
	}
	file := write(t, filepath.Join(t.TempDir(), "config.yaml"), b.text)
	var named struct{ Workers map[string]any }
	if err := yaml.Unmarshal([]byte(b.text), &named); err != nil || len(named.Workers) == 0 {
		t.Errorf("%d workers, %v", len(named.Workers), err)
	}
	for name := range named.Workers {
		workers, err := dialing.Workers(name, "", dialing.Settings{}, func(v string) string { return map[string]string{dialing.FileVariable: file}[v] })
		if err != nil || len(workers) != 1 || workers[0].Name != name {
			t.Errorf("%s: %+v, %v", name, workers, err)
		}
	}
}

// found: a file that programs find without being told of it.
func found(b block) bool { return filepath.Base(b.file) == "config.yaml" }

// queries are one below another, each with a comment, or several lines with nothing between.
func queries(t *testing.T, b block) {
	var rules strings.Builder
	rules.WriteString("groups:\n- name: docs\n  rules:\n")
	n := 0
	for line := range strings.Lines(b.text) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		n++
		fmt.Fprintf(&rules, "  - record: docs:query%d:x\n    expr: |\n      %s\n", n, line)
	}
	if n == 0 {
		t.Error("no query")
	}
	promtool(t, "check", "rules", write(t, filepath.Join(t.TempDir(), "rules.yml"), rules.String()))
}

func promtool(t *testing.T, args ...string) {
	t.Helper()
	tree := debtree.Path(t)
	tool := filepath.Join(tree, "usr/bin/promtool")
	if _, err := os.Stat(tool); err != nil {
		t.Skipf("SKIPPED, no Prometheus configuration is checked: get promtool with\n\tscripts/fetch_debian.sh %s promtool", tree)
	}
	if out, err := exec.Command(tool, args...).CombinedOutput(); err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args[:2], " "), err, out)
	}
}

// columns: GreptimeDB does not run here. What a query names is in the tables that the page itself lists; that list is checked by exporter/rows.
func columns(t *testing.T, b block) {
	page, err := os.ReadFile(b.page)
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]bool{"ts": strings.Contains(string(page), "`ts`")}
	for _, m := range regexp.MustCompile("(?m)^(?:\\| |### )`?([a-z0-9_]+)`?(?: \\||$)").FindAllStringSubmatch(string(page), -1) {
		have[m[1]] = true
	}
	if len(have) < 50 {
		t.Fatalf("only %d columns", len(have))
	}
	text := regexp.MustCompile(`(?m)--.*$|'[^']*'`).ReplaceAllString(b.text, "")
	for _, m := range regexp.MustCompile(`\bAS ([a-z0-9_]+)|(?:\bWITH|\),) ([a-z]+) AS \(`).FindAllStringSubmatch(text, -1) {
		have[m[1]], have[m[2]] = true, true // names of the query's own
	}
	for _, word := range regexp.MustCompile(`\b[a-z][a-z0-9_]*\b(\()?`).FindAllString(text, -1) {
		if !strings.HasSuffix(word, "(") && !have[word] {
			t.Errorf("there is no column or table %s", word)
		}
	}
	if strings.Count(text, "(") != strings.Count(text, ")") || !strings.HasSuffix(strings.TrimSpace(text), ";") {
		t.Error("it does not end, or its brackets do not")
	}
}

func values(t *testing.T, b block) {
	dec := json.NewDecoder(strings.NewReader(b.text))
	for {
		var v any
		if err := dec.Decode(&v); err == io.EOF {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// program is a piece of one in Go, in which what it needs is declared.
func program(t *testing.T, b block) {
	around := map[string]string{
		"smi-go.md": `package x
import ("context"; "fmt"; "log"; "github.com/rocwire/rocwire/smiremote")
func f(ctx context.Context) error {
%s
return nil }
`,
		"opentelemetry.md": `package x
import ("context"; "github.com/rocwire/rocwire/exporter"; "github.com/rocwire/rocwire/exporter/otlp")
func f(ctx context.Context, exp *exporter.Exporter) error {
%s
return err }
`,
	}
	if around[b.page] == "" {
		t.Fatal("what is around it?")
	}
	dir := t.TempDir()
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{
		abs(t, "zz_snippet/x.go"): write(t, filepath.Join(dir, "x.go"), fmt.Sprintf(around[b.page], b.text)), // as if it lay within the module
	}})
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "build", "-overlay", write(t, filepath.Join(dir, "overlay"), string(overlay)), "./zz_snippet").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// excerpt is C that stands in the examples, but for the comments.
func excerpt(t *testing.T, b block) {
	source, err := os.ReadFile("../examples/bugs/bugs.hip")
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]bool{}
	plain := func(s string) string { s, _, _ = strings.Cut(s, "//"); return strings.Join(strings.Fields(s), " ") }
	for line := range strings.Lines(string(source)) {
		have[plain(line)] = true
	}
	for line := range strings.Lines(b.text) {
		if !have[plain(line)] {
			t.Errorf("examples/bugs/bugs.hip has no line %q", plain(line))
		}
	}
}

// powershell is for Windows, where nothing is run: what it gives to install.ps1 that takes, and its variables are ours.
func powershell(t *testing.T, b block) {
	installer, err := os.ReadFile("../deploy/windows/install.ps1")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.text) {
		_, args, ours := strings.Cut(line, "install.ps1")
		for _, m := range regexp.MustCompile(` -(\w+)`).FindAllStringSubmatch(args, -1) {
			if !bytes.Contains(installer, []byte(".PARAMETER "+m[1])) {
				t.Errorf("install.ps1 does not take -%s", m[1])
			}
		}
		if !ours && !regexp.MustCompile(`^\$env:TF_WORKER_HOST = "`).MatchString(line) {
			t.Errorf("what is %q?", line)
		}
	}
}

// unit is a drop-in for the worker's unit.
func unit(t *testing.T, b block) {
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("systemd-analyze is missing: apt-get install systemd")
	}
	dir := t.TempDir()
	service, err := os.ReadFile("../deploy/systemd/hip-worker.service")
	if err != nil {
		t.Fatal(err)
	}
	// The program is not installed on a machine that only checks.
	installed := strings.NewReplacer("/usr/bin/hip-worker", "/bin/true")
	if !strings.Contains(b.text, "/usr/bin/hip-worker ") {
		t.Error("no command")
	}
	write(t, filepath.Join(dir, "hip-worker.service.d", "override.conf"), installed.Replace(b.text))
	file := write(t, filepath.Join(dir, "hip-worker.service"), installed.Replace(string(service)))
	cmd := exec.Command("systemd-analyze", "verify", "--man=no", file)
	cmd.Env = append(os.Environ(), "SYSTEMD_UNIT_PATH="+dir+":")
	if out, err := cmd.CombinedOutput(); err != nil || len(bytes.TrimSpace(out)) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}

func abs(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func write(t *testing.T, file, text string) string {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(file), 0o755)
	if err == nil {
		err = os.WriteFile(file, []byte(text), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	return file
}
