package check

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/yannh/kubeconform/pkg/validator"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// ours are blocks that are for a program of ours or for Prometheus: docs' TestBlocks gives them to those.
var ours = regexp.MustCompile(`^(?:#.*\n)*(?:scrape_configs|rule_files|tokens|oidc|certificates|nodes):`)

// fragments are the pages with a part of a pod, and the pod of ours that has the containers which it names.
var fragments = map[string]struct{ file, kind string }{
	"access.md": {client, "Pod"},
	"ebpf.md":   {"../helm/testdata/exporter.yaml", "DaemonSet"},
}

// TestPages: YAML in the documentation that is for a cluster is what Kubernetes takes: a whole object by the schemas, a part of a pod by the type's fields.
func TestPages(t *testing.T) {
	v, parts := conform(t), 0
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(pages) < 30 {
		t.Fatal(pages, err)
	}
	for _, page := range append(pages, "../../README.md") {
		for _, m := range regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$").FindAllStringSubmatch(string(read(t, page)), -1) {
			block := m[1]
			switch {
			case ours.MatchString(block):
			case strings.Contains(block, "apiVersion:"):
				for _, r := range v.Validate(page, stringsCloser(block)) {
					if r.Status != validator.Valid {
						t.Errorf("%s: %v\n%s", page, r.Err, block)
					}
				}
			default:
				parts++
				checkPart(t, filepath.Base(page), block)
			}
		}
	}
	if parts != len(fragments) {
		t.Errorf("%d blocks are parts of a pod, of %d pages", parts, len(fragments))
	}
}

// checkPart: every field is one of a pod, of the right type, and its containers are those of ours.
func checkPart(t *testing.T, page, block string) {
	t.Helper()
	of, ok := fragments[page]
	if !ok {
		t.Errorf("%s: which pod is it a part of?\n%s", page, block)
		return
	}
	var pod struct{ Spec corev1.PodSpec }
	if !strings.HasPrefix(block, "spec:") {
		block = "spec:\n  " + strings.ReplaceAll(block, "\n", "\n  ")
	}
	if err := yaml.UnmarshalStrict([]byte(block), &pod); err != nil {
		t.Errorf("%s: %v\n%s", page, err, block)
		return
	}
	whole := documents(t, of.file, of.kind)[0]
	if of.kind != "Pod" {
		whole = whole["spec"].(map[string]any)["template"].(map[string]any)
	}
	var have corev1.PodSpec
	into(t, whole["spec"], &have)
	for _, c := range pod.Spec.Containers {
		if !slices.ContainsFunc(have.Containers, func(h corev1.Container) bool { return h.Name == c.Name }) {
			t.Errorf("%s: %s has no container %q", page, of.file, c.Name)
		}
	}
	if len(pod.Spec.Containers)+len(pod.Spec.Volumes) == 0 {
		t.Errorf("%s: a part of a pod that says nothing\n%s", page, block)
	}
}
