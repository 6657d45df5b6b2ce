package amdsmi

import (
	"context"
	"slices"

	"github.com/rocwire/rocwire/smi"
)

// Partitions implements smi.Source.
func (s *Source) Partitions(ctx context.Context, index int) (*smi.Partitions, error) {
	return ask(ctx, s, index, askPartitions, (*reader).partitions)
}

// computePartitions are the values of amdsmi_accelerator_partition_type_t and
// amdsmi_compute_partition_type_t.
var computePartitions = []string{1: "SPX", 2: "DPX", 3: "TPX", 4: "QPX", 5: "CPX"}

// memoryPartitions are the values of amdsmi_memory_partition_type_t.
var memoryPartitions = map[uint64]string{1: "NPS1", 2: "NPS2", 4: "NPS4", 8: "NPS8"}

// resourceKinds are the values of amdsmi_accelerator_partition_resource_type_t.
var resourceKinds = []string{"XCC", "ENCODER", "DECODER", "DMA", "JPEG"}

// memoryChoices reads a bit set of ways to divide the memory.
func memoryChoices(o smi.Opt[uint64]) (list []string) {
	for i, name := range []string{"NPS1", "NPS2", "NPS4", "NPS8"} {
		if o.Or(0)>>i&1 == 1 {
			list = append(list, name)
		}
	}
	return list
}

// named is entry v of a list of names, empty if there is none.
func named(list []string, v smi.Opt[uint64]) string {
	if i := v.Or(^uint64(0)); i < uint64(len(list)) {
		return list[i]
	}
	return ""
}

func (r *reader) partitions() (*smi.Partitions, error) {
	p := &smi.Partitions{Compute: r.getText(fnComputePartition), Memory: r.getText(fnMemoryPartition)}
	if !slices.Contains(computePartitions, p.Compute) {
		p.Compute = ""
	}
	m := &r.l().memoryPartitionConfig
	b := r.get(fnMemoryPartitionConfig, m.size)
	p.Memories = memoryChoices(b.num(m.partitionCaps))
	if mode := memoryPartitions[b.num(m.mpMode).Or(0)]; !known(p.Memory) {
		p.Memory = mode
	}
	p.Profiles = r.profiles()
	return answer(r, p)
}

// known says whether s is a way to divide the memory.
func known(s string) bool {
	for _, m := range memoryPartitions {
		if m == s {
			return true
		}
	}
	return false
}

// profiles lists the ways to divide the chip, each with what a part gets.
func (r *reader) profiles() (list []smi.PartitionProfile) {
	c := &r.l().acceleratorPartitionProfileConfig
	f := &r.l().acceleratorPartitionProfile
	config := r.get(fnPartitionProfiles, c.size)
	for i := range config.length(c.numProfiles, c.profiles.count) {
		b := config.part(c.profiles, i)
		p := smi.PartitionProfile{
			Index: asInt(b.num(f.profileIndex)).Or(i), Type: named(computePartitions, b.num(f.profileType)),
			Partitions: asInt(b.num(f.numPartitions)).Or(0), Memories: memoryChoices(b.num(f.memoryCaps)),
		}
		if p.Type == "" || p.Partitions < 1 {
			continue
		}
		// Each part has a row of indices; the parts of one profile are alike.
		for k := range b.length(f.numResources, f.resources.count) {
			if res, ok := r.resource(config, b.numAt(f.resources, k)); ok {
				p.Resources = append(p.Resources, res)
			}
		}
		list = append(list, p)
	}
	return list
}

// resource is the resource with that profile index.
func (r *reader) resource(config buf, index smi.Opt[uint64]) (smi.PartitionResource, bool) {
	c := &r.l().acceleratorPartitionProfileConfig
	f := &r.l().acceleratorPartitionResourceProfile
	for i := range config.length(c.numResourceProfiles, c.resourceProfiles.count) {
		b := config.part(c.resourceProfiles, i)
		if !index.Ok() || b.num(f.profileIndex) != index {
			continue
		}
		res := smi.PartitionResource{
			Kind: named(resourceKinds, b.num(f.resourceType)), Count: asInt(b.num(f.partitionResource)).Or(0),
			SharedBy: max(1, asInt(b.num(f.numPartitionsShareResource)).Or(1)),
		}
		return res, res.Kind != ""
	}
	return smi.PartitionResource{}, false
}
