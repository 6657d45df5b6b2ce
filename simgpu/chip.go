package simgpu

import "github.com/rocwire/rocwire/smi"

// chip is what management tools tell of a product beyond what HIP does: the
// vendor's published figures, but for clocks of fabric and video engines and the
// voltages, which are not published and only plausible.
type chip struct {
	slot   string
	oam    bool // the card has a place on a baseboard of such cards
	xccs   int  // accelerator dies
	stacks int  // of HBM
	caches []smi.Cache

	pcieGen    int
	pcieSpeed  smi.TransfersPerSecond
	fabric     [2]smi.Hertz // lowest and highest clock
	video      [2]smi.Hertz
	data       [2]smi.Hertz
	socVolts   smi.Volts
	memVolts   smi.Volts
	vrs        []string // sensors of voltage regulators
	dieSensors bool     // each die has a sensor

	hive     int // cards that can be linked with each other
	linkRate smi.BitsPerSecond

	eeprom   uint32          // version of the table of bad pages
	unsafe   map[string]bool // blocks whose errors are not counted
	firmware []string
	profiles []smi.PartitionProfile // nil: it cannot be divided
	memories []string
}

const (
	pcieLanes = 16
	linkLanes = 16 // of an XGMI link
)

// linkBandwidth is what a link to another card carries one way.
func (c *chip) linkBandwidth() smi.BitsPerSecond { return c.linkRate * linkLanes }

// AMD Instinct MI210: one CDNA 2 die with four stacks of HBM2e on a PCIe 4.0 card,
// up to four of which can be bridged.
var mi210 = chip{
	slot: smi.SlotPCIe, xccs: 1, stacks: 4,
	caches: []smi.Cache{
		{Level: 1, Size: smi.Some(smi.Bytes(16 << 10)), Data: true, SIMD: true, ComputeUnits: smi.Some(1), Count: smi.Some(104)},
		{Level: 1, Size: smi.Some(smi.Bytes(32 << 10)), Instruction: true, SIMD: true, ComputeUnits: smi.Some(2), Count: smi.Some(52)},
		{Level: 1, Size: smi.Some(smi.Bytes(16 << 10)), Data: true, SIMD: true, ComputeUnits: smi.Some(2), Count: smi.Some(52)},
		{Level: 2, Size: smi.Some(smi.Bytes(8 << 20)), Data: true, SIMD: true, ComputeUnits: smi.Some(104), Count: smi.Some(1)},
	},
	pcieGen: 4, pcieSpeed: 16e9,
	fabric: [2]smi.Hertz{400e6, 1600e6}, video: [2]smi.Hertz{29e6, 1200e6}, data: [2]smi.Hertz{22e6, 1000e6},
	socVolts: 0.8, memVolts: 1.2, vrs: []string{smi.SensorVRGFX, smi.SensorVRSOC, smi.SensorVRMem},
	hive: 4, linkRate: 25e9,
	eeprom: 0x10000, unsafe: map[string]bool{"df": true, "ih": true, "mpio": true},
	firmware: []string{
		"asd", "cp_mec1", "cp_mec2", "psp_sosdrv", "rlc", "rlc_restore_list_cntl", "rlc_restore_list_gpm_mem",
		"rlc_restore_list_srm_mem", "sdma0", "sdma1", "smu", "ta_ras", "ta_xgmi", "vcn",
	},
}

// AMD Instinct MI300X: eight CDNA 3 dies over four that hold 256 MiB of cache, with
// eight stacks of HBM3, eight such modules to a baseboard.
var mi300x = chip{
	slot: smi.SlotOAM, oam: true, xccs: 8, stacks: 8,
	caches: []smi.Cache{
		{Level: 1, Size: smi.Some(smi.Bytes(32 << 10)), Data: true, SIMD: true, ComputeUnits: smi.Some(1), Count: smi.Some(304)},
		{Level: 1, Size: smi.Some(smi.Bytes(64 << 10)), Instruction: true, SIMD: true, ComputeUnits: smi.Some(2), Count: smi.Some(152)},
		{Level: 1, Size: smi.Some(smi.Bytes(16 << 10)), Data: true, SIMD: true, ComputeUnits: smi.Some(2), Count: smi.Some(152)},
		{Level: 2, Size: smi.Some(smi.Bytes(4 << 20)), Data: true, SIMD: true, ComputeUnits: smi.Some(38), Count: smi.Some(8)},
		{Level: 3, Size: smi.Some(smi.Bytes(256 << 20)), Data: true, SIMD: true, ComputeUnits: smi.Some(304), Count: smi.Some(1)},
	},
	pcieGen: 5, pcieSpeed: 32e9,
	fabric: [2]smi.Hertz{1200e6, 2100e6}, video: [2]smi.Hertz{29e6, 1333e6}, data: [2]smi.Hertz{22e6, 1111e6},
	socVolts: 0.8, memVolts: 1.1, vrs: []string{smi.SensorVRSOC}, dieSensors: true,
	hive: 8, linkRate: 32e9,
	eeprom: 0x21000, unsafe: map[string]bool{"df": true},
	firmware: []string{
		"cp_mec1", "cp_mec2", "psp_sosdrv", "rlc", "sdma0", "sdma1", "smu", "ta_ras", "ta_xgmi", "vcn",
	},
	memories: []string{"NPS1", "NPS4"},
	profiles: []smi.PartitionProfile{
		{Index: 0, Type: "SPX", Partitions: 1, Memories: []string{"NPS1"}, Resources: parts(1, 32)},
		{Index: 1, Type: "DPX", Partitions: 2, Memories: []string{"NPS1"}, Resources: parts(2, 32)},
		{Index: 2, Type: "QPX", Partitions: 4, Memories: []string{"NPS1"}, Resources: parts(4, 32)},
		{Index: 3, Type: "CPX", Partitions: 8, Memories: []string{"NPS1", "NPS4"}, Resources: parts(8, 32)},
	},
}

// AMD Instinct MI350X: eight CDNA 4 dies of 32 compute units over two that hold 256 MiB
// of cache, with eight stacks of HBM3E, eight such modules to a baseboard. Compute units, the
// LDS and caches are those of ROCm's page "AMD GPU specifications"; memory, its bandwidth, power and the
// highest clock are what AMD announced. Where neither says, in other clocks, voltages, firmware and
// partitions, it is an MI300X or what follows from being like one, not measured on a card.
var mi350x = chip{
	slot: smi.SlotOAM, oam: true, xccs: 8, stacks: 8,
	caches: []smi.Cache{
		{Level: 1, Size: smi.Some(smi.Bytes(32 << 10)), Data: true, SIMD: true, ComputeUnits: smi.Some(1), Count: smi.Some(256)},
		{Level: 1, Size: smi.Some(smi.Bytes(64 << 10)), Instruction: true, SIMD: true, ComputeUnits: smi.Some(2), Count: smi.Some(128)},
		{Level: 1, Size: smi.Some(smi.Bytes(16 << 10)), Data: true, SIMD: true, ComputeUnits: smi.Some(2), Count: smi.Some(128)},
		{Level: 2, Size: smi.Some(smi.Bytes(4 << 20)), Data: true, SIMD: true, ComputeUnits: smi.Some(32), Count: smi.Some(8)},
		{Level: 3, Size: smi.Some(smi.Bytes(256 << 20)), Data: true, SIMD: true, ComputeUnits: smi.Some(256), Count: smi.Some(1)},
	},
	pcieGen: 5, pcieSpeed: 32e9,
	fabric: [2]smi.Hertz{1200e6, 2100e6}, video: [2]smi.Hertz{29e6, 1333e6}, data: [2]smi.Hertz{22e6, 1111e6},
	socVolts: 0.8, memVolts: 1.1, vrs: []string{smi.SensorVRSOC}, dieSensors: true,
	hive: 8, linkRate: 38.4e9,
	eeprom: 0x21000, unsafe: map[string]bool{"df": true},
	firmware: mi300x.firmware,
	memories: []string{"NPS1", "NPS2"},
	profiles: []smi.PartitionProfile{
		{Index: 0, Type: "SPX", Partitions: 1, Memories: []string{"NPS1"}, Resources: parts(1, 40)},
		{Index: 1, Type: "DPX", Partitions: 2, Memories: []string{"NPS1", "NPS2"}, Resources: parts(2, 40)},
		{Index: 2, Type: "QPX", Partitions: 4, Memories: []string{"NPS1", "NPS2"}, Resources: parts(4, 40)},
		{Index: 3, Type: "CPX", Partitions: 8, Memories: []string{"NPS1", "NPS2"}, Resources: parts(8, 40)},
	},
}

// AMD Radeon PRO W7900: one RDNA 3 die of 96 compute units in 48 workgroup processors, with six dies that hold 96 MiB of cache
// and lead to 48 GB of GDDR6 with ECC, on a PCIe 4.0 card. Compute units, the LDS and caches are those of ROCm's page "AMD GPU specifications"; memory, its bandwidth,
// power and the highest clock are what AMD announced. What follows from no source, other clocks and voltages, is only plausible.
var w7900 = chip{
	slot: smi.SlotPCIe, xccs: 1,
	caches: []smi.Cache{
		{Level: 1, Size: smi.Some(smi.Bytes(32 << 10)), Data: true, SIMD: true, ComputeUnits: smi.Some(1), Count: smi.Some(96)},
		{Level: 1, Size: smi.Some(smi.Bytes(32 << 10)), Instruction: true, SIMD: true, ComputeUnits: smi.Some(2), Count: smi.Some(48)},
		{Level: 1, Size: smi.Some(smi.Bytes(16 << 10)), Data: true, SIMD: true, ComputeUnits: smi.Some(2), Count: smi.Some(48)},
		{Level: 1, Size: smi.Some(smi.Bytes(256 << 10)), Data: true, SIMD: true, ComputeUnits: smi.Some(8), Count: smi.Some(12)},
		{Level: 2, Size: smi.Some(smi.Bytes(6 << 20)), Data: true, SIMD: true, ComputeUnits: smi.Some(96), Count: smi.Some(1)},
		{Level: 3, Size: smi.Some(smi.Bytes(96 << 20)), Data: true, SIMD: true, ComputeUnits: smi.Some(96), Count: smi.Some(1)},
	},
	pcieGen: 4, pcieSpeed: 16e9,
	fabric: [2]smi.Hertz{400e6, 2000e6}, video: [2]smi.Hertz{29e6, 2200e6}, data: [2]smi.Hertz{22e6, 1500e6},
	socVolts: 0.8, memVolts: 1.35, vrs: []string{smi.SensorVRGFX, smi.SensorVRSOC, smi.SensorVRMem},
	hive:   1, // no links
	eeprom: 0x21000, unsafe: map[string]bool{"df": true, "ih": true, "mpio": true},
	firmware: []string{
		"asd", "cp_me", "cp_mec1", "cp_pfp", "psp_sosdrv", "rlc", "sdma0", "sdma1", "smu", "ta_ras", "vcn",
	},
}

// parts is what each of n parts of an MI300X or MI350X gets: 8 XCCs, 16 DMA engines, 4 video
// decoders and its JPEG decoders divided by n; of what there are fewer than n, several
// parts share one.
func parts(n, jpeg int) []smi.PartitionResource {
	share := func(kind string, total int) smi.PartitionResource {
		return smi.PartitionResource{Kind: kind, Count: max(total/n, 1), SharedBy: max(n/total, 1)}
	}
	return []smi.PartitionResource{share("XCC", 8), share("DECODER", 4), share("DMA", 16), share("JPEG", jpeg)}
}
