package provider

import (
	"path"
	"strings"
)

// mountsVariable lists what an operator wants in every worker's container.
const mountsVariable = "ROCWIRE_ACCELERATOR_MOUNTS"

// mount is a folder of the node and where a container sees it.
type mount struct{ host, guest string }

// mounts reads "/host:/container,/both". Workers' images bring ROCm along: nothing of
// the node is needed unless an operator says so. What is no absolute path of less than
// 512 bytes is left out, and told.
func mounts(list string) (ms []mount, bad []string) {
	for m := range strings.SplitSeq(list, ",") {
		if m = strings.TrimSpace(m); m == "" {
			continue
		}
		host, guest, ok := strings.Cut(m, ":")
		if !ok {
			guest = host
		}
		if !path.IsAbs(host) || !path.IsAbs(guest) || len(host) > 511 || len(guest) > 511 {
			bad = append(bad, m)
			continue
		}
		ms = append(ms, mount{path.Clean(host), path.Clean(guest)})
	}
	return ms, bad
}
