package smiabi

import (
	"strconv"
	"strings"
)

// ranges reads a list of CPUs, "0-63,128": pairs of the first and the last. It is
// false for what is no such list, and for an empty one.
func ranges(list string) ([][2]uint64, bool) {
	var all [][2]uint64
	for part := range strings.SplitSeq(strings.TrimSpace(list), ",") {
		first, last, isRange := strings.Cut(part, "-")
		a, err := strconv.ParseUint(first, 10, 32)
		if err != nil {
			return nil, false
		}
		b := a
		if isRange {
			if b, err = strconv.ParseUint(last, 10, 32); err != nil || b < a {
				return nil, false
			}
		}
		all = append(all, [2]uint64{a, b})
	}
	return all, true
}
