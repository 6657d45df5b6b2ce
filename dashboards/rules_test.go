package dashboards

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v2"
)

const docs = "../docs/dashboards.md"

// rule is one of a file of rules.
type rule struct {
	Alert, Record, Expr, For string
	Labels, Annotations      map[string]string
}

func rules(t *testing.T) (list []rule) {
	t.Helper()
	for _, name := range glob(t, "rules/*.yaml") {
		var f struct {
			Groups []struct{ Rules []rule }
		}
		readYAML(t, name, &f)
		for _, g := range f.Groups {
			list = append(list, g.Rules...)
		}
	}
	return list
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) == 0 {
		t.Fatalf("%s: %d files, %v", pattern, len(names), err)
	}
	return names
}

func readYAML(t *testing.T, name string, v any) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err == nil {
		err = yaml.Unmarshal(b, v)
	}
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// promtool accepts the rules, and they do what their tests say.
func TestRules(t *testing.T) {
	if testing.Short() {
		t.Skip("takes 10 s of promtool")
	}
	for _, args := range [][]string{
		append([]string{"check", "rules", "--lint-fatal"}, glob(t, "rules/*.yaml")...),
		append([]string{"test", "rules"}, glob(t, "rules/tests/*.yaml")...),
	} {
		if out, err := tool(t, "promtool", args...).CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", args[0], err, out)
		}
	}
}

// Every rule has a test: an alert one in which it fires and one in which it does
// not, though data are there.
func TestRulesAreTested(t *testing.T) {
	fires, quiet, recorded := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, name := range glob(t, "rules/tests/*.yaml") {
		var f struct {
			Tests []struct {
				Alerts []struct {
					Name string        `yaml:"alertname"`
					Exp  []interface{} `yaml:"exp_alerts"`
				} `yaml:"alert_rule_test"`
				Exprs []struct {
					Expr string
					Exp  []interface{} `yaml:"exp_samples"`
				} `yaml:"promql_expr_test"`
			}
		}
		readYAML(t, name, &f)
		for _, test := range f.Tests {
			for _, a := range test.Alerts {
				fires[a.Name] = fires[a.Name] || len(a.Exp) > 0
				quiet[a.Name] = quiet[a.Name] || len(a.Exp) == 0
			}
			for _, e := range test.Exprs {
				recorded[e.Expr] = len(e.Exp) > 0
			}
		}
	}
	for _, r := range rules(t) {
		if r.Record != "" {
			if !recorded[r.Record] {
				t.Errorf("%s is not tested", r.Record)
			}
			continue
		}
		if !fires[r.Alert] || !quiet[r.Alert] {
			t.Errorf("%s: a test in which it fires: %v, in which it does not: %v", r.Alert, fires[r.Alert], quiet[r.Alert])
		}
	}
}

var chapter = regexp.MustCompile(`(?m)^### (Rocwire\w+)$`)

// Every alert says how bad it is, what is wrong, and where to read on; and that is there.
func TestAlertsAreDocumented(t *testing.T) {
	b, err := os.ReadFile(docs)
	if err != nil {
		t.Fatal(err)
	}
	var chapters, alerts []string
	for _, m := range chapter.FindAllStringSubmatch(string(b), -1) {
		chapters = append(chapters, m[1])
	}
	for _, r := range rules(t) {
		if r.Alert == "" {
			continue
		}
		alerts = append(alerts, r.Alert)
		if !slices.Contains([]string{"critical", "warning", "info"}, r.Labels["severity"]) {
			t.Errorf("%s: severity %q", r.Alert, r.Labels["severity"])
		}
		if r.For == "" && !strings.Contains(r.Expr, "increase(") {
			t.Errorf("%s fires at once, though what it looks at is no event", r.Alert)
		}
		if r.Annotations["summary"] == "" || !strings.HasSuffix(r.Annotations["description"], ".") {
			t.Errorf("%s: %q", r.Alert, r.Annotations)
		}
		if !strings.HasSuffix(r.Annotations["runbook_url"], "/docs/dashboards.md#"+strings.ToLower(r.Alert)) {
			t.Errorf("%s: runbook %s", r.Alert, r.Annotations["runbook_url"])
		}
	}
	slices.Sort(alerts)
	slices.Sort(chapters)
	if !slices.Equal(alerts, chapters) {
		t.Errorf("%s has chapters on %q; the alerts are %q", docs, chapters, alerts)
	}
}

// The stand raises some alerts: errors, heat and failing calls were injected, one
// sink is down, and made-up local programs are not counted in full. Those that look
// at five minutes may come too late for the test. No other alert may come.
var (
	raisedAtOnce = []string{"RocwireGPUHot", "RocwireGPUUncorrectableECC", "RocwireSinkDown", "RocwireSinkDrops"}
	raisedLater  = []string{"RocwireCallsFail", "RocwireGPUThrottled", "RocwireLocalUncounted"}
)

// testLiveRules: the rules work on what real workers tell. Recorded series are
// there, and alerts read nothing that there is not.
func testLiveRules(t *testing.T, p *server) {
	list := rules(t)
	var health []struct{ Name, Health, LastError string }
	eventually(t, time.Minute, "all rules were evaluated", func() bool {
		raw, err := p.ask("rules", nil)
		if err != nil {
			t.Fatal(err)
		}
		health = nil
		for _, g := range parse[struct {
			Groups []struct{ Rules []json.RawMessage }
		}](t, raw).Groups {
			for _, r := range g.Rules {
				health = append(health, parse[struct{ Name, Health, LastError string }](t, r))
			}
		}
		return !slices.ContainsFunc(health, func(h struct{ Name, Health, LastError string }) bool { return h.Health == "unknown" })
	})
	if len(health) != len(list) {
		t.Errorf("Prometheus has %d rules of %d", len(health), len(list))
	}
	for _, h := range health {
		if h.Health != "ok" {
			t.Errorf("%s: %s: %s", h.Name, h.Health, h.LastError)
		}
	}
	for _, r := range list {
		if r.Record != "" {
			if got, err := p.query(r.Record, true); err != nil || len(got) == 0 {
				t.Errorf("%s: %d series, %v", r.Record, len(got), err)
			}
			continue
		}
		tree, err := p.parseExpr(r.Expr)
		if err != nil {
			t.Errorf("%s: %v", r.Alert, err)
			continue
		}
		for _, name := range tree.metrics() {
			if got, err := p.query("count("+name+")", true); err != nil || len(got) == 0 {
				t.Errorf("%s reads %s, which nothing tells (%v)", r.Alert, name, err)
			}
		}
	}
	raised, err := p.query("count by (alertname) (ALERTS)", true)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range raised {
		names = append(names, r.labels["alertname"])
	}
	for _, name := range raisedAtOnce {
		if !slices.Contains(names, name) {
			t.Errorf("%s is not among the alerts: %q", name, names)
		}
	}
	for _, name := range names {
		if !slices.Contains(raisedAtOnce, name) && !slices.Contains(raisedLater, name) {
			t.Errorf("%s is among the alerts, and nothing is wrong", name)
		}
	}
}

// Grafana's own files say what the documentation and the dashboards rely on.
func TestProvisioning(t *testing.T) {
	var sources struct {
		APIVersion  int `yaml:"apiVersion"`
		Datasources []struct {
			UID, Type, URL string
			IsDefault      bool `yaml:"isDefault"`
			JSONData       struct {
				HTTPMethod   string `yaml:"httpMethod"`
				TimeInterval string `yaml:"timeInterval"`
			} `yaml:"jsonData"`
		}
	}
	readYAML(t, "provisioning/datasources/prometheus.yaml", &sources)
	d := sources.Datasources
	if sources.APIVersion != 1 || len(d) != 1 || d[0].Type != "prometheus" || !d[0].IsDefault || d[0].URL == "" || d[0].JSONData.HTTPMethod != "POST" {
		t.Errorf("data sources: %+v", sources)
	}
	if _, err := time.ParseDuration(d[0].JSONData.TimeInterval); err != nil {
		t.Error(err)
	}
	var providers struct {
		APIVersion int `yaml:"apiVersion"`
		Providers  []struct {
			Type           string
			AllowUIUpdates bool `yaml:"allowUiUpdates"`
			Options        struct{ Path string }
		}
	}
	readYAML(t, "provisioning/dashboards/rocwire.yaml", &providers)
	b, err := os.ReadFile(docs)
	if err != nil {
		t.Fatal(err)
	}
	p := providers.Providers
	if providers.APIVersion != 1 || len(p) != 1 || p[0].Type != "file" || p[0].AllowUIUpdates || !strings.Contains(string(b), ":"+p[0].Options.Path+":") {
		t.Errorf("providers: %+v", providers)
	}
}
