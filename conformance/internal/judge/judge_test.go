package judge

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

const reasons = `# it crashes
AMD's ends.
hipA: .*	ends the process	.
# freed memory by chance
It reads what was freed.
hip.*stale.*	.	hipErrorInvalidValue
`

func seen(t *testing.T, s string) Seen {
	t.Helper()
	r := Seen{}
	if err := r.Read(strings.NewReader(s)); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestDifferences finds what differs, with and without a reason, and what only one library came to.
func TestDifferences(t *testing.T) {
	all, err := ReadReasons(strings.NewReader(reasons))
	if err != nil {
		t.Fatal(err)
	}
	amd := seen(t, "hipA: null\tends the process\nhipB: .\thipSuccess\nhipB: stale\thipSuccess\nhipC: .\thipSuccess\nhipD: .\thipSuccess\n")
	ours := seen(t, "hipA: null\thipErrorInvalidValue\nhipB: .\thipErrorInvalidValue\nhipB: stale\thipErrorInvalidValue\nhipC: .\thipSuccess\n")
	ds := Differences("gfx942", amd, ours, all)
	var got []string
	for _, d := range ds {
		name := "none"
		if d.Reason != nil {
			name = d.Reason.Name
		}
		got = append(got, d.Case+" = "+d.AMD+", "+d.Ours+": "+name)
	}
	want := []string{"hipA: null = ends the process, hipErrorInvalidValue: it crashes", "hipB: . = hipSuccess, hipErrorInvalidValue: none",
		"hipB: stale = hipSuccess, hipErrorInvalidValue: freed memory", "hipD: . = hipSuccess, not reached: none"}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	var page bytes.Buffer
	cases := map[string]int{"gfx942": 5}
	if err := Page(&page, "intro\n", cases, List(ds), all); err != nil {
		t.Fatal(err)
	}
	for _, w := range []string{"intro\n", "| gfx942 | 5 | 1 |", "## It crashes", "| `hipA` | `null` | ends the process | hipErrorInvalidValue |", "from run to run"} {
		if !strings.Contains(page.String(), w) {
			t.Errorf("the page lacks %q:\n%s", w, &page)
		}
	}
}

// TestListed: what is listed is what does not come and go; what is new and what is gone is found, of what was looked at, and takes the list's place.
func TestListed(t *testing.T) {
	all, err := ReadReasons(strings.NewReader(reasons))
	if err != nil {
		t.Fatal(err)
	}
	amd := seen(t, "hipA: null\tends the process\nhipB: stale\thipSuccess\n")
	now := List(Differences("gfx942", amd, seen(t, "hipA: null\thipErrorInvalidValue\nhipB: stale\thipErrorInvalidValue\n"), all))
	var kept bytes.Buffer
	if err := now.Write(&kept, map[string]int{"gfx942": 2}); err != nil {
		t.Fatal(err)
	}
	listed, cases, err := ReadListed(&kept)
	if err != nil || len(listed) != 1 || cases["gfx942"] != 2 {
		t.Fatalf("%q, %v, %v", listed, cases, err)
	}
	every := func(string, string) bool { return true }
	if added, gone := listed.Compare(now, every); added != nil || gone != nil {
		t.Errorf("added %q, gone %q", added, gone)
	}
	old := Listed{"gfx942\thipZ: .\ta\tb\tc"}
	if added, gone := old.Compare(now, every); len(added) != 1 || len(gone) != 1 {
		t.Errorf("added %q, gone %q", added, gone)
	}
	some := func(target, name string) bool { return name != "hipZ: ." }
	if _, gone := old.Compare(now, some); gone != nil {
		t.Errorf("gone %q, which nobody looked for", gone)
	}
	if l := old.With(now, some); len(l) != 2 {
		t.Errorf("%q", l)
	}
	if l := old.With(now, every); !slices.Equal(l, now) {
		t.Errorf("%q", l)
	}
}

// TestRefused: what is no output, and no list of reasons.
func TestRefused(t *testing.T) {
	for _, s := range []string{"no tab\n", "\tno name\n", "twice\t1\ntwice\t2\n"} {
		if err := (Seen{}).Read(strings.NewReader(s)); err == nil {
			t.Errorf("%q was read", s)
		}
	}
	if _, _, err := ReadListed(strings.NewReader("a\tb\n")); err == nil {
		t.Error("a line of two columns was read")
	}
	for _, s := range []string{"text before\n", "# name\nno cases\n", "# name\na\tb\tc\n", "# name\ntext\na\tb\n", "# name\ntext\n(\tb\tc\n"} {
		if _, err := ReadReasons(strings.NewReader(s)); err == nil {
			t.Errorf("%q was read", s)
		}
	}
}
