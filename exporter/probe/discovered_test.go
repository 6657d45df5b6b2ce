package probe

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/rocwire/rocwire/discovery"
)

func TestDiscoveredMetrics(t *testing.T) {
	file := filepath.Join(t.TempDir(), "w.json")
	if err := os.WriteFile(file, []byte(`[{"targets": ["a", "b"]}]`), 0o644); err != nil {
		t.Fatal(err)
	}
	d, err := discovery.New(discovery.Options{Sources: []string{file, file + ".gone.json"}})
	if err != nil {
		t.Fatal(err)
	}
	d.Refresh(t.Context())
	reg := prometheus.NewPedanticRegistry()
	reg.MustRegister(Discovered{Discovery: d})
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	if problems, err := promlint.NewWithMetricFamilies(families).Lint(); err != nil || len(problems) > 0 {
		t.Errorf("%v %v", problems, err)
	}
	got := map[string]float64{}
	for _, f := range families {
		for _, m := range f.Metric {
			got[f.GetName()+" "+filepath.Base(m.Label[0].GetValue())] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	success := got["gpu_exporter_discovery_last_success_timestamp_seconds w.json"]
	delete(got, "gpu_exporter_discovery_last_success_timestamp_seconds w.json")
	want := map[string]float64{
		"gpu_exporter_discovery_targets w.json": 2, "gpu_exporter_discovery_targets w.json.gone.json": 0,
		"gpu_exporter_discovery_failures_total w.json": 0, "gpu_exporter_discovery_failures_total w.json.gone.json": 1,
	}
	if !reflect.DeepEqual(got, want) || success < 1e9 {
		t.Errorf("%v, %v", got, success)
	}
}
