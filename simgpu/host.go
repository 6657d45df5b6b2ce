package simgpu

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rocwire/rocwire/smi"
)

// host is where the cards are plugged in: the machine's memories and the CPUs next
// to them. The zero host knows none.
type host struct{ nodes []smi.NUMA }

// maxNodes bounds how many memories of a machine are looked at.
const maxNodes = 64

// thisHost reads what the kernel says about this machine.
func thisHost() host { return readHost("/sys/devices/system/node") }

func readHost(dir string) host {
	var h host
	for n := range maxNodes {
		b, err := os.ReadFile(filepath.Join(dir, "node"+strconv.Itoa(n), "cpulist"))
		cpus := strings.TrimSpace(string(b))
		if err != nil || cpus == "" || len(cpus) > 1024 {
			continue
		}
		h.nodes = append(h.nodes, smi.NUMA{Node: smi.Some(n), CPUs: cpus})
	}
	return h
}

// numa is the place of card i of n: the cards are spread over the memories.
func (h *host) numa(i, n int) smi.NUMA {
	if len(h.nodes) == 0 || n == 0 {
		return smi.NUMA{}
	}
	return h.nodes[i*len(h.nodes)/n]
}
