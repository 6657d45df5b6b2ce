package smiabi

import (
	"strings"

	"github.com/rocwire/rocwire/smi"
)

// partitionTypes are the ways to divide a chip, by AMD SMI's number, which the older
// interface numbers the same.
var partitionTypes = map[acceleratorPartitionType]string{
	AMDSMI_ACCELERATOR_PARTITION_SPX: "SPX",
	AMDSMI_ACCELERATOR_PARTITION_DPX: "DPX",
	AMDSMI_ACCELERATOR_PARTITION_TPX: "TPX",
	AMDSMI_ACCELERATOR_PARTITION_QPX: "QPX",
	AMDSMI_ACCELERATOR_PARTITION_CPX: "CPX",
}

// memoryTypes are the ways to divide the memory, by AMD SMI's number: in how many.
var memoryTypes = map[memoryPartitionType]string{
	AMDSMI_MEMORY_PARTITION_NPS1: "NPS1",
	AMDSMI_MEMORY_PARTITION_NPS2: "NPS2",
	AMDSMI_MEMORY_PARTITION_NPS4: "NPS4",
	AMDSMI_MEMORY_PARTITION_NPS8: "NPS8",
}

// resourceTypes are the kinds of engine that are divided.
var resourceTypes = map[string]acceleratorPartitionResourceType{
	"XCC":     AMDSMI_ACCELERATOR_XCC,
	"ENCODER": AMDSMI_ACCELERATOR_ENCODER,
	"DECODER": AMDSMI_ACCELERATOR_DECODER,
	"DMA":     AMDSMI_ACCELERATOR_DMA,
	"JPEG":    AMDSMI_ACCELERATOR_JPEG,
}

// numberOf is the key of a value; the zero value if there is none.
func numberOf[K comparable, V comparable](m map[K]V, v V) (key K) {
	for k, x := range m {
		if x == v {
			return k
		}
	}
	return key
}

// caps is a list of ways to divide the memory as bits: 1 for NPS1, 2 for NPS2, 4 for
// NPS4, 8 for NPS8.
func caps(memories []string) (bits npsCaps) {
	for _, m := range memories {
		bits |= npsCaps(numberOf(memoryTypes, strings.ToUpper(m)))
	}
	return bits
}

// profileNow is the profile in force, nil if it is not among the profiles.
func profileNow(p *smi.Partitions) *smi.PartitionProfile {
	for i := range p.Profiles {
		if p.Profiles[i].Type == p.Compute {
			return &p.Profiles[i]
		}
	}
	return nil
}

// amdsmiGetGPUComputePartition is how the chip is divided, "SPX" and the like.
func amdsmiGetGPUComputePartition(c card, dst *byte, size uint32) status {
	return c.division(dst, size, func(p *smi.Partitions) string { return p.Compute })
}

// amdsmiGetGPUMemoryPartition is how the memory is divided, "NPS1" and the like.
func amdsmiGetGPUMemoryPartition(c card, dst *byte, size uint32) status {
	return c.division(dst, size, func(p *smi.Partitions) string { return p.Memory })
}

func (c card) division(dst *byte, size uint32, which func(*smi.Partitions) string) status {
	if size == 0 {
		return AMDSMI_STATUS_INVAL
	}
	p, st := c.partitions()
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	s := which(p)
	if s == "" {
		return AMDSMI_STATUS_NOT_SUPPORTED
	}
	if st := fits(dst, uint64(size), s); st != AMDSMI_STATUS_SUCCESS {
		putString(dst, uint64(size), s) // as much as there is room for
		return st
	}
	return AMDSMI_STATUS_SUCCESS
}

// amdsmiGetGPUMemoryPartitionConfig is how the memory is divided and could be. Which
// ranges belong to which node of the host is not known.
func amdsmiGetGPUMemoryPartitionConfig(c card, config *memoryPartitionConfig) status {
	p, st := c.partitions()
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	if p.Memory == "" {
		return AMDSMI_STATUS_NOT_SUPPORTED
	}
	*config = memoryPartitionConfig{partitionCaps: caps(p.Memories), mpMode: numberOf(memoryTypes, p.Memory)}
	return AMDSMI_STATUS_SUCCESS
}

// perProfile is how many rows of the table of resources each profile has: as many as
// the profile with the most, as far as the table goes. The rows of a profile stand
// together, in the profiles' order.
func perProfile(p *smi.Partitions) int {
	n := 0
	for i := range p.Profiles {
		n = max(n, len(p.Profiles[i].Resources))
	}
	return min(n, AMDSMI_MAX_CP_PROFILE_RESOURCES/max(1, len(p.Profiles)))
}

// profile is the i-th way to divide the chip.
func profile(p *smi.Partitions, i int) acceleratorPartitionProfile {
	f := &p.Profiles[i]
	out := acceleratorPartitionProfile{
		profileType: numberOf(partitionTypes, f.Type), numPartitions: clamp[uint32](float64(f.Partitions)), memoryCaps: caps(f.Memories),
		profileIndex: clamp[uint32](float64(f.Index)),
	}
	rows := perProfile(p)
	out.numResources = uint32(min(rows, len(f.Resources)))
	for part := range out.resources[:min(int(out.numPartitions), len(out.resources))] {
		for r := range out.numResources {
			out.resources[part][r] = uint32(i*rows) + r
		}
	}
	return out
}

// amdsmiGetGPUAcceleratorPartitionProfile is how the chip is divided, and which part
// this is. The latter is told for cards that cannot be divided, too.
func amdsmiGetGPUAcceleratorPartitionProfile(c card, out *acceleratorPartitionProfile, ids *uint32) status {
	*ids = 0
	if i, st := c.info(); st == AMDSMI_STATUS_SUCCESS {
		*ids = i.IDs.Partition.Or(0)
	}
	p, st := c.partitions()
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	for i := range p.Profiles {
		if p.Profiles[i].Type == p.Compute {
			*out = profile(p, i)
			return AMDSMI_STATUS_SUCCESS
		}
	}
	t := numberOf(partitionTypes, p.Compute)
	if t == AMDSMI_ACCELERATOR_PARTITION_INVALID {
		return AMDSMI_STATUS_NOT_SUPPORTED
	}
	*out = acceleratorPartitionProfile{profileType: t, memoryCaps: caps(p.Memories)}
	return AMDSMI_STATUS_SUCCESS
}

// amdsmiGetGPUAcceleratorPartitionProfileConfig is how the chip could be divided.
func amdsmiGetGPUAcceleratorPartitionProfileConfig(c card, config *acceleratorPartitionProfileConfig) status {
	p, st := c.partitions()
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	if len(p.Profiles) == 0 {
		return AMDSMI_STATUS_NOT_SUPPORTED
	}
	*config = acceleratorPartitionProfileConfig{numProfiles: uint32(min(len(p.Profiles), len(config.profiles)))}
	rows := perProfile(p)
	config.numResourceProfiles = uint32(rows)
	for i := range config.profiles[:config.numProfiles] {
		f := &p.Profiles[i]
		config.profiles[i] = profile(p, i)
		if f.Type == "SPX" { // undivided, which is how a card starts
			config.defaultProfileIndex = uint32(i)
		}
		for r := range rows {
			row := &config.resourceProfiles[i*rows+r]
			row.profileIndex = uint32(i*rows + r)
			if r < len(f.Resources) {
				row.resourceType = resource(f.Resources[r].Kind)
				row.partitionResource = clamp[uint32](float64(f.Resources[r].Count))
				row.numPartitionsShareResource = clamp[uint32](float64(f.Resources[r].SharedBy))
			} else {
				row.resourceType = AMDSMI_ACCELERATOR_MAX
			}
		}
	}
	return AMDSMI_STATUS_SUCCESS
}

func resource(kind string) acceleratorPartitionResourceType {
	if t, ok := resourceTypes[kind]; ok {
		return t
	}
	return AMDSMI_ACCELERATOR_MAX
}
