package chart

import (
	"regexp"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestPage: the values that the documentation names are the chart's.
func TestPage(t *testing.T) {
	page := string(read(t, "../../../docs/kubernetes.md"))
	blocks := regexp.MustCompile("(?ms)^```yaml values.yaml\n(.*?)^```$").FindAllStringSubmatch(page, -1)
	if len(blocks) == 0 {
		t.Fatal("no values")
	}
	for _, b := range blocks {
		var values map[string]any
		if err := yaml.UnmarshalStrict([]byte(b[1]), &values); err != nil {
			t.Fatal(err)
		}
		render(t, values, nil)
	}
	whole := loaded(t).Values
	n := 0
	for _, m := range regexp.MustCompile("(?:`|--set )((?:image|clients|tls|worker|exporter|metrics|dashboards|networkPolicy)(?:\\.[A-Za-z]+)+)").FindAllStringSubmatch(page, -1) {
		if m[1] == "tls.crt" || m[1] == "tls.key" { // files
			continue
		}
		at := any(whole)
		for _, part := range regexp.MustCompile(`[^.]+`).FindAllString(m[1], -1) {
			in, ok := at.(map[string]any)
			if !ok || in[part] == nil {
				t.Errorf("the chart has no %s", m[1])
				break
			}
			at = in[part]
		}
		n++
	}
	if n < 15 {
		t.Errorf("the page names %d values", n)
	}
}
