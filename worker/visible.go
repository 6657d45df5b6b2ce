package worker

import (
	"slices"
	"strconv"
	"strings"
)

// VisibleDevices applies a HIP_VISIBLE_DEVICES list to devices: the ones it names, by position, in its order. As in HIP an empty list
// chooses all, and what follows an entry that names none is ignored.
func VisibleDevices(devices []int, list string) []int {
	if strings.TrimSpace(list) == "" {
		return slices.Clone(devices)
	}
	var out []int
	for s := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(s))
		if err != nil || n < 0 || n >= len(devices) || slices.Contains(out, devices[n]) {
			break
		}
		out = append(out, devices[n])
	}
	return out
}
