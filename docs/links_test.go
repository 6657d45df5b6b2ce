package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile("(?m)^#+ (.*)$")
	fenced  = regexp.MustCompile("(?ms)^```.*?^```$")
)

// anchors are what a page's headings are called in addresses, as GitHub has it.
func anchors(t *testing.T, page string) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(string(text), ""), -1) {
		name := strings.ToLower(link.ReplaceAllString(m[1], ""))
		name = regexp.MustCompile(`[^\p{L}\p{N}_ -]`).ReplaceAllString(name, "")
		have[strings.ReplaceAll(name, " ", "-")] = true
	}
	return have
}

// TestLinks: links lead somewhere, and the first page to all the others.
func TestLinks(t *testing.T) {
	fromFirst := map[string]bool{"README.md": true}
	for _, page := range append(pages(t), "../exporter/METRICS.md", "../CHANGELOG.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(fenced.ReplaceAllString(string(text), ""), -1) {
			file, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(file, "://") {
				continue
			}
			to := page
			if file != "" {
				to = filepath.Join(filepath.Dir(page), file)
			}
			if page == "README.md" {
				fromFirst[to] = true
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s: a link to %s, which is not there", page, m[1])
			} else if anchor != "" && filepath.Ext(to) == ".md" && !anchors(t, to)[anchor] {
				t.Errorf("%s: %s has no such heading", page, m[1])
			}
		}
	}
	for _, page := range pages(t)[1:] {
		if !fromFirst[page] {
			t.Errorf("docs/README.md does not lead to %s", page)
		}
	}
}
