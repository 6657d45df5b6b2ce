package collector

import "github.com/rocwire/rocwire/smi"

func init() { register("partition", func(*Options) collector { return partitionCollector{} }) }

var (
	partInfo    = define(gauge, "gpu_partition_info", "How the GPU is divided: into SPX, DPX, … parts, its memory into NPS1, NPS2, ….", "gpu", "compute", "memory")
	partCompute = define(gauge, "gpu_partition_compute_mode", "1 for the way in which the GPU is divided, 0 for those in which it could be.", "gpu", "mode")
	partMemory  = define(gauge, "gpu_partition_memory_mode", "1 for the way in which the GPU's memory is divided (NPS1, NPS2, …), 0 for those in which it could be.", "gpu", "mode")
	partFixed   = define(gauge, "gpu_partition_fixed", "1 if it is known that the GPU cannot be divided otherwise, else 0.", "gpu")
)

// partitionCollector tells how the cards are divided and could be.
type partitionCollector struct{}

func (partitionCollector) update(v *View, emit *emitter) error {
	return eachDetail(v, emit, "partitions", func(c *Card) *Answer[*smi.Partitions] { return &c.Partitions }, func(gpu string, p *smi.Partitions) {
		emit.info(partInfo, gpu, p.Compute, p.Memory)
		boolOpt(emit, partFixed, smi.Some(p.Fixed), gpu)
		choices := make([]string, 0, len(p.Profiles))
		for i := range p.Profiles {
			choices = append(choices, p.Profiles[i].Type)
		}
		modes(emit, partCompute, gpu, p.Compute, choices)
		modes(emit, partMemory, gpu, p.Memory, p.Memories)
	})
}

// modes emits 1 for the mode in force and 0 for the other choices.
func modes(emit *emitter, m *metric, gpu, now string, choices []string) {
	if now != "" {
		emit.gauge(m, 1, gpu, now)
	}
	told := map[string]bool{now: true}
	for _, c := range choices {
		if !told[c] { // a chip has one profile for each way, but a source may list more
			told[c] = true
			emit.gauge(m, 0, gpu, c)
		}
	}
}
