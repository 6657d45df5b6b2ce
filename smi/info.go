package smi

// Info is what does not change about a card while its driver is loaded.
type Info struct {
	Device `msgpack:",inline"`
	ASIC   ASIC     `json:"asic" msgpack:"as"`
	IDs    IDs      `json:"ids" msgpack:"id"`
	Board  Board    `json:"board" msgpack:"bo"`
	VBIOS  VBIOS    `json:"vbios" msgpack:"vb"`
	VRAM   VRAMInfo `json:"vram" msgpack:"vr"`
	Caches []Cache  `json:"caches,omitempty" msgpack:"ca,omitempty"`
	Limits Limits   `json:"limits" msgpack:"li"`
	PCIe   PCIeInfo `json:"pcie" msgpack:"pc"`
	NUMA   NUMA     `json:"numa" msgpack:"nu"`
	Driver Driver   `json:"driver" msgpack:"dr"`

	Virtualization string `json:"virtualization,omitempty" msgpack:"vi,omitempty"` // one of the Virtualization… constants
}

// How the machine the card was read on has the card.
const (
	VirtualizationBareMetal   = "baremetal"
	VirtualizationHost        = "host"        // the host of virtual functions
	VirtualizationGuest       = "guest"       // a virtual function
	VirtualizationPassthrough = "passthrough" // a virtual machine that has the whole card
)

// ASIC is the chip.
type ASIC struct {
	VendorID     Opt[uint32] `json:"vendor_id" msgpack:"v,omitempty"` // PCI; 0x1002 is AMD
	VendorName   string      `json:"vendor_name,omitempty" msgpack:"vn,omitempty"`
	DeviceID     Opt[uint32] `json:"device_id" msgpack:"d,omitempty"`
	SubvendorID  Opt[uint32] `json:"subvendor_id" msgpack:"sv,omitempty"`
	SubsystemID  Opt[uint32] `json:"subsystem_id" msgpack:"ss,omitempty"`
	Revision     Opt[uint32] `json:"revision" msgpack:"r,omitempty"`
	Serial       string      `json:"serial,omitempty" msgpack:"s,omitempty"` // hexadecimal digits, without 0x
	ComputeUnits Opt[int]    `json:"compute_units" msgpack:"cu,omitempty"`
	MaxClockGFX  Opt[Hertz]  `json:"max_clock_gfx_hertz" msgpack:"cg,omitempty"`
	MaxClockMem  Opt[Hertz]  `json:"max_clock_mem_hertz" msgpack:"cm,omitempty"`
	OAM          Opt[uint32] `json:"oam_id" msgpack:"o,omitempty"`                            // place on the baseboard
	GFXVersion   string      `json:"target_graphics_version,omitempty" msgpack:"g,omitempty"` // the target without its features, "gfx942"
}

// IDs are the numbers and names other software knows the card by.
type IDs struct {
	KFD       Opt[uint64] `json:"kfd_id" msgpack:"k,omitempty"`     // gpu_id of /sys/class/kfd/kfd/topology/nodes
	KFDNode   Opt[uint32] `json:"kfd_node" msgpack:"n,omitempty"`   // number of that node; HSA's node id
	Partition Opt[uint32] `json:"partition" msgpack:"p,omitempty"`  // which part of a partitioned card this is
	DRMCard   Opt[uint32] `json:"drm_card" msgpack:"c,omitempty"`   // /dev/dri/cardN
	DRMRender Opt[uint32] `json:"drm_render" msgpack:"r,omitempty"` // /dev/dri/renderDN
	HIP       Opt[uint32] `json:"hip_id" msgpack:"h,omitempty"`     // number of the card for a HIP program that may see all of them
	HIPUUID   string      `json:"hip_uuid,omitempty" msgpack:"u,omitempty"`
}

// Board is what the chip is mounted on.
type Board struct {
	Model        string `json:"model,omitempty" msgpack:"m,omitempty"`
	Serial       string `json:"serial,omitempty" msgpack:"s,omitempty"`
	FRU          string `json:"fru_id,omitempty" msgpack:"f,omitempty"`
	Product      string `json:"product,omitempty" msgpack:"p,omitempty"`
	Manufacturer string `json:"manufacturer,omitempty" msgpack:"v,omitempty"`
}

// VBIOS is the card's boot firmware.
type VBIOS struct {
	Name       string `json:"name,omitempty" msgpack:"n,omitempty"`
	Date       string `json:"date,omitempty" msgpack:"d,omitempty"`
	PartNumber string `json:"part_number,omitempty" msgpack:"p,omitempty"`
	Version    string `json:"version,omitempty" msgpack:"v,omitempty"`
	Boot       string `json:"boot_firmware,omitempty" msgpack:"b,omitempty"`
}

// Cache is one kind of cache.
type Cache struct {
	Level        int        `json:"level" msgpack:"l"`
	Size         Opt[Bytes] `json:"size_bytes" msgpack:"s,omitempty"` // of one
	Data         bool       `json:"data" msgpack:"d,omitempty"`
	Instruction  bool       `json:"instruction" msgpack:"i,omitempty"`
	CPU          bool       `json:"cpu" msgpack:"c,omitempty"`
	SIMD         bool       `json:"simd" msgpack:"m,omitempty"`
	Disabled     bool       `json:"disabled,omitempty" msgpack:"x,omitempty"`
	ComputeUnits Opt[int]   `json:"shared_by_compute_units" msgpack:"u,omitempty"` // that share one
	Count        Opt[int]   `json:"count" msgpack:"n,omitempty"`
}

// Limits are what the card may be driven to.
type Limits struct {
	MaxPower Opt[Watts] `json:"max_power_watts" msgpack:"p,omitempty"` // highest cap that may be set
	MinPower Opt[Watts] `json:"min_power_watts" msgpack:"q,omitempty"`
}

// PCIeInfo is what the card's slot and link can do at most.
type PCIeInfo struct {
	MaxWidth   Opt[int]                `json:"max_width_lanes" msgpack:"w,omitempty"`
	MaxSpeed   Opt[TransfersPerSecond] `json:"max_speed_transfers_per_second" msgpack:"s,omitempty"` // per lane: 32e9 is generation 5
	Generation Opt[int]                `json:"generation" msgpack:"g,omitempty"`
	Slot       string                  `json:"slot,omitempty" msgpack:"t,omitempty"` // one of the Slot… constants
}

// Forms of a card.
const (
	SlotPCIe = "PCIE"
	SlotOAM  = "OAM"
	SlotCEM  = "CEM"
)

// NUMA is the card's place among the host's memories.
type NUMA struct {
	Node Opt[int] `json:"node" msgpack:"n,omitempty"`
	CPUs string   `json:"cpus,omitempty" msgpack:"c,omitempty"` // list of the CPUs next to it, "0-63,128-191"
}

// VRAMInfo is the card's own memory.
type VRAMInfo struct {
	Type         string              `json:"type,omitempty" msgpack:"t,omitempty"` // "HBM3", "GDDR6"
	Vendor       string              `json:"vendor,omitempty" msgpack:"v,omitempty"`
	Size         Opt[Bytes]          `json:"size_bytes" msgpack:"s,omitempty"`
	BitWidth     Opt[int]            `json:"bit_width" msgpack:"w,omitempty"`
	MaxBandwidth Opt[BytesPerSecond] `json:"max_bandwidth_bytes_per_second" msgpack:"b,omitempty"`
}

// Driver is the software that drives the card: "amdgpu", or the simulator.
type Driver struct {
	Name    string `json:"name,omitempty" msgpack:"n,omitempty"`
	Version string `json:"version,omitempty" msgpack:"v,omitempty"`
	Date    string `json:"date,omitempty" msgpack:"d,omitempty"`
}
