package results

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"
)

// TestKept writes results and reads them again.
func TestKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.tsv")
	if all, err := Kept(path); err != nil || all != nil {
		t.Fatalf("a file that is not there: %v, %v", all, err)
	}
	today := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	program := Case{Suite: "rocX", Version: "1", Target: "gfx90a", Program: "test_x"}
	counted, a, b := program, program, program
	counted.Cases = 7
	a.Name, a.Verdict, a.Seconds, a.Limit, a.When = "a<1, 2>", Passed, 1.5, 30, today
	b.Name, b.Verdict, b.Why, b.Seconds, b.Limit, b.When = "b", Failed, "1 > 0", 2, 30, today
	other := Case{Suite: "rocA", Version: "2", Target: "gfx942", Program: "all", Name: "c", Verdict: Late, Limit: 9, When: today}
	onOther := a
	onOther.Target = "gfx1100"
	if err := Keep(path, []Case{b, counted, onOther, a, other}); err != nil {
		t.Fatal(err)
	}
	got, err := Kept(path)
	none := Case{Suite: "rocA", Version: "2", Target: "gfx942", Program: "all"} // a program whose cases nobody counted
	noneOnOther := Case{Suite: "rocX", Version: "1", Target: "gfx1100", Program: "test_x"}
	if want := []Case{none, other, noneOnOther, onOther, counted, a, b}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v\n%+v\nwant\n%+v", err, got, want)
	}
	b.Why = "two\tcolumns\nand lines"
	if err := Keep(path, []Case{b}); err != nil {
		t.Fatal(err)
	}
	if got, err := Kept(path); err != nil || len(got) != 2 || got[1].Why != "two columns and lines" {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []string{"rocX\t1\tgfx90a\ttest_x\n", "\tpassed\t1\t1\t2026-11-23\ta\t\n", "rocX\t1\tg\tp\t1\n\tpassed\t1\t1\tyesterday\ta\t\n", "rocX\t1\tg\tp\t1\n\tpassed\t1\t1\t2026-11-23\t\t\n"} {
		if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Kept(path); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}

func TestMerge(t *testing.T) {
	first, second := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC), time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	x := func(version, name string, v Verdict, when time.Time) Case {
		return Case{Suite: "rocX", Version: version, Target: "gfx90a", Program: "p", Name: name, Verdict: v, When: when}
	}
	on := func(target string, c Case) Case {
		c.Target = target
		return c
	}
	other := Case{Suite: "rocY", Version: "1", Target: "gfx90a", Program: "p", Name: "a", Verdict: Passed, When: first}
	for name, c := range map[string]struct{ old, new, want []Case }{
		"added":              {[]Case{x("1", "a", Passed, first)}, []Case{x("1", "b", Late, second)}, []Case{x("1", "a", Passed, first), x("1", "b", Late, second)}},
		"again":              {[]Case{x("1", "a", Failed, first)}, []Case{x("1", "a", Passed, second)}, []Case{x("1", "a", Passed, second)}},
		"an older run":       {[]Case{x("1", "a", Passed, second)}, []Case{x("1", "a", Failed, first)}, []Case{x("1", "a", Passed, second)}},
		"of another version": {[]Case{x("1", "a", Passed, first), other}, []Case{x("2", "b", Passed, second)}, []Case{other, x("2", "b", Passed, second)}},
		"on another target": {[]Case{x("1", "a", Failed, first)}, []Case{on("gfx1100", x("1", "a", Passed, second)), on("gfx1100", x("2", "b", Passed, second))},
			[]Case{x("1", "a", Failed, first), on("gfx1100", x("2", "b", Passed, second))}},
	} {
		if got := Merge(c.old, c.new); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
