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
	// Whatever does not execute has a reason that says so, and the other way round.
	for name := range table {
		if Executable(name) == (Reason(name) != "") {
			t.Errorf("%s: executable %v, but the reason why not is %q", name, Executable(name), Reason(name))
		}
	}
	for name := range reasons {
		if table[name] == nil {
			t.Errorf("%s is not in the instruction table", name)
		}
	}
	if len(reasons) > 6 {
		t.Errorf("%d instructions are not executed", len(reasons))
	}
}

// alias are operations that are defined for completeness of a family but have
// no encoding on either target.
var alias = map[string]bool{}
