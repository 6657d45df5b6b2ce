package results

import (
	"cmp"
	"fmt"
	"io"
	"sort"
	"strings"
	"time"
)

// sum is a row: a program, or a suite, on a target.
type sum struct {
	suite, program  string
	version, target string
	cases           int
	n               map[Verdict]int
	seconds         float64
	last            time.Time
	programs        []*sum
	bad             []Case
}

func newSum(c Case, program string) *sum {
	return &sum{suite: c.Suite, program: program, n: map[Verdict]int{}}
}

func (s *sum) add(c Case) {
	s.version, s.target = c.Version, c.Target
	if c.When.After(s.last) {
		s.last = c.When
	}
	s.cases += c.Cases
	if c.Name == "" {
		return
	}
	s.n[c.Verdict]++
	s.seconds += c.Seconds
	if c.Verdict != Passed && c.Verdict != Skipped {
		s.bad = append(s.bad, c)
	}
}

// ran is how many cases came to an end of their own or were ended.
func (s *sum) ran() int { return s.n[Passed] + s.n[Failed] + s.n[Late] + s.n[Skipped] }

func (s *sum) row(name string) string {
	left := max(s.cases-s.ran(), 0)
	return fmt.Sprintf("| %s | %s | %s | %d | %d | %d | %d | %d | %d | %.0f |\n",
		name, s.version, s.target, max(s.cases, s.ran()), s.n[Passed], s.n[Failed], s.n[Late], s.n[Skipped], left, s.seconds)
}

const head = "| software | version | target | cases | passed | failed | past the limit | skip themselves | not run | seconds |\n|---|---|---|---|---|---|---|---|---|---|\n"

// shown is how many cases of a suite that did not pass on a target are named one by one.
const shown = 40

// Page writes the results as a page of Markdown; notes says more about a suite.
func Page(w io.Writer, intro string, cases []Case, notes map[string]string) error {
	suites := map[[2]string]*sum{}
	programs := map[[3]string]*sum{}
	last := map[string]time.Time{} // of a suite on any target
	var order []*sum
	for _, c := range cases {
		on := [2]string{c.Suite, c.Target}
		s := suites[on]
		if s == nil {
			s = newSum(c, "")
			suites[on], order = s, append(order, s)
		}
		s.add(c)
		if s.last.After(last[c.Suite]) {
			last[c.Suite] = s.last
		}
		k := [3]string{c.Suite, c.Target, c.Program}
		p := programs[k]
		if p == nil {
			p = newSum(c, c.Program)
			programs[k], s.programs = p, append(s.programs, p)
		}
		p.add(c)
	}
	sort.Slice(order, func(i, j int) bool {
		return cmp.Or(cmp.Compare(order[i].suite, order[j].suite), cmp.Compare(order[i].target, order[j].target)) < 0
	})
	var b strings.Builder
	b.WriteString(intro)
	b.WriteString(head)
	for _, s := range order {
		b.WriteString(s.row(s.suite))
	}
	for i, s := range order {
		if i == 0 || order[i-1].suite != s.suite {
			fmt.Fprintf(&b, "\n## %s\n\nSeen last on %s.", s.suite, last[s.suite].UTC().Format("2 January 2006"))
			if n := notes[s.suite]; n != "" {
				b.WriteString(" " + n)
			}
			b.WriteString("\n")
		}
		if len(s.programs) > 1 {
			sort.Slice(s.programs, func(i, j int) bool { return s.programs[i].program < s.programs[j].program })
			b.WriteString("\n" + head)
			for _, p := range s.programs {
				b.WriteString(p.row("`" + p.program + "`"))
			}
		}
		writeBad(&b, s)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func writeBad(b *strings.Builder, s *sum) {
	if len(s.bad) == 0 {
		return
	}
	sort.SliceStable(s.bad, func(i, j int) bool {
		x, y := s.bad[i], s.bad[j]
		if x.Verdict != y.Verdict {
			return x.Verdict < y.Verdict
		}
		if x.Program != y.Program {
			return x.Program < y.Program
		}
		return x.Name < y.Name
	})
	fmt.Fprintf(b, "\n| did not pass on %s | what became of it | why |\n|---|---|---|\n", s.target)
	for i, c := range s.bad {
		if i == shown {
			fmt.Fprintf(b, "| %d more | | |\n", len(s.bad)-shown)
			break
		}
		what := string(c.Verdict)
		if c.Verdict == Late {
			what = fmt.Sprintf("was still working after %.0f s", c.Limit)
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", c.Name, what, cell(c.Why))
	}
}

// cell makes text fit for a cell of a table.
func cell(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, s)
	s = strings.NewReplacer("|", "\\|", "<", "&lt;", "`", "'", "](", "]&#40;").Replace(strings.TrimSpace(s))
	if r := []rune(s); len(r) > 200 {
		s = string(r[:200]) + "…"
	}
	return s
}
