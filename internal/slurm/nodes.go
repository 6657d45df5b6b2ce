package slurm

import (
	"fmt"
	"strconv"
	"strings"
)

// maxNodes bounds what one list of nodes may name.
const maxNodes = 65536

// ParseNodes reads a list of nodes as Slurm writes it: n1,n2 or n[1-3,07].
func ParseNodes(s string) (list []string, err error) {
	for part := range splitOutside(s, '[', ']') {
		head, rest, ranged := strings.Cut(part, "[")
		if !ranged {
			list = append(list, part)
		} else {
			numbers, tail, closed := strings.Cut(rest, "]")
			if !closed || strings.ContainsAny(tail, "[]") {
				return nil, fmt.Errorf("%q is no list of nodes, such as n[1-3]", part)
			}
			for r := range strings.SplitSeq(numbers, ",") {
				first, last, pair := strings.Cut(r, "-")
				if !pair {
					last = first
				}
				a, err1 := strconv.ParseUint(first, 10, 32)
				z, err2 := strconv.ParseUint(last, 10, 32)
				if err1 != nil || err2 != nil || a > z || z-a >= maxNodes {
					return nil, fmt.Errorf("%q is no range of nodes, such as 1-3", r)
				}
				for i := a; i <= z && len(list) <= maxNodes; i++ {
					list = append(list, fmt.Sprintf("%s%0*d%s", head, len(first), i, tail))
				}
			}
		}
		if len(list) > maxNodes {
			return nil, fmt.Errorf("more than %d nodes", maxNodes)
		}
	}
	seen := map[string]bool{}
	for _, n := range list {
		if !nodeName.MatchString(n) {
			return nil, fmt.Errorf("%q is no name of a node", n)
		}
		if seen[n] {
			return nil, fmt.Errorf("node %s is there twice", n)
		}
		seen[n] = true
	}
	return list, nil
}

// splitOutside splits at commas outside of brackets of a kind.
func splitOutside(s string, open, shut rune) func(func(string) bool) {
	return func(yield func(string) bool) {
		depth, start := 0, 0
		for i, c := range s {
			switch {
			case c == open:
				depth++
			case c == shut:
				depth--
			case c == ',' && depth == 0:
				if !yield(s[start:i]) {
					return
				}
				start = i + 1
			}
		}
		yield(s[start:])
	}
}
