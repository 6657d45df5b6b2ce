// Package visible reads the lists by which an environment chooses GPUs, as AMD's libraries do: ROCR_VISIBLE_DEVICES among all there are, then
// HIP_VISIBLE_DEVICES among those. A list names devices by position or by UUID, in the order in which the program numbers them; what follows an entry
// that names none is ignored.
package visible

import (
	"slices"
	"strconv"
	"strings"
)

// Names of the variables.
const (
	ROCrVariable = "ROCR_VISIBLE_DEVICES"
	HIPVariable  = "HIP_VISIBLE_DEVICES"
	CUDAVariable = "CUDA_VISIBLE_DEVICES" // read where HIPVariable is not set, or empty
)

// None is a list that chooses nothing.
const None = "-1"

// FromEnv are the lists of the environment that lookup reads. A ROCr list that is set and empty chooses nothing, as in ROCr, and is returned as one that says so; "" chooses
// all.
func FromEnv(lookup func(string) (string, bool)) (rocr, hip string) {
	rocr, set := lookup(ROCrVariable)
	if set && strings.TrimSpace(rocr) == "" {
		rocr = None
	}
	if hip, _ = lookup(HIPVariable); hip == "" {
		hip, _ = lookup(CUDAVariable)
	}
	return rocr, hip
}

// Choose applies both lists to devices of these UUIDs ("GPU-" and 16 hexadecimal digits, "" for one without) and returns their positions.
func Choose(rocr, hip string, uuids []string) []int {
	all := make([]int, len(uuids))
	for i := range all {
		all[i] = i
	}
	there := ROCr(rocr, uuids)
	left := make([]string, len(there))
	for i, n := range there {
		left[i] = uuids[n]
	}
	var out []int
	for _, n := range HIP(hip, left) {
		out = append(out, there[n])
	}
	return out
}

// ROCr applies a ROCR_VISIBLE_DEVICES list; "" chooses all. A UUID may be shortened as long as it names one device; one that is named twice ends the
// list.
func ROCr(list string, uuids []string) []int {
	if strings.TrimSpace(list) == "" {
		return HIP("", uuids)
	}
	var out []int
	for token := range strings.SplitSeq(list, ",") {
		token = strings.ToUpper(strings.TrimSpace(token))
		n := -1
		if strings.HasPrefix(token, "GPU-") {
			if len(token) > len("GPU-") {
				n = only(uuids, func(u string) bool { return strings.HasPrefix(strings.ToUpper(u), token) })
			}
		} else if i, err := strconv.ParseInt(token, 0, 32); err == nil {
			n = int(i)
		}
		if n < 0 || n >= len(uuids) || slices.Contains(out, n) {
			break
		}
		out = append(out, n)
	}
	return out
}

// only is the position of the one that holds, -1 if none or several do.
func only(list []string, holds func(string) bool) int {
	n := slices.IndexFunc(list, holds)
	if n >= 0 && slices.ContainsFunc(list[n+1:], holds) {
		return -1
	}
	return n
}

// HIP applies a HIP_VISIBLE_DEVICES list; "" chooses all. A device that is named twice counts once.
func HIP(list string, uuids []string) []int {
	var out []int
	if strings.TrimSpace(list) == "" {
		for i := range uuids {
			out = append(out, i)
		}
		return out
	}
	for token := range strings.SplitSeq(list, ",") {
		token = strings.TrimSpace(token)
		n := -1
		if strings.HasPrefix(token, "GPU-") {
			n = slices.IndexFunc(uuids, func(u string) bool { return strings.Contains(u, token) })
		} else if i, err := strconv.Atoi(token); err == nil {
			n = i
		}
		if n < 0 || n >= len(uuids) {
			break
		}
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// Within is the list that names, among all devices, what list names among those that outer has chosen: for a library that reads one variable. Both may
// be "".
func Within(outer, list string) string {
	switch {
	case strings.TrimSpace(outer) == "":
		return list
	case strings.TrimSpace(list) == "":
		return outer
	}
	there := strings.Split(outer, ",")
	var out []string
	for token := range strings.SplitSeq(list, ",") {
		token = strings.TrimSpace(token)
		n := -1
		if strings.HasPrefix(strings.ToUpper(token), "GPU-") {
			n = only(there, func(u string) bool {
				return strings.HasPrefix(strings.ToUpper(strings.TrimSpace(u)), strings.ToUpper(token))
			})
		} else if i, err := strconv.Atoi(token); err == nil {
			n = i
		}
		if n < 0 || n >= len(there) {
			break
		}
		out = append(out, strings.TrimSpace(there[n]))
	}
	if len(out) == 0 {
		return None
	}
	return strings.Join(out, ",")
}
