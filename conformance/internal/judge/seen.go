// Package judge compares what two libraries answered to the same cases, and knows which differences have a reason.
package judge

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Seen is what a library answered, by the names of the cases.
type Seen map[string]string

// NotReached is the answer of a case that only the other library came to.
const NotReached = "not reached"

// Read adds what conformance/hipcheck printed: on each line a case's name, a tab and the answer.
func (s Seen) Read(r io.Reader) error {
	in := bufio.NewScanner(r)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		name, answer, ok := strings.Cut(in.Text(), "\t")
		if !ok || name == "" {
			return fmt.Errorf("no case: %.200q", in.Text())
		}
		if _, again := s[name]; again {
			return fmt.Errorf("two cases are called %q", name)
		}
		s[name] = answer
	}
	return in.Err()
}

// Difference is a case that two libraries answered differently.
type Difference struct {
	Target    string // the card
	Case      string
	AMD, Ours string
	Reason    *Reason // nil: none is known
}

// Differences are the cases that were answered differently, in the order of their names.
func Differences(target string, amd, ours Seen, reasons []*Reason) []Difference {
	var all []Difference
	for _, name := range names(amd, ours) {
		d := Difference{Target: target, Case: name, AMD: or(amd[name], NotReached), Ours: or(ours[name], NotReached)}
		if d.AMD != d.Ours {
			d.Reason = find(reasons, d)
			all = append(all, d)
		}
	}
	return all
}

func or(s, d string) string {
	if s == "" {
		return d
	}
	return s
}
