package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/internal/freeport"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
	"github.com/rocwire/rocwire/smiremote"
	"github.com/rocwire/rocwire/smiremote/remotetest"
)

// callWith runs the program in an environment.
func callWith(t *testing.T, env map[string]string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), args, func(k string) string { return env[k] }, strings.NewReader(""), &out, &errs)
	return code, out.String(), errs.String()
}

// fleetOf is a configuration file with workers of every kind: one that is well, one whose cards have troubles, one that is not there.
func fleetOf(t *testing.T) (config string, replace *strings.Replacer) {
	t.Helper()
	ill := smitest.Machine(2, 0)
	ill[0].ECC.Uncorrectable = smi.Opt[uint64]{} // it tells the errors of its parts, and no total
	ill[0].ECC.Blocks[0].Uncorrectable = smi.Some(uint64(3))
	ill[1].Metrics, ill[1].MetricsErr = nil, &smi.Failure{Code: smi.ErrTimeout, Detail: "no answer within 2s"}
	well := remotetest.Start(t, "", smiremote.HandlerOptions{Source: smitest.NewFake(healthy(2)...), Sessions: smitest.Clients{}, Version: "v1.2.3", Backend: "sim"}).Addr
	sick := remotetest.Start(t, "", smiremote.HandlerOptions{Source: smitest.NewFake(ill...), Sessions: smitest.Clients{}, Version: "v1.2.3", Backend: "amdsmi"}).Addr
	gone := freeport.Nobody(t)
	config = filepath.Join(t.TempDir(), "config.yaml")
	text := fmt.Sprintf("workers:\n  alpha: {address: '%s'}\n  beta: {address: '%s'}\n  gamma: {address: '%s'}\n", well, sick, gone)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	host, _ := os.Hostname()
	return config, strings.NewReplacer(well, "127.0.0.1:10001", sick, "127.0.0.1:10002", gone, "127.0.0.1:10003", `"machine": "`+host+`"`, `"machine": "here"`, ","+host+",", ",here,")
}

// healthy are cards without errors.
func healthy(n int) []smi.DeviceSnapshot {
	cards := smitest.Machine(n, 2)
	for i := range cards {
		cards[i].ECC.Uncorrectable = smi.Some(uint64(0))
	}
	return cards
}

// What differs from run to run.
var (
	seconds        = regexp.MustCompile(`"uptime_seconds": [0-9.e-]*[1-9][0-9.e-]*`)
	csvSeconds     = regexp.MustCompile(`sim,[0-9.e-]+,ok`)
	csvSecondsSick = regexp.MustCompile(`amdsmi,[0-9.e-]+,degraded`)
)

func TestFleet(t *testing.T) {
	config, replace := fleetOf(t)
	for _, form := range []string{"", "--json", "--csv"} {
		code, out, errs := callWith(t, map[string]string{"ROCWIRE_CONFIG": config, "TF_WORKER_HOST": "not.asked.invalid"}, append([]string{"fleet"}, strings.Fields(form)...)...)
		checkForm(t, "fleet "+form, out)
		out = replace.Replace(out)
		out = seconds.ReplaceAllString(out, `"uptime_seconds": 1`)
		out = csvSeconds.ReplaceAllString(out, "sim,1,ok")
		out = csvSecondsSick.ReplaceAllString(out, "amdsmi,1,degraded")
		golden(t, filepath.Join("fleet", "fleet"+strings.TrimPrefix(form, "--")+".txt"), strings.ReplaceAll(out, "\r\n", "\n")+fmt.Sprintf("--- exit %d\n%s", code, replace.Replace(errs)))
	}
}

// names are the workers that fleet shows, by name and state.
func names(t *testing.T, out string) (list []string) {
	t.Helper()
	var doc struct {
		Workers []fleetRow `json:"workers"`
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, w := range doc.Workers {
		list = append(list, w.Name+" "+w.State)
	}
	return list
}

// Workers are those of files and servers; the configuration file knows more of those that it names.
func TestFleetSources(t *testing.T) {
	config, _ := fleetOf(t)
	other := worker1(t, smitest.NewFake(healthy(1)...))
	b, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	alpha := strings.Split(string(b), "'")[1]
	file := filepath.Join(t.TempDir(), "w.json")
	doc := fmt.Sprintf(`[{"targets": [%q, %q], "labels": {"name": "found"}}]`, alpha, other)
	if err := os.WriteFile(file, []byte(doc), 0o644); err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if strings.HasPrefix(r.URL.Path, "/v1/catalog/service/") {
			host, port, _ := net.SplitHostPort(other)
			fmt.Fprintf(w, `[{"Node": "consuls", "ServiceAddress": %q, "ServicePort": %s}]`, host, port)
			return
		}
		fmt.Fprint(w, doc)
	}))
	defer srv.Close()
	env := map[string]string{"ROCWIRE_CONFIG": config, "TF_WORKER_HOST": alpha}
	for _, c := range []struct {
		args string
		code int
		want []string
	}{
		{"fleet", 1, []string{"alpha ok", "beta degraded", "gamma unreachable"}},
		{"fleet --host alpha", 0, []string{"alpha ok"}},
		{"fleet --host alpha,gamma", 1, []string{"alpha ok", "gamma unreachable"}},
		{"fleet --host gamma", 3, []string{"gamma unreachable"}},
		{"fleet --workers " + file, 0, []string{"alpha ok", "found ok"}},
		{"fleet --workers " + srv.URL + " --host beta", 0, []string{"beta degraded", "alpha ok", "found ok"}},
		{"fleet --workers consul+" + srv.URL + "/gpu", 0, []string{"consuls ok"}},
		{"fleet --workers " + file + ",consul+" + srv.URL + "/gpu", 0, []string{"alpha ok", "found ok"}},
		{"fleet --workers " + file + "," + srv.URL + "/gone?x --workers missing.json", 1, []string{"alpha ok", "found ok"}},
	} {
		code, out, errs := callWith(t, env, append(strings.Fields(c.args), "--json")...)
		got := names(t, out)
		slices.Sort(got)
		slices.Sort(c.want)
		if code != c.code || !slices.Equal(got, c.want) {
			t.Errorf("%s: exit %d, %q, %s; want %d, %q", c.args, code, got, errs, c.code, c.want)
		}
	}
	// Without a configuration file it is what all other commands ask.
	code, out, _ := callWith(t, map[string]string{"TF_WORKER_HOST": other}, "fleet", "--json")
	if got := names(t, out); code != 0 || len(got) != 1 {
		t.Errorf("exit %d, %q", code, got)
	}
	code, out, errs := callWith(t, env, "fleet", "--workers", "missing.json")
	if code != 1 || !strings.Contains(errs, "missing.json") || strings.Contains(out, "WORKER") {
		t.Errorf("a list that is not there: exit %d, %s%s", code, out, errs)
	}
	if code, _, errs := callWith(t, env, "fleet", "--workers", "ftp://x"); code != 2 || !strings.Contains(errs, "--workers") {
		t.Errorf("no source: exit %d, %s", code, errs)
	}
}

// Many workers that say nothing take as long as one of them.
func TestFleetSilent(t *testing.T) {
	var targets []string
	for range 40 {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer ln.Close()
		targets = append(targets, ln.Addr().String())
	}
	b, _ := json.Marshal([]map[string][]string{{"targets": targets}})
	file := filepath.Join(t.TempDir(), "w.json")
	if err := os.WriteFile(file, b, 0o644); err != nil {
		t.Fatal(err)
	}
	code, out, _ := callWith(t, nil, "fleet", "--workers", file, "--timeout", "200ms", "--json")
	if got := names(t, out); code != 3 || len(got) != 40 || strings.Count(out, `"state": "unreachable"`) != 40 {
		t.Errorf("exit %d, %d workers: %s", code, len(got), out)
	}
	if !strings.Contains(out, "no answer") {
		t.Errorf("no reason: %s", out)
	}
}

// gres takes the same sources, and no fleet that is not whole.
func TestFleetGresSources(t *testing.T) {
	dir := t.TempDir()
	file, layout := filepath.Join(dir, "w.json"), filepath.Join(dir, "layout.yaml")
	addr := worker1(t, smitest.NewFake(healthy(2)...))
	for doc, want := range map[string]int{fmt.Sprintf(`[{"targets": [%q]}]`, addr): 0, fmt.Sprintf(`[{"targets": [%q, "no good"]}]`, addr): 1} {
		if err := os.WriteFile(file, []byte(doc), 0o644); err != nil {
			t.Fatal(err)
		}
		code, out, errs := callWith(t, nil, "fleet", "gres", "--workers", file, "--nodes", "n1", "--layout", layout)
		if code != want || want == 0 && !strings.Contains(out, "NodeName=n1") {
			t.Errorf("%s: exit %d, %s%s", doc, code, out, errs)
		}
	}
}
