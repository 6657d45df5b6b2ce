package collector

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write docs/metrics-compat.md anew")

// The list is AMD's, nothing left out and nothing invented.
func TestCompatNames(t *testing.T) {
	b, err := os.ReadFile("testdata/device-metrics-exporter-1.5.2.tsv") // names and the labels of their own
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for line := range strings.Lines(string(b)) {
		want = append(want, strings.TrimRight(line, "\n"))
	}
	for _, n := range compatList() {
		labels := slices.Sorted(slices.Values(n.labels))
		got = append(got, n.name+"\t"+strings.Join(labels, ","))
		if (n.absent == "") == (n.help == "") {
			t.Errorf("%s: either it is served and explained, or it says why not: %+v", n.name, n)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	for i, w := range want {
		name, labels, _ := strings.Cut(w, "\t")
		l := strings.Split(labels, ",")
		slices.Sort(l)
		want[i] = name + "\t" + strings.Join(l, ",")
	}
	if len(want) != 194 || !slices.Equal(got, want) {
		t.Errorf("%d names, want %d:\n%s\nwant\n%s", len(got), len(want), strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// What the table calls our own metric is one.
func TestCompatOurs(t *testing.T) {
	own := map[string]bool{}
	for _, m := range metrics {
		own[m.name] = !m.compat
	}
	word, selector := regexp.MustCompile(`\b(gpu|hip|pcie)_[a-z_]+\b`), regexp.MustCompile(`\{.*\}`)
	for _, n := range compatList() {
		for _, w := range word.FindAllString(selector.ReplaceAllString(n.ours, ""), -1) {
			if !own[w] {
				t.Errorf("%s: %s is no metric of ours", n.name, w)
			}
		}
	}
	for name, m := range compatMetrics {
		for _, o := range metrics {
			if o.name == name && o != m {
				t.Errorf("%s is ours, too", name)
			}
		}
	}
}

func TestCompatTable(t *testing.T) {
	var b strings.Builder
	list := compatList()
	served := 0
	for _, n := range list {
		if n.absent == "" {
			served++
		}
	}
	fmt.Fprintf(&b, "# AMD's metric names\n\n"+
		"Made by `go test ./exporter/collector -rewrite`; do not edit.\n\n"+
		"With `--metrics-compat=device-metrics-exporter` the names of AMD's device-metrics-exporter 1.5.2 are served beside ours, in AMD's units and with\n"+
		"AMD's labels, so that its dashboards and alerts work: %d of %d. The others are absent, for the reason given.\n\n"+
		"* All are gauges, as AMD has them, also what only grows.\n"+
		"* The labels `%s` are on every series; `gpu_nodes_total` has `hostname` alone.\n"+
		"* `kfd_process_id` is empty: AMD's list of all processes of the GPU would end every series of the GPU and begin new ones whenever a process\n"+
		"  starts or ends. Who uses a GPU is told by `gpu_process_info`, `gpu_process_vram_bytes` and their like.\n"+
		"* `pod`, `namespace`, `container` and `job_…` are filled in with `--compat-owner-labels`, of GPUs that one container was allocated, or on which processes of one Slurm job are;\n"+
		"  otherwise they are empty: a change of owner ends every series of the GPU. `gpu_allocation_info` has all owners, `gpu_process_info` containers and pods by process.\n"+
		"* `serial_number` and `card_model` are the board's, or else the chip's and the card's market name. What is not known is empty.\n"+
		"* `gpu_health` is 0 if the GPU does not answer although its machine does, had an uncorrectable error since its driver was loaded, or has as many bad\n"+
		"  pages as its limit; it is absent while nothing is known. `--health-thresholds` says otherwise, such as `uncorrectable=2,umc=0,bad-pages=8`.\n\n"+
		"| AMD's name | Labels of its own | Served | Our own metric |\n|---|---|---|---|\n", served, len(list), strings.Join(compatLabels, "`, `"))
	slices.SortFunc(list, func(a, b compatName) int { return strings.Compare(a.name, b.name) })
	for _, n := range list {
		yes, ours := n.help, ""
		if n.absent != "" {
			yes = "no: " + n.absent
		}
		if n.ours != "" {
			ours = "`" + strings.ReplaceAll(n.ours, "|", "\\|") + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", n.name, strings.Join(n.labels, ", "), yes, ours)
	}
	const file = "../../docs/metrics-compat.md"
	if *rewrite {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if page, err := os.ReadFile(file); err != nil || string(page) != b.String() {
		t.Errorf("%s is of other names (go test -rewrite writes it anew): %v", file, err)
	}
}
