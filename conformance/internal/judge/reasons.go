package judge

import (
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Reason says of some differences why they are there.
type Reason struct {
	Name   string // short, and used in tables
	Chance bool   // AMD's answer is another one from run to run: the difference may be there or not
	Text   string
	cases  []pattern
}

type pattern struct{ name, amd, ours *regexp.Regexp }

// ReadReasons reads reasons: a line "# NAME" or "# NAME by chance", lines of text, and then lines of three regular expressions, separated by tabs: of a
// case's name, of AMD's answer and of ours. Each must match the whole; "." alone is any answer.
func ReadReasons(r io.Reader) ([]*Reason, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	var all []*Reason
	for i, l := range strings.Split(string(b), "\n") {
		bad := func(what any) error { return fmt.Errorf("line %d: %v", i+1, what) }
		if name, ok := strings.CutPrefix(l, "# "); ok {
			name, chance := strings.CutSuffix(name, " by chance")
			all = append(all, &Reason{Name: name, Chance: chance})
			continue
		}
		if strings.TrimSpace(l) == "" {
			continue
		}
		if len(all) == 0 {
			return nil, bad("before the first reason")
		}
		last := all[len(all)-1]
		c := strings.Split(l, "\t")
		if len(c) == 1 {
			last.Text = strings.TrimSpace(last.Text + " " + l)
			continue
		}
		if len(c) != 3 {
			return nil, bad(fmt.Sprintf("%d columns", len(c)))
		}
		var p pattern
		for k, to := range []**regexp.Regexp{&p.name, &p.amd, &p.ours} {
			if c[k] == "." {
				c[k] = ".*"
			}
			if *to, err = regexp.Compile("^(?:" + c[k] + ")$"); err != nil {
				return nil, bad(err)
			}
		}
		last.cases = append(last.cases, p)
	}
	for _, r := range all {
		if r.Text == "" || len(r.cases) == 0 {
			return nil, fmt.Errorf("%q has no text or no cases", r.Name)
		}
	}
	return all, nil
}

// find is the first reason that covers a difference.
func find(reasons []*Reason, d Difference) *Reason {
	for _, r := range reasons {
		for _, p := range r.cases {
			if p.name.MatchString(d.Case) && p.amd.MatchString(d.AMD) && p.ours.MatchString(d.Ours) {
				return r
			}
		}
	}
	return nil
}

// names are the cases of both, sorted.
func names(a, b Seen) []string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return slices.Sorted(maps.Keys(all))
}
