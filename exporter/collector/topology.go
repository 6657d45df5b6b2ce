package collector

import (
	"strconv"

	"github.com/rocwire/rocwire/smi"
)

func init() {
	register("topology", func(*Options) collector { return topologyCollector{} })
}

var pathLabels = []string{"gpu", "peer_gpu", "type"}

var (
	pathHops = define(gauge, "gpu_path_hops", "Links between two GPUs of a machine, by the way (PCIE or XGMI) one reaches the other.", pathLabels...)
	pathCost = define(gauge, "gpu_path_weight", "The kernel's measure of the distance between two GPUs.", pathLabels...)
	pathOpen = define(gauge, "gpu_path_access", "1 if one GPU may address the other's memory, else 0.", pathLabels...)
	pathMax  = define(gauge, "gpu_path_max_bandwidth_bytes_per_second", "What the way between two GPUs carries at most.", pathLabels...)
)

// topologyCollector tells how the cards reach each other.
type topologyCollector struct{}

func (topologyCollector) update(v *View, emit *emitter) error {
	if !v.Topology.Known {
		return v.Topology.failure("all", "topology")
	}
	for i := range v.Topology.Value.Paths {
		p := &v.Topology.Value.Paths[i]
		l := makeLabels(pathHops, []string{strconv.Itoa(p.From), strconv.Itoa(p.To), p.Type})
		putOpt(emit, pathHops, p.Hops, l)
		putOpt(emit, pathCost, p.Weight, l)
		if a, ok := p.Access.Get(); ok {
			emit.put(pathOpen, truth(a), l)
		}
		putOpt[smi.BytesPerSecond](emit, pathMax, p.MaxBandwidth, l)
	}
	return v.Topology.failure("all", "topology")
}
