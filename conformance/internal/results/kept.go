package results

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sort"
	"strconv"
	"strings"
	"time"
)

// Merge puts new results to old ones: of each case the newer one counts, and what was
// seen on the same target of another version of the software than the newest is left out.
func Merge(old, new []Case) []Case {
	type target struct{ suite, target string }
	type key struct {
		on            target
		program, name string
	}
	at := map[key]int{}
	newest := map[target]Case{}
	var all []Case
	for _, c := range append(append([]Case(nil), old...), new...) {
		on := target{c.Suite, c.Target}
		if n := newest[on]; !c.When.Before(n.When) {
			newest[on] = c
		}
		k := key{on, c.Program, c.Name}
		i, seen := at[k]
		switch {
		case !seen:
			at[k], all = len(all), append(all, c)
		case !c.When.Before(all[i].When):
			all[i] = c
		}
	}
	var kept []Case
	for _, c := range all {
		if c.Version == newest[target{c.Suite, c.Target}].Version {
			kept = append(kept, c)
		}
	}
	return kept
}

// keptIntro is the first line of a file that Keep writes.
const keptIntro = "# What became of the cases of others' test programs. A program: suite, version, target, name, cases. Below it: verdict, seconds, limit, day, case, why. " +
	"Written by go run ./conformance -rewrite.\n"

const day = "2006-01-02"

// Keep writes results to a file that is the same for the same results, with what belongs to a program below it.
func Keep(path string, cases []Case) error {
	sorted := append([]Case(nil), cases...)
	sort.SliceStable(sorted, func(i, j int) bool {
		a, b := &sorted[i], &sorted[j]
		if a.Suite != b.Suite {
			return a.Suite < b.Suite
		}
		if a.Target != b.Target {
			return a.Target < b.Target
		}
		if a.Program != b.Program {
			return a.Program < b.Program
		}
		return a.Name < b.Name // the number of cases first, which has no name
	})
	out := bytes.NewBufferString(keptIntro)
	var last Case
	for i := range sorted {
		c := &sorted[i]
		if i == 0 || c.Suite != last.Suite || c.Target != last.Target || c.Program != last.Program {
			n := 0
			if c.Name == "" {
				n = c.Cases
			}
			fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%d\n", plain(c.Suite), plain(c.Version), plain(c.Target), plain(c.Program), n)
		}
		last = *c
		if c.Name != "" {
			fmt.Fprintf(out, "\t%s\t%.1f\t%.0f\t%s\t%s\t%s\n", c.Verdict, c.Seconds, c.Limit, c.When.UTC().Format(day), plain(c.Name), plain(c.Why))
		}
	}
	return os.WriteFile(path, out.Bytes(), 0o644)
}

// plain is text without what divides lines and columns.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, s)
}

// Kept reads what Keep has written; a file that is not there has none.
func Kept(path string) ([]Case, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []Case
	var program Case
	in := bufio.NewScanner(bytes.NewReader(b))
	in.Buffer(nil, 1<<20)
	for line := 1; in.Scan(); line++ {
		text := in.Text()
		if strings.HasPrefix(text, "#") {
			continue
		}
		c, err := program.read(text)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, line, err)
		}
		if c.Name == "" {
			program = c
		}
		all = append(all, c)
	}
	return all, in.Err()
}

// read reads a line of a program, or of a case of the program c.
func (c Case) read(line string) (Case, error) {
	f := strings.Split(line, "\t")
	var err error
	switch {
	case len(f) == 5 && f[0] != "":
		c = Case{Suite: f[0], Version: f[1], Target: f[2], Program: f[3]}
		c.Cases, err = strconv.Atoi(f[4])
	case len(f) == 7 && f[0] == "" && c.Suite != "":
		var errs [3]error
		c.Verdict, c.Name, c.Why, c.Cases = Verdict(f[1]), f[5], f[6], 0
		c.Seconds, errs[0] = strconv.ParseFloat(f[2], 64)
		c.Limit, errs[1] = strconv.ParseFloat(f[3], 64)
		c.When, errs[2] = time.Parse(day, f[4])
		err = errors.Join(errs[:]...)
		if c.Name == "" {
			err = errors.New("a case without a name")
		}
	default:
		err = fmt.Errorf("%d columns", len(f))
	}
	return c, err
}
