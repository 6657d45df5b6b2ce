package chart

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"
)

// defining are the modules that have the definitions of resources which the chart makes and Kubernetes does not know. Nothing of them is built.
var defining = map[string][]string{
	"github.com/prometheus-operator/prometheus-operator@v0.85.0": {
		"example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml", "example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml",
	},
	"github.com/cert-manager/cert-manager@v1.21.2": {"deploy/crds/cert-manager.io_certificates.yaml", "deploy/crds/cert-manager.io_issuers.yaml"},
}

// definitions are their files.
func definitions(t *testing.T) (files []string) {
	t.Helper()
	for module, names := range defining {
		out, err := exec.Command("go", "mod", "download", "-json", module).Output()
		var m struct{ Dir string }
		if err == nil {
			err = json.Unmarshal(out, &m)
		}
		if err != nil {
			t.Fatalf("%s: %v\n%s", module, err, out)
		}
		for _, name := range names {
			files = append(files, filepath.Join(m.Dir, name))
		}
	}
	return files
}
