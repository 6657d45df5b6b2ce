package ebpf

import (
	"fmt"
	"slices"
	"strings"
)

// DefaultFunctions are the groups that are watched unless told otherwise: what moves
// data, holds memory, starts kernels and waits for them.
var DefaultFunctions = []string{"memory", "copy", "launch", "sync", "module"}

// All is the group of every function that a library exports, those of unknown
// versions included.
const All = "all"

// Groups are the names of the groups of functions, All among them.
func Groups() []string {
	list := []string{All}
	for g := range groups {
		list = append(list, g)
	}
	slices.Sort(list)
	return list
}

// known are all functions of all groups.
var known = func() map[string]function {
	m := map[string]function{}
	for _, g := range groups {
		for name, f := range g {
			m[name] = f
		}
	}
	return m
}()

// maxName bounds a function's name, in bytes.
const maxName = 100

// selection is what an operator wants to be watched.
type selection struct {
	all   bool
	names map[string]bool
}

func newSelection(list []string) (*selection, error) {
	s := &selection{names: map[string]bool{}}
	for _, e := range list {
		switch g, ok := groups[e]; {
		case e == All:
			s.all = true
		case ok:
			for name := range g {
				s.names[name] = true
			}
		case !isHIP(e):
			return nil, fmt.Errorf("%w: %q is neither a group of functions (%s) nor a function of HIP that returns hipError_t",
				ErrOptions, e, strings.Join(Groups(), ", "))
		default:
			s.names[e] = true
		}
	}
	return s, nil
}

// isHIP says whether a function returns hipError_t, as far as its name tells.
func isHIP(name string) bool {
	return strings.HasPrefix(name, "hip") && !strings.HasPrefix(name, "hiprtc") && !others[name] && len(name) <= maxName
}

// of is the function behind an exported symbol, if it is to be watched.
func (s *selection) of(symbol string) (name string, f function, ok bool) {
	name = symbol
	if m, ok := mangled[symbol]; ok {
		name = m
	}
	if !s.names[name] && !(s.all && isHIP(name)) {
		return "", function{}, false
	}
	return name, known[name], true
}
