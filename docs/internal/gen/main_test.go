package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPicture: the picture is what its text says.
func TestPicture(t *testing.T) {
	out := filepath.Join(t.TempDir(), "x.svg")
	if err := run("../../architecture.txt", out); err != nil {
		t.Fatal(err)
	}
	now, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	old, err := os.ReadFile("../../architecture.svg")
	if err != nil {
		t.Fatal(err)
	}
	if string(old) != string(now) {
		t.Error("docs/architecture.svg is not what docs/architecture.txt says: go generate ./docs")
	}
}

// TestMistakes: what cannot be drawn is not.
func TestMistakes(t *testing.T) {
	const well = "columns 2\nband b\nrow\nbox one 1 One | of two\nbox two 2 Two\nrow\nbox all 1-2 All\n"
	if p, err := parse(well + "arrow one all text\n"); err != nil || len(p.arrows) != 1 || p.boxes["one"].second != "of two" {
		t.Fatal(p, err)
	}
	for more, want := range map[string]string{
		"box three 3 x":   "no columns 3",
		"box one 1 x":     "a second box",
		"box x 1 x":       "lies over",
		"box x":           "NAME COLUMNS",
		"arrow one two":   "in one row",
		"arrow one three": "no box",
		"circle":          "unknown",
		"row\nbox three 1 x\nrow\nbox four 2 x\narrow three four": "no column in common",
	} {
		if _, err := parse(well + more); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, not %q", more, err, want)
		}
	}
	if _, err := parse("columns 1"); err == nil {
		t.Error("nothing is drawn")
	}
}
