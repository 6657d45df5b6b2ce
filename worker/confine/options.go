package confine

import (
	"fmt"
	"strconv"
	"strings"
)

// Options say what the boundary of session processes is to be. The zero value is the narrowest that the machine offers.
type Options struct {
	// UIDs are the users that session processes run as, each living one its own, when the parent may choose. Zero: 61184 to 65519, which
	// systemd keeps for the same purpose. Groups have the same numbers.
	UIDs UIDs
	// Network lets session processes connect to others: a runtime may stand in front of a card elsewhere.
	Network bool
	// Cgroup is the control group that session processes have theirs in, each its own: a directory; empty: the worker's own, if it may divide that. NoCgroup: there are none.
	Cgroup string
	// None draws no boundary at all, for a debugger.
	None bool
}

// NoCgroup is the Cgroup of processes that have no control groups.
const NoCgroup = "none"

// Needs are what a backend's runtime needs in a session process beyond memory and what it inherits.
type Needs struct {
	Read    []string // files, and directories with all that is in them, to be read and executed. What is not there is left out
	Devices []string // likewise, to be used; the groups that own them are the session's, too
	Env     []string // names of variables, or beginnings of names, with a * at the end
	Driver  bool     // system calls of a runtime with a driver under it, among them ioctl
	Scratch bool     // a directory of its own for temporary files, which TMPDIR names

	scratch string // above these directories
}

// UIDs is a range of users, both ends in it.
type UIDs struct{ First, Last uint32 }

// dynamic is systemd's range of dynamic users.
var dynamic = UIDs{61184, 65519}

// ParseUIDs reads FIRST-LAST.
func ParseUIDs(s string) (UIDs, error) {
	a, b, _ := strings.Cut(s, "-")
	first, err := strconv.ParseUint(a, 10, 32)
	last, err2 := strconv.ParseUint(b, 10, 32)
	// The last number means "none" to the kernel, and 0 would be the very user that sessions are kept from.
	if err != nil || err2 != nil || first == 0 || last < first || last >= 1<<32-1 {
		return UIDs{}, fmt.Errorf("%q is no range of users, such as %d-%d", s, dynamic.First, dynamic.Last)
	}
	return UIDs{uint32(first), uint32(last)}, nil
}
