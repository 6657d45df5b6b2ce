package rows

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write the tables into docs/greptimedb.md")

const (
	docsFile  = "../../docs/greptimedb.md"
	docsBegin = "<!-- tables: made by `go test ./exporter/rows -rewrite` -->\n"
	docsEnd   = "<!-- end of tables -->\n"
)

func tablesText() string {
	var b strings.Builder
	types := map[Type]string{String: "text", Float: "number", Int: "integer", Uint: "integer, not negative", Bool: "yes or no"}
	for _, s := range Tables {
		fmt.Fprintf(&b, "\n### %s\n\n%s\n\n| column | type | holds |\n|---|---|---|\n", s.Name, s.About)
		for i, c := range s.Columns {
			typ := types[c.Type]
			if c.Tag {
				typ = "tag"
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", c.Name, typ, s.Help[i])
		}
	}
	return b.String() + "\n"
}

// The documentation lists the tables as they are.
func TestDocs(t *testing.T) {
	text, err := os.ReadFile(docsFile)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), docsBegin)
	old, after, ended := strings.Cut(rest, docsEnd)
	if !ok || !ended {
		t.Fatalf("%s has no place for the tables", docsFile)
	}
	want := tablesText()
	if *rewrite {
		if err := os.WriteFile(docsFile, []byte(before+docsBegin+want+docsEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if old != want {
		t.Errorf("%s has other tables; run go test ./exporter/rows -rewrite", docsFile)
	}
}
