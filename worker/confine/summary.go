package confine

import (
	"fmt"
	"slices"
	"strings"
)

// Summary says in one line what the boundary consists of, and what of it is missing on this machine. e is what a session process has told of
// itself, as it came up. Both are empty where there is no boundary at all.
func (b *Boundary) Summary(e Entered) (has, missing string) {
	if b.o.None || e&Confined == 0 {
		return "", ""
	}
	b.worked()
	yes, no := []string{"no capabilities", "no new privileges", "limits", "scrubbed environment"}, []string{}
	add := func(ok bool, what string) {
		if ok {
			yes = append(yes, what)
		} else {
			no = append(no, what)
		}
	}
	if b.users != nil {
		yes = append(yes, fmt.Sprintf("a user each (%d-%d)", b.users.of.First, b.users.of.Last))
	} else {
		no = append(no, "a user each")
	}
	have := slices.Concat(b.fork().namespaces, b.namespaces)
	for _, n := range []string{"PID", "network", "IPC", "UTS"} {
		if n != "network" || !b.o.Network {
			add(slices.Contains(have, n), n+" namespace")
		}
	}
	if b.o.Network {
		no = append(no, "network namespace (--session-network)")
	}
	if b.abi > 0 {
		yes = append(yes, fmt.Sprintf("Landlock %d", b.abi))
	} else {
		no = append(no, "Landlock")
	}
	add(e&Filtered != 0, "seccomp")
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.tree != nil {
		yes = append(yes, b.tree.String())
	} else if b.bare != nil {
		no = append(no, b.bare.Error())
	}
	return strings.Join(yes, ", "), strings.Join(no, ", ")
}
