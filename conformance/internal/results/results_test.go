package results

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLastCounts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.jsonl")
	f := Open(path)
	if all, err := f.Read(); err != nil || all != nil {
		t.Fatalf("a file that is not there: %v, %v", all, err)
	}
	add := func(name string, v Verdict, why string) {
		t.Helper()
		if err := f.Add(Case{Suite: "rocX", Version: "1", Target: "gfx90a", Program: "test_x", Name: name, Verdict: v, Why: why, Seconds: 2, Limit: 9}); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Add(Case{Suite: "rocX", Version: "1", Target: "gfx90a", Program: "test_x", Cases: 7}); err != nil {
		t.Fatal(err)
	}
	add("a", Failed, "wrong")
	add("b", Late, "")
	add("c", Skipped, "no memory")
	add("d", Failed, "1 | 2 <T>")
	add("e", NotRun, "")
	add("a", Passed, "")
	for _, c := range []Case{{Cases: 5}, {Name: "a", Verdict: NotRun}, {Name: "b", Verdict: Passed, Seconds: 1}} {
		c.Suite, c.Version, c.Target, c.Program = "rocX", "1", "gfx1100", "test_x"
		if err := f.Add(c); err != nil {
			t.Fatal(err)
		}
	}
	cut, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cut.WriteString(`{"suite":"rocX","case":"`); err != nil { // as a run that is killed leaves it
		t.Fatal(err)
	}
	if err := cut.Close(); err != nil {
		t.Fatal(err)
	}
	all, err := f.Read()
	if err != nil || len(all) != 9 {
		t.Fatalf("%d cases, %v", len(all), err)
	}
	var page strings.Builder
	if err := Page(&page, "# Runs\n\n", all, map[string]string{"rocX": "A note."}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| rocX | 1 | gfx1100 | 5 | 1 | 0 | 0 | 0 | 4 | 1 |\n| rocX | 1 | gfx90a | 7 | 1 | 1 | 1 | 1 | 3 | 10 |",
		" A note.\n\n| did not pass on gfx1100 | what became of it | why |\n|---|---|---|\n| `a` | not run |  |\n\n| did not pass on gfx90a |",
		"| `b` | was still working after 9 s |",
		`| ` + "`d`" + ` | failed | 1 \| 2 &lt;T> |`,
		"| `e` | not run |",
	} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("%q does not stand in\n%s", want, &page)
		}
	}
	for _, not := range []string{"| `a` | failed |", "| `c` |"} {
		if strings.Contains(page.String(), not) {
			t.Errorf("%q stands in\n%s", not, &page)
		}
	}
}

// TestCell has text of programs stay text.
func TestCell(t *testing.T) {
	if got, want := cell("a|b <c> `d`\n@22[x](@21)"), `a\|b &lt;c> 'd' @22[x]&#40;@21)`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
