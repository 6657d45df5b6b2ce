package chart

import (
	"bytes"
	"encoding/base64"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files")

// TestGolden: what the chart makes of some values is in deploy/helm/testdata, for those who read it, and for tests that have no Helm.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("../../helm/testdata/*.values.yaml")
	if err != nil || len(files) < 4 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(file, ".values.yaml") + ".yaml"
		t.Run(filepath.Base(name), func(t *testing.T) {
			var values map[string]any
			if err := yaml.UnmarshalStrict(read(t, file), &values); err != nil {
				t.Fatal(err)
			}
			documents, notes, err := rendered(t, values, having(nil), operators)
			if err != nil {
				t.Fatal(err)
			}
			got := []byte(strings.Join(slices.Collect(func(yield func(string) bool) {
				for _, d := range documents {
					if !yield(settled(t, d)) {
						return
					}
				}
			}), "---\n"))
			got = append(got, "---\n"+regexp.MustCompile(`(?m)^`).ReplaceAllString(strings.TrimSpace(notes), "# ")+"\n"...)
			got = regexp.MustCompile(`(?m)[ \t]+$`).ReplaceAll(got, nil)
			if *rewrite {
				if err := os.WriteFile(name, got, 0o644); err != nil {
					t.Fatal(err)
				}
			} else if !bytes.Equal(got, read(t, name)) {
				t.Errorf("%s is not what the chart makes (go test ./chart -run Golden -rewrite)", name)
			}
		})
	}
}

// settled has nothing that is another each time, nor what stands elsewhere.
func settled(t *testing.T, document string) string {
	t.Helper()
	document = regexp.MustCompile(`(?m)^(    rocwire\.dev/renew-after:) .*$`).ReplaceAllString(document, `$1 "0"`)
	document = regexp.MustCompile(`(?m)^(  ca\.crt: ").*"$`).ReplaceAllString(document, `$1(PEM)"`)
	document = regexp.MustCompile(`(?m)^  rocwire-([a-z]+)\.json: .*$`).ReplaceAllString(document, `  rocwire-$1.json: '{"of": "dashboards/rocwire-$1.json"}'`)
	if strings.Contains(document, "\nkind: PrometheusRule\n") {
		document = document[:strings.Index(document, "spec:")] + "spec: {groups: []} # those of dashboards/rules\n"
	}
	if strings.Contains(document, "\nkind: Secret\n") {
		secret := base64.StdEncoding.EncodeToString([]byte("secret"))
		document = regexp.MustCompile(`(?m)^(  (?:tls\.crt|tls\.key|ca\.crt|password|web\.yml):) .*$`).ReplaceAllString(document, "$1 "+secret)
	}
	return document
}

func read(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
