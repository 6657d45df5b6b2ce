package smi

// Partitions is how a card is divided and could be.
type Partitions struct {
	Compute  string             `json:"compute,omitempty" msgpack:"c,omitempty"`        // "SPX", "DPX", "TPX", "QPX", "CPX"
	Memory   string             `json:"memory,omitempty" msgpack:"m,omitempty"`         // "NPS1", "NPS2", "NPS4", "NPS8"
	Memories []string           `json:"memory_choices,omitempty" msgpack:"n,omitempty"` // the memory can be divided into
	Profiles []PartitionProfile `json:"profiles,omitempty" msgpack:"p,omitempty"`       // the chip can be divided into

	// Parts are the parts that there are now, in their order, if the source does not list
	// each as a device.
	Parts []Part `json:"parts,omitempty" msgpack:"t,omitempty"`

	// Fixed says that the source knows that it cannot divide the card otherwise.
	Fixed bool `json:"fixed,omitempty" msgpack:"x,omitempty"`
}

// PartitionProfile is one way to divide the chip.
type PartitionProfile struct {
	Index      int                 `json:"index" msgpack:"i,omitempty"`
	Type       string              `json:"type" msgpack:"t"`                               // as Partitions.Compute
	Partitions int                 `json:"partitions" msgpack:"n"`                         // how many that makes
	Memories   []string            `json:"memory_choices,omitempty" msgpack:"m,omitempty"` // that go with it
	Resources  []PartitionResource `json:"resources,omitempty" msgpack:"r,omitempty"`
}

// PartitionResource is what each part gets of one kind of engine.
type PartitionResource struct {
	Kind     string `json:"kind" msgpack:"k"` // "XCC", "ENCODER", "DECODER", "DMA", "JPEG"
	Count    int    `json:"count" msgpack:"c"`
	SharedBy int    `json:"shared_by" msgpack:"s"` // parts that have it together
}

// Part is one part of a divided card: the numbers other software knows it by, as IDs.
type Part struct {
	KFD       Opt[uint64] `json:"kfd_id" msgpack:"k,omitempty"`
	KFDNode   Opt[uint32] `json:"kfd_node" msgpack:"n,omitempty"`
	DRMRender Opt[uint32] `json:"drm_render" msgpack:"r,omitempty"`
	HIP       Opt[uint32] `json:"hip_id" msgpack:"h,omitempty"`
}
