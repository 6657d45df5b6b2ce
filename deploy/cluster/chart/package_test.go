package chart

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"

	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"sigs.k8s.io/yaml"
)

func sameYAML(t *testing.T, have any, want []byte) bool {
	t.Helper()
	b, err := yaml.YAMLToJSON(want)
	if err != nil {
		t.Fatal(err)
	}
	a, err := json.Marshal(have)
	if err != nil {
		t.Fatal(err)
	}
	var x, y any
	if err := json.Unmarshal(a, &x); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &y); err != nil {
		t.Fatal(err)
	}
	return reflect.DeepEqual(x, y)
}

// TestPackage: what a release gives out is this chart with the release's version, the same each time.
func TestPackage(t *testing.T) {
	for stamp, version := range map[string]string{"v1.2.3": "1.2.3", "v0.0.0-20261123082654-0dcc202aaaaa+dirty": "0.0.0-20261123082654-0dcc202aaaaa+dirty"} {
		var files [][]byte
		var c *chart.Chart
		for range 2 {
			dir := t.TempDir()
			if out, err := exec.Command("../../../scripts/chart.sh", stamp, dir).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			name := filepath.Join(dir, "rocwire-"+version+".tgz")
			files = append(files, read(t, name))
			var err error
			if c, err = loader.LoadFile(name); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(files[0], files[1]) {
			t.Error("two runs give two archives")
		}
		if c.Metadata.Version != version || c.Metadata.AppVersion != stamp {
			t.Errorf("%+v", c.Metadata)
		}
		if err := c.Validate(); err != nil {
			t.Error(err)
		}
		here := map[string][]byte{}
		for _, f := range loaded(t).Raw {
			here[f.Name] = f.Data
		}
		if len(c.Raw) != len(here) {
			t.Errorf("%d files of %d", len(c.Raw), len(here))
		}
		for _, f := range c.Raw {
			if f.Name != "Chart.yaml" && !bytes.Equal(f.Data, here[f.Name]) {
				t.Errorf("%s is another", f.Name)
			}
		}
	}
}
