package dashboards

import (
	"encoding/json"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

// Grafana's schema knows every field of the files and every kind of panel, but for
// the words of annotations, which belong to the Prometheus data source.
func TestGrafanaSchema(t *testing.T) {
	plugins.RegisterDefaultPlugins()
	files, err := Files()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		m := parse[map[string]any](t, f.JSON)
		marks, _ := m["annotations"].(map[string]any)["list"].([]any)
		for _, one := range marks {
			for _, field := range []string{"titleFormat", "textFormat", "step", "target"} {
				delete(one.(map[string]any), field)
			}
		}
		raw, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		var d dashboard.Dashboard
		if err := d.UnmarshalJSONStrict(raw); err != nil {
			t.Errorf("%s: %v", f.Name, err)
			continue
		}
		if err := d.Validate(); err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
	}
}
