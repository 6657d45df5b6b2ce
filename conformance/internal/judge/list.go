package judge

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Listed are the differences that somebody has accepted, as lines of a table: card, case, AMD's answer, ours, reason. Those that come and go are not among them.
type Listed []string

// List makes the lines.
func List(all []Difference) Listed {
	var l Listed
	for _, d := range all {
		if d.Reason != nil && !d.Reason.Chance {
			l = append(l, strings.Join([]string{d.Target, d.Case, d.AMD, d.Ours, d.Reason.Name}, "\t"))
		}
	}
	slices.Sort(l)
	return l
}

// ReadListed reads what Write wrote, and how many cases each card had.
func ReadListed(r io.Reader) (l Listed, cases map[string]int, err error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, nil, err
	}
	cases = map[string]int{}
	for i, s := range strings.Split(string(b), "\n") {
		var target string
		var n int
		switch {
		case s == "":
		case strings.HasPrefix(s, "#"):
			if k, _ := fmt.Sscanf(s, "# %s %d cases", &target, &n); k == 2 {
				cases[target] = n
			}
		case strings.Count(s, "\t") != 4:
			return nil, nil, fmt.Errorf("line %d has not five columns", i+1)
		default:
			l = append(l, s)
		}
	}
	return l, cases, nil
}

// Write writes the lines.
func (l Listed) Write(w io.Writer, cases map[string]int) error {
	b := []string{"# Made by go run ./conformance -only hipcheck -accept: card, case, what AMD's library answers, what ours does, the reason (reasons.txt)."}
	for _, target := range sorted(cases) {
		b = append(b, fmt.Sprintf("# %s %d cases", target, cases[target]))
	}
	_, err := io.WriteString(w, strings.Join(append(b, l...), "\n")+"\n")
	return err
}

// Compare says what is not listed, and what of the list is gone, of the cases that were looked at.
func (l Listed) Compare(seen Listed, looked func(target, name string) bool) (added, gone []string) {
	for _, s := range seen {
		if !slices.Contains(l, s) {
			added = append(added, s)
		}
	}
	for _, s := range l {
		if c := strings.Split(s, "\t"); !slices.Contains(seen, s) && looked(c[0], c[1]) {
			gone = append(gone, s)
		}
	}
	return added, gone
}

// With is the list with what was seen in the place of what was looked at.
func (l Listed) With(seen Listed, looked func(target, name string) bool) Listed {
	all := slices.Clone(seen)
	for _, s := range l {
		if c := strings.Split(s, "\t"); !looked(c[0], c[1]) {
			all = append(all, s)
		}
	}
	slices.Sort(all)
	return all
}
