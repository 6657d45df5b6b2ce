package sysfs

import (
	"errors"
	"testing"

	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/sysfs/sysfstest"
)

func TestInfo(t *testing.T) {
	tree := sysfstest.MI300X(t, 8)
	s := openTree(t, tree)
	i, err := s.Info(t.Context(), 5)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "asic", i.ASIC, smi.ASIC{
		VendorID: smi.Some[uint32](0x1002), VendorName: "Advanced Micro Devices, Inc. [AMD/ATI]", DeviceID: smi.Some[uint32](0x74a1),
		SubvendorID: smi.Some[uint32](0x1002), SubsystemID: smi.Some[uint32](0x0c34), Revision: smi.Some[uint32](0),
		Serial: "8c2cc938055be375", ComputeUnits: smi.Some(304), MaxClockGFX: smi.Some[smi.Hertz](2100e6),
		MaxClockMem: smi.Some[smi.Hertz](1300e6), OAM: smi.Some[uint32](5), GFXVersion: "gfx942",
	})
	equal(t, "ids", i.IDs, smi.IDs{KFD: smi.Some[uint64](45555), KFDNode: smi.Some[uint32](7), DRMCard: smi.Some[uint32](41),
		DRMRender: smi.Some[uint32](168), HIP: smi.Some[uint32](5), HIPUUID: "GPU-8c2cc938055be375"})
	equal(t, "board", i.Board, smi.Board{Model: "102-G30211-00", Serial: "692251001005", FRU: "113-AMDG302110006", Product: "AMD Instinct MI300X OAM", Manufacturer: "AMD"})
	equal(t, "vram", i.VRAM, smi.VRAMInfo{Vendor: "hynix", Size: smi.Some[smi.Bytes](192<<30 - 16<<20), BitWidth: smi.Some(8192), MaxBandwidth: smi.Some[smi.BytesPerSecond](5300e9)})
	equal(t, "caches", i.Caches, []smi.Cache{
		{Level: 1, Size: smi.Some[smi.Bytes](32 << 10), Data: true, SIMD: true, ComputeUnits: smi.Some(1), Count: smi.Some(1)},
		{Level: 1, Size: smi.Some[smi.Bytes](64 << 10), Instruction: true, SIMD: true, ComputeUnits: smi.Some(2), Count: smi.Some(1)},
		{Level: 2, Size: smi.Some[smi.Bytes](4 << 20), Data: true, SIMD: true, ComputeUnits: smi.Some(38), Count: smi.Some(2)},
	})
	equal(t, "pcie", i.PCIe, smi.PCIeInfo{MaxWidth: smi.Some(16), MaxSpeed: smi.Some[smi.TransfersPerSecond](32e9), Generation: smi.Some(5), Slot: smi.SlotOAM})
	equal(t, "numa", i.NUMA, smi.NUMA{Node: smi.Some(1), CPUs: "48-95,144-191"})
	equal(t, "driver", i.Driver, smi.Driver{Name: "amdgpu", Version: "6.12.12"})
	equal(t, "vbios", i.VBIOS, smi.VBIOS{PartNumber: "113-M3000100-102"})
	equal(t, "virtualization", i.Virtualization, smi.VirtualizationBareMetal)

	tree.Write("proc/cpuinfo", "flags\t: fpu hypervisor sse2\n")
	tree.Remove("sys/module/amdgpu/version")
	tree.Remove("sys/class/kfd")
	i, err = openTree(t, tree).Info(t.Context(), 5)
	if err != nil || i.Virtualization != "" || i.Driver.Version != "6.8.0-60-generic" || i.IDs.KFD.Ok() || i.Target != "" {
		t.Errorf("in a virtual machine, without the compute driver: %+v, %v", i, err)
	}
	apu, err := openTree(t, sysfstest.APU(t)).Info(t.Context(), 0)
	if err != nil || apu.UUID != "" || apu.ASIC.Serial != "" || apu.NUMA.Node.Ok() || apu.VRAM.Vendor != "" || apu.Target != "gfx90c" {
		t.Errorf("an APU: %+v, %v", apu, err)
	}
}

func TestTargets(t *testing.T) {
	for v, want := range map[uint64]string{
		90402: "gfx942", 90010: "gfx90a", 90500: "gfx950", 110000: "gfx1100", 120001: "gfx1201", 100306: "gfx1036", 90012: "gfx90c",
		0: "", 99: "", 12: "", 1 << 60: "", 91600: "", 90016: "",
	} {
		n := &node{props: map[string]uint64{"gfx_target_version": v}}
		equal(t, "target", n.target(), want)
	}
}

func TestFirmware(t *testing.T) {
	fs, err := openTree(t, sysfstest.MI300X(t, 1)).Firmware(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, f := range fs {
		got[f.Name] = f.Version
	}
	equal(t, "versions", got, map[string]string{
		"pm": "00.85.118.00", "cp_mec1": "168", "rlc": "86", "sdma0": "21", "psp_sosdrv": "00.36.02.3d",
		"vcn": "09.11.70.05", "ta_ras": "1b.36.02.3e", "ta_xgmi": "20.00.00.13",
	})
	if _, err := openTree(t, sysfstest.APU(t)).Firmware(t.Context(), 0); !errors.Is(err, smi.ErrNotSupported) {
		t.Errorf("a card without the files: %v", err)
	}
}

func TestECC(t *testing.T) {
	tree := sysfstest.MI300X(t, 4)
	s := openTree(t, tree)
	e, err := s.ECC(t.Context(), 3)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "totals", [3]smi.Opt[uint64]{e.Correctable, e.Uncorrectable, e.Deferred}, [3]smi.Opt[uint64]{smi.Some[uint64](3), smi.Some[uint64](0), smi.Some[uint64](1)})
	equal(t, "umc", e.Blocks[0], smi.ECCBlock{Block: "umc", State: smi.RASEnabled, Correctable: smi.Some[uint64](3), Uncorrectable: smi.Some[uint64](0), Deferred: smi.Some[uint64](1)})
	equal(t, "vcn", e.Blocks[5].State, smi.RASDisabled)
	equal(t, "version of the table", e.EEPROMVersion, smi.Some[uint32](0x30000))
	equal(t, "poison", e.Poison, smi.Some(true))
	equal(t, "limit", e.BadPageLimit, smi.None[uint32]())
	tree.Write("sys/module/amdgpu/parameters/bad_page_threshold", "100\n")
	tree.Set(3, "ras/umc_err_count", "nonsense\nue: x\nce: 18446744073709551615\n")
	e, err = s.ECC(t.Context(), 3)
	if err != nil || e.BadPageLimit != smi.Some[uint32](100) || e.Blocks[0].Correctable.Ok() || e.Blocks[0].Uncorrectable.Ok() {
		t.Errorf("%+v, %v", e, err)
	}
	e, err = openTree(t, sysfstest.MI210(t, 1)).ECC(t.Context(), 0)
	if err != nil || e.Deferred.Ok() || e.Correctable != smi.Some[uint64](3) {
		t.Errorf("a card that does not count deferred errors: %+v, %v", e, err)
	}
	if _, err := openTree(t, sysfstest.RX7900XTX(t)).ECC(t.Context(), 0); !errors.Is(err, smi.ErrNotSupported) {
		t.Errorf("a card that counts no errors: %v", err)
	}
}

func TestBadPages(t *testing.T) {
	ps, err := openTree(t, sysfstest.MI300X(t, 1)).BadPages(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "pages", ps, []smi.BadPage{
		{Address: 0x12345000, Size: 4096, State: smi.PageReserved}, {Address: 0x12346000, Size: 4096, State: smi.PagePending},
	})
	ps, err = openTree(t, sysfstest.MI210(t, 1)).BadPages(t.Context(), 0)
	if err != nil || len(ps) != 0 {
		t.Errorf("a card without bad pages: %v, %v", ps, err)
	}
}

func TestPartitions(t *testing.T) {
	p, err := openTree(t, sysfstest.MI300X(t, 1)).Partitions(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "now", [2]string{p.Compute, p.Memory}, [2]string{"SPX", "NPS1"})
	equal(t, "memories", p.Memories, []string{"NPS1", "NPS4"})
	equal(t, "profiles", p.Profiles, []smi.PartitionProfile{
		{Index: 0, Type: "SPX", Partitions: 1, Memories: []string{"NPS1"}, Resources: []smi.PartitionResource{
			{Kind: "XCC", Count: 8, SharedBy: 1}, {Kind: "DECODER", Count: 4, SharedBy: 1}, {Kind: "DMA", Count: 16, SharedBy: 1}, {Kind: "JPEG", Count: 32, SharedBy: 1},
		}},
		{Index: 1, Type: "DPX", Partitions: 2}, {Index: 2, Type: "QPX", Partitions: 4}, {Index: 3, Type: "CPX", Partitions: 8},
	})
	if _, err := openTree(t, sysfstest.MI210(t, 1)).Partitions(t.Context(), 0); !errors.Is(err, smi.ErrNotSupported) {
		t.Errorf("a card that cannot be divided: %v", err)
	}
}

func TestXGMI(t *testing.T) {
	tree := sysfstest.MI300X(t, 3)
	s := openTree(t, tree)
	x, err := s.XGMI(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "hive", x.Hive, smi.Some[uint64](6724520450194899968))
	equal(t, "node", x.Node, smi.Some[uint64](0x5ce047393a6b0200))
	equal(t, "lanes", x.Lanes, smi.Some(16))
	equal(t, "errors", x.Errors, smi.XGMINoErrors)
	if len(x.Links) != 2 {
		t.Fatalf("links %+v", x.Links)
	}
	equal(t, "a link", x.Links[1], smi.XGMILink{Peer: smi.Some(smi.BDF{Bus: 0x46}), State: smi.LinkUp,
		Rate: smi.Some[smi.BitsPerSecond](32e9), MaxBandwidth: smi.Some[smi.BitsPerSecond](512e9)})

	// Newer kernels tell which port leads where, and so whose the counters are.
	for i := range tree.Cards {
		tree.Link(tree.Cards[0].Dir+"/xgmi_hive_info/node"+string(rune('1'+i)), "../../"+tree.Cards[i].BDF)
	}
	tree.Set(0, "xgmi_port_num", "01:05 ->  02:03\n01:02 ->  03:00\nnonsense\n")
	tree.Set(0, "xgmi_error", "7\n")
	x, err = s.XGMI(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "errors", x.Errors, smi.XGMIMultipleErrors)
	equal(t, "links", x.Links, []smi.XGMILink{
		{Peer: smi.Some(smi.BDF{Bus: 0x26}), State: smi.LinkUp, Rate: smi.Some[smi.BitsPerSecond](32e9), MaxBandwidth: smi.Some[smi.BitsPerSecond](512e9),
			Read: smi.Some[smi.Bytes](1005 << 10), Written: smi.Some[smi.Bytes](2005 << 10)},
		{Peer: smi.Some(smi.BDF{Bus: 0x46}), State: smi.LinkUp, Rate: smi.Some[smi.BitsPerSecond](32e9), MaxBandwidth: smi.Some[smi.BitsPerSecond](512e9),
			Read: smi.Some[smi.Bytes](1002 << 10), Written: smi.Some[smi.Bytes](2002 << 10)},
	})
	if _, err := openTree(t, sysfstest.RX7900XTX(t)).XGMI(t.Context(), 0); !errors.Is(err, smi.ErrNotSupported) {
		t.Errorf("a card without links: %v", err)
	}
}

func TestTopology(t *testing.T) {
	top, err := openTree(t, sysfstest.MI300X(t, 8)).Topology(t.Context())
	if err != nil || len(top.Paths) != 56 {
		t.Fatalf("%+v, %v", top, err)
	}
	equal(t, "linked", *top.Path(1, 6), smi.Path{From: 1, To: 6, Type: smi.LinkXGMI, Weight: smi.Some[uint64](15), Hops: smi.Some[uint64](1),
		Access: smi.Some(true), Coherent: smi.Some(true), Atomics32: smi.Some(true), Atomics64: smi.Some(true), DMA: smi.Some(true),
		Bidirectional: smi.Some(true), MinBandwidth: smi.Some[smi.BytesPerSecond](64e9), MaxBandwidth: smi.Some[smi.BytesPerSecond](64e9)})

	tree := sysfstest.MI210(t, 2)
	top, err = openTree(t, tree).Topology(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "peer to peer", *top.Path(0, 1), smi.Path{From: 0, To: 1, Type: smi.LinkPCIe, Weight: smi.Some[uint64](40), Hops: smi.Some[uint64](2),
		Access: smi.Some(true), Coherent: smi.Some(false), Atomics32: smi.Some(false), Atomics64: smi.Some(false), DMA: smi.Some(true),
		Bidirectional: smi.Some(true), MaxBandwidth: smi.Some[smi.BytesPerSecond](32e9)})
	for i := 1; i <= 2; i++ {
		tree.Remove("sys/class/kfd/kfd/topology/nodes/" + string(rune('0'+i)) + "/p2p_links")
	}
	top, err = openTree(t, tree).Topology(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "through the host", *top.Path(1, 0), smi.Path{From: 1, To: 0, Type: smi.LinkPCIe, Weight: smi.Some[uint64](40), Hops: smi.Some[uint64](2), Access: smi.Some(false)})
	tree.Remove("sys/class/kfd")
	if _, err := openTree(t, tree).Topology(t.Context()); !errors.Is(err, smi.ErrNotSupported) {
		t.Errorf("without the compute driver: %v", err)
	}
}
