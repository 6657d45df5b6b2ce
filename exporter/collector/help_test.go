package collector

import (
	"strings"
	"testing"
)

// TestHelpStandsAlone: a HELP is read on its own, so it refers to no other and says of what it is.
func TestHelpStandsAlone(t *testing.T) {
	seen := map[string]string{}
	for _, m := range metrics {
		if m.help == "" {
			continue
		}
		for _, w := range []string{"The same", "the same by", "likewise", "Likewise", "ditto", "as above"} {
			if strings.Contains(m.help, w) {
				t.Errorf("%s: %q needs another metric's text", m.name, m.help)
			}
		}
		if !strings.HasSuffix(m.help, ".") || len(strings.Fields(m.help)) < 3 {
			t.Errorf("%s: %q is no sentence", m.name, m.help)
		}
		if m.compat { // may say what ours does
			continue
		}
		if other := seen[m.help]; other != "" {
			t.Errorf("%s and %s have the same text", m.name, other)
		}
		seen[m.help] = m.name
	}
}
