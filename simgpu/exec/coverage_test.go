package exec

import (
	"bufio"
	"os"
	"strings"
	"testing"
)

// readTable returns the mnemonics of the instruction table with their encodings.
func readTable(t *testing.T) map[string][]string {
	t.Helper()
	f, err := os.Open("../gcn/ops.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m := map[string][]string{}
	for s := bufio.NewScanner(f); s.Scan(); {
		if c := strings.Split(s.Text(), "\t"); !strings.HasPrefix(s.Text(), "#") && len(c) > 2 {
			m[c[1]] = append(m[c[1]], c[0])
		}
	}
	return m
}

// Every meaning must belong to a mnemonic of the table: a misspelt name would
// never be executed.
func TestNamesAreKnown(t *testing.T) {
	table := readTable(t)
	for name := range handlers {
		if table[name] == nil && !strings.HasPrefix(name, "s_cmpk_") && !alias[name] {
			t.Errorf("%s is not in the instruction table", name)
		}
	}
	for name := range controls {
		if table[name] == nil {
			t.Errorf("%s is not in the instruction table", name)
		}
	}
	n := 0
	var missing []string
	for name := range table {
		if Executable(name) {
			n++
		} else {
			missing = append(missing, name)
		}
	}
	t.Logf("%d of %d mnemonics are executable", n, len(table))
	t.Logf("not yet: %s", strings.Join(missing, " "))
}

// alias are operations that are defined for completeness of a family but have
// no encoding on either target.
var alias = map[string]bool{}
