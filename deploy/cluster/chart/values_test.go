package chart

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/chart/v2/lint"
	"helm.sh/helm/v4/pkg/chart/v2/lint/support"
)

// TestLint: Helm's own linter has nothing to say, but that there is no icon.
func TestLint(t *testing.T) {
	for _, m := range lint.RunAll(folder, map[string]any{}, namespace).Messages {
		if m.Severity > support.InfoSev {
			t.Error(m)
		}
	}
}

// TestSchema: it has every value that values.yaml explains and no other, and refuses what is wrong.
func TestSchema(t *testing.T) {
	var schema map[string]any
	if err := json.Unmarshal(read(t, filepath.Join(folder, "values.schema.json")), &schema); err != nil {
		t.Fatal(err)
	}
	definitions := schema["$defs"].(map[string]any)
	var compare func(where string, s, v map[string]any)
	compare = func(where string, s, v map[string]any) {
		if ref, ok := s["$ref"].(string); ok {
			s = definitions[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
		}
		p, ok := s["properties"].(map[string]any)
		if !ok || s["additionalProperties"] != false {
			return // what Kubernetes takes
		}
		for name, of := range p {
			x, ok := v[name]
			if !ok {
				if !slices.Contains([]string{"global", "limits", "claims"}, name) {
					t.Errorf("values.yaml does not explain %s%s", where, name)
				}
				continue
			}
			if m, ok := x.(map[string]any); ok {
				compare(where+name+".", of.(map[string]any), m)
			}
		}
		for name := range maps.Keys(v) {
			if p[name] == nil {
				t.Errorf("the schema has no %s%s", where, name)
			}
		}
	}
	compare("", schema, loaded(t).Values)

	for _, c := range []struct {
		name  string
		value any
	}{
		{"wroker", true}, {"worker.enbled", true}, {"worker.backend", "cuda"}, {"worker.backend", "auto"}, {"tls.source", "none"}, {"worker.extraArgs", []any{"--insecure"}}, {"exporter.extraArgs", []any{"--insecure"}},
		{"worker.podSecurityContext.runAsUser", 0}, {"worker.podSecurityContext.runAsNonRoot", false}, {"worker.image.digest", "sha256:1"}, {"worker.sim.cards", 0},
		{"worker.quota.compute", 101}, {"worker.quota.memory", "lots"}, {"worker.sessions.park", "soon"}, {"worker.rocm.groups", []any{0}}, {"clients.podLabels", map[string]any{"rocwire.dev/client": true}},
		{"image.pullSecrets", []any{map[string]any{"name": "x"}}}, {"metrics.serviceMonitor.interval", "15"}, {"fullnameOverride", "Rocwire"}, {"worker.access.oidcIssuer", "http://x"},
	} {
		if _, _, err := rendered(t, set(map[string]any{c.name: c.value}), having(nil), operators); err == nil || !strings.Contains(err.Error(), "schema") {
			t.Errorf("%s: %v: %v", c.name, c.value, err)
		}
	}
	for says, dotted := range map[string]map[string]any{
		"lets in nobody":              {"worker.access.serviceAccounts": false},
		"two issuers":                 {"worker.access.oidcIssuer": "https://x"},
		"tls.existing.workerSecret":   {"tls.source": "existing"},
		"tls.existing.exporterSecret": {"tls.source": "existing", "worker.enabled": false, "exporter.enabled": true},
	} {
		if _, _, err := rendered(t, set(dotted), having(nil), operators); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v: %v", dotted, err)
		}
	}
}

// TestFiles: the dashboards and rules in the chart are those of the repository.
func TestFiles(t *testing.T) {
	for dir, from := range map[string]string{"dashboards": "../../../dashboards/*.json", "rules": "../../../dashboards/rules/*.yaml"} {
		files, err := filepath.Glob(from)
		if err != nil || len(files) < 2 {
			t.Fatal(files, err)
		}
		have, err := os.ReadDir(filepath.Join(folder, dir))
		if err != nil || len(have) != len(files) {
			t.Errorf("%s has %d files, there are %d: %v", dir, len(have), len(files), err)
		}
		made := render(t, set(map[string]any{"dashboards.enabled": true, "metrics.rules.enabled": true}), nil)
		for _, f := range files {
			base := filepath.Base(f)
			if dir == "rules" {
				if spec := made.one(t, "PrometheusRule", "rocwire-"+strings.TrimSuffix(base, ".yaml")).Object["spec"]; !sameYAML(t, spec, read(t, f)) {
					t.Errorf("%s is another in the chart", base)
				}
				continue
			}
			name := "rocwire-dashboard-" + strings.TrimPrefix(strings.TrimSuffix(base, ".json"), "rocwire-")
			if data := made.one(t, "ConfigMap", name).Object["data"].(map[string]any); data[base] != string(read(t, f)) {
				t.Errorf("%s is another in the chart", base)
			}
		}
	}
}
