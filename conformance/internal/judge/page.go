package judge

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Page writes the page for people: each reason with what it is the reason of.
func Page(w io.Writer, intro string, cases map[string]int, l Listed, reasons []*Reason) error {
	var b strings.Builder
	b.WriteString(intro)
	b.WriteString("| card | cases | answered differently |\n|---|---|---|\n")
	for _, target := range sorted(cases) {
		n := 0
		for _, s := range l {
			if strings.HasPrefix(s, target+"\t") {
				n++
			}
		}
		fmt.Fprintf(&b, "| %s | %d | %d |\n", target, cases[target], n)
	}
	for _, r := range reasons {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", strings.ToUpper(r.Name[:1])+r.Name[1:], r.Text)
		if r.Chance {
			b.WriteString("\nAMD's answers differ from run to run, so these cases are not listed one by one.\n")
			continue
		}
		b.WriteString("\n| function or group | cases | AMD's library | ours |\n|---|---|---|---|\n")
		rows(&b, l, r.Name)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// rows writes the cases of one reason, those of one function with the same answers in one row.
func rows(b *strings.Builder, l Listed, reason string) {
	type row struct{ group, amd, ours string }
	of := map[row][]string{}
	for _, s := range l {
		c := strings.Split(s, "\t")
		if c[4] != reason {
			continue
		}
		group, name, _ := strings.Cut(c[1], ": ")
		k := row{group, c[2], c[3]}
		if !slices.Contains(of[k], name) {
			of[k] = append(of[k], name)
		}
	}
	for _, k := range slices.SortedFunc(maps.Keys(of), func(a, b row) int {
		return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.amd, b.amd), cmp.Compare(a.ours, b.ours))
	}) {
		what := "`" + of[k][0] + "`"
		if n := len(of[k]); n > 1 {
			what += fmt.Sprintf(" and %d more", n-1)
		}
		cell := func(s string) string { return strings.ReplaceAll(s, "|", "\\|") }
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", k.group, cell(what), cell(k.amd), cell(k.ours))
	}
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
