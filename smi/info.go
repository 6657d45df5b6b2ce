package smi

// Info is what does not change about a card while its driver is loaded.
type Info struct {
	Device `msgpack:",inline"`
	ASIC   ASIC     `json:"asic" msgpack:"as"`
	VRAM   VRAMInfo `json:"vram" msgpack:"vr"`
	Driver Driver   `json:"driver" msgpack:"dr"`
}

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
