package check

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// mayBePrivileged is TensorFusion's own agent on a node, which is a device plugin, and of ours nobody.
const mayBePrivileged = "tensor-fusion-hypervisor"

// TestSecure: no container of ours is privileged, workers run as a user without capabilities, and neither a cluster nor an image lets strangers in.
func TestSecure(t *testing.T) {
	workers := 0
	for _, name := range manifests(t) {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(b), "--insecure") {
			t.Errorf("%s: --insecure", name)
		}
		for _, doc := range strings.Split(string(b), "\n---\n") {
			var v any
			if err := yaml.Unmarshal([]byte(doc), &v); err != nil {
				t.Fatal(err)
			}
			pods(v, func(pod map[string]any) {
				for _, c := range pod["containers"].([]any) {
					c := c.(map[string]any)
					own, _ := c["securityContext"].(map[string]any)
					if own["privileged"] == true && c["name"] != mayBePrivileged {
						t.Errorf("%s: %v is privileged", name, c["name"])
					}
					if !slices.Contains([]any{"hip-worker", "tensorfusion-worker"}, c["name"]) {
						continue
					}
					workers++
					all, _ := pod["securityContext"].(map[string]any)
					drop, _ := own["capabilities"].(map[string]any)
					list, _ := drop["drop"].([]any)
					if all["runAsNonRoot"] != true || own["allowPrivilegeEscalation"] != false || !slices.Contains(list, any("ALL")) {
						t.Errorf("%s: %v is root, may become it, or has capabilities", name, c["name"])
					}
				}
			})
		}
	}
	if workers != 3 {
		t.Errorf("%d workers", workers)
	}
	files, err := filepath.Glob("../docker/*.Dockerfile")
	if err != nil || len(files) < 7 {
		t.Fatal(files, err)
	}
	installs := []string{"client", "dra", "provider"} // on the node, and end, or are root's there anyway
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if image := strings.TrimSuffix(filepath.Base(name), ".Dockerfile"); !slices.Contains(installs, image) && !regexp.MustCompile(`(?m)^USER 65532`).Match(b) {
			t.Errorf("%s: its program is root", name)
		}
		if regexp.MustCompile(`(?m)^[^#].*--insecure`).Match(b) {
			t.Errorf("%s: it lets everybody in", name)
		}
	}
}

// pods calls f with whatever has containers.
func pods(v any, f func(map[string]any)) {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			pods(x, f)
		}
	case map[string]any:
		if _, ok := v["containers"].([]any); ok {
			f(v)
		}
		for _, x := range v {
			pods(x, f)
		}
	}
}
