package amdsmi

import (
	"reflect"
	"testing"
	"time"

	"github.com/rocwire/rocwire/smi"
)

// same compares what is, or is not, available.
func same[T comparable](t *testing.T, what string, got, want smi.Opt[T]) {
	t.Helper()
	if got != want {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

func TestInfo(t *testing.T) {
	eachABI(t, func(t *testing.T, s *stub) {
		src := s.open(t)
		i, err := src.Info(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		if i.Name != "AMD Instinct MI300X" || i.Target != "gfx942" || i.UUID != "10ff74a1-0000-1000-8000-0123456789ab" || i.ASIC.Serial != "3D4CFFEFC6F09B1B" {
			t.Errorf("%+v", i.Device)
		}
		same(t, "BDF", i.BDF, smi.Some(smi.BDF{Bus: 0xc1}))
		same(t, "compute units", i.ASIC.ComputeUnits, smi.Some(304))
		same(t, "OAM", i.ASIC.OAM, smi.Some[uint32](5))
		same(t, "largest clock", i.ASIC.MaxClockGFX, smi.Some(smi.Hertz(2.1e9)))
		same(t, "VRAM", i.VRAM.Size, smi.Some(smi.MiB(196592)))
		same(t, "bandwidth", i.VRAM.MaxBandwidth, smi.Some(smi.BytesPerSecond(5.3e12)))
		same(t, "PCIe speed", i.PCIe.MaxSpeed, smi.Some(smi.TransfersPerSecond(32e9)))
		same(t, "PCIe generation", i.PCIe.Generation, smi.Some(5))
		same(t, "highest cap", i.Limits.MaxPower, smi.Some(smi.Watts(750)))
		same(t, "NUMA node", i.NUMA.Node, smi.Some(0))
		same(t, "DRM card", i.IDs.DRMCard, smi.Some[uint32](11))
		if i.VRAM.Type != "HBM3" || i.VRAM.Vendor != "Hynix" || i.PCIe.Slot != smi.SlotOAM || i.Driver.Name != "amdgpu" || i.VBIOS.Version != "022.040.003.041" || i.VBIOS.PartNumber != "113-M3000100-102" {
			t.Errorf("%+v", i)
		}
		if len(i.Caches) != 2 || i.Caches[1].Level != 2 || i.Caches[1].Size != smi.Some(smi.MiB(4)) || !i.Caches[1].Data || i.Caches[1].Instruction || i.Caches[1].Disabled {
			t.Errorf("caches %+v", i.Caches)
		}
		// What the ABI decides.
		boot, cpus, sub := "00.01.02", "0-63,128-129,191", smi.Some[uint32](0x74a1)
		if s.abi == 25 {
			boot, cpus, sub = "", "", smi.None[uint32]()
		}
		if i.VBIOS.Boot != boot || i.NUMA.CPUs != cpus || i.ASIC.SubsystemID != sub {
			t.Errorf("boot firmware %q, CPUs %q, subsystem %v", i.VBIOS.Boot, i.NUMA.CPUs, i.ASIC.SubsystemID)
		}

		i, err = src.Info(t.Context(), 1) // of which almost nothing is known
		if err != nil {
			t.Fatal(err)
		}
		if i.Target != "" || i.ASIC.Serial != "" || i.Board.Model != "" || i.Board.FRU != "" || i.VRAM.Vendor != "" || i.Caches != nil || i.PCIe != (smi.PCIeInfo{}) {
			t.Errorf("%+v", i)
		}
		if i.ASIC.ComputeUnits.Ok() || i.ASIC.OAM.Ok() || i.ASIC.MaxClockGFX.Ok() || i.VRAM.BitWidth.Ok() || i.VRAM.MaxBandwidth.Ok() || i.IDs.KFD.Ok() || i.IDs.KFDNode.Ok() || i.NUMA.Node.Ok() {
			t.Errorf("%+v", i)
		}
		if i, err = src.Info(t.Context(), 2); err != nil {
			t.Fatal(err)
		}
		same(t, "PCIe speed told in GT/s", i.PCIe.MaxSpeed, smi.Some(smi.TransfersPerSecond(16e9)))
	})
}

func TestMetrics(t *testing.T) {
	eachABI(t, func(t *testing.T, s *stub) {
		src := s.open(t)
		m, err := src.Metrics(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "GFX activity", m.Activity.GFX, smi.Some(smi.Ratio(0.97)))
		same(t, "MM activity", m.Activity.MM, smi.None[smi.Ratio]())
		engines := []smi.Engine{
			{Kind: "gfx", Index: 0, Busy: smi.Some(smi.Percent(97))}, {Kind: "gfx", Index: 1, Busy: smi.Some(smi.Percent(88))},
			{Kind: "vcn", Index: 0, Busy: smi.Some(smi.Percent(3))}, {Kind: "jpeg", Index: 0, Busy: smi.Some(smi.Percent(0))},
		}
		if !reflect.DeepEqual(m.Activity.Engines, engines) {
			t.Errorf("engines %+v", m.Activity.Engines)
		}
		same(t, "GTT", m.GTT.Used, smi.Some(smi.MiB(20)))
		same(t, "visible VRAM", m.VisibleVRAM.Used, smi.Some(smi.MiB(12)))
		same(t, "power", m.Power.Socket, smi.Some(smi.Watts(421)))
		same(t, "average power", m.Power.Average, smi.None[smi.Watts]())
		same(t, "cap", m.Power.Cap, smi.Some(smi.Watts(750)))
		same(t, "GFX voltage", m.Voltages.GFX, smi.Some(smi.Volts(0.85)))
		same(t, "SOC voltage", m.Voltages.SOC, smi.None[smi.Volts]())
		same(t, "memory voltage", m.Voltages.Mem, smi.None[smi.Volts]())
		same(t, "hot spot", m.Temperature(smi.SensorHotspot), smi.Some(smi.Celsius(61)))
		same(t, "edge", m.Temperature(smi.SensorEdge), smi.None[smi.Celsius]())
		same(t, "second stack", m.Temperature("hbm1"), smi.Some(smi.Celsius(51)))
		same(t, "regulator", m.Temperature(smi.SensorVRSOC), smi.Some(smi.Celsius(47)))
		same(t, "status", m.Throttle.Status, smi.Some[uint64](0x10))
		same(t, "bandwidth", m.PCIe.Bandwidth, smi.Some(smi.BytesPerSecond(1e9)))
		same(t, "replays", m.PCIe.Replays, smi.Some[uint64](3))
		same(t, "NAKs", m.PCIe.NAKsReceived, smi.None[uint64]())
		if e := m.Energy.Or(0); e < 15 || e > 16 {
			t.Errorf("energy %v", m.Energy)
		}
		if m.PerfLevel != smi.PerfDeterminism || m.Fans != nil {
			t.Errorf("level %q, fans %v", m.PerfLevel, m.Fans)
		}
		var gfx []smi.Clock
		for _, c := range m.Clocks {
			if c.Domain == smi.ClockGFX {
				gfx = append(gfx, c)
			}
		}
		if len(gfx) != 2 || gfx[1].Current != smi.Some(smi.MHz(2090)) || gfx[1].Locked != smi.Some(true) || gfx[0].Locked != smi.Some(false) || gfx[0].Min != smi.Some(smi.MHz(500)) {
			t.Errorf("GFX clocks %+v", gfx)
		}
		powers := 0
		for _, v := range m.Throttle.Violations {
			if v.Kind == smi.ViolationPower && (v.Ratio != smi.Some(smi.Ratio(0.25)) || v.Active != smi.Some(true)) {
				t.Errorf("%+v", v)
			}
			if v.Kind == smi.ViolationHostPower {
				powers++
			}
		}
		if want := map[bool]int{true: 0, false: 2}[s.abi == 25]; powers != want {
			t.Errorf("%d dies below their clock for power, want %d: %+v", powers, want, m.Throttle.Violations)
		}

		if m, err = src.Metrics(t.Context(), 2); err != nil {
			t.Fatal(err)
		}
		same(t, "memory temperature told in thousandths", m.Temperature(smi.SensorMem), smi.Some(smi.Celsius(52)))
		same(t, "average power", m.Power.Average, smi.Some(smi.Watts(88)))
		if len(m.Fans) != 1 || m.Fans[0].Duty != smi.Some(smi.Ratio(0.2)) || m.Fans[0].Speed != smi.Some(smi.RPM(1200)) || m.Fans[0].Max.Ok() {
			t.Errorf("fans %+v", m.Fans)
		}

		if m, err = src.Metrics(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		m.Time, m.VRAM, m.GTT, m.Power.Managed = time.Time{}, smi.MemoryUse{}, smi.MemoryUse{}, smi.Opt[bool]{}
		if !reflect.DeepEqual(*m, smi.Metrics{}) {
			t.Errorf("a card that measures nothing: %+v", m)
		}
	})
}

// The second reading's shares are those of the time since the first.
func TestViolationsSince(t *testing.T) {
	eachABI(t, func(t *testing.T, s *stub) {
		src := s.open(t)
		s.control(t, "step 200")
		if _, err := src.Metrics(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		s.control(t, "step 200", "fail 0 amdsmi_get_violation_status 2")
		for range 3 {
			m, err := src.Metrics(t.Context(), 0)
			if err != nil {
				t.Fatal(err)
			}
			want := []smi.Violation{
				{Kind: smi.ViolationProcHot, Ratio: smi.Some(smi.Ratio(0)), Active: smi.Some(false)},
				{Kind: smi.ViolationPower, Ratio: smi.Some(smi.Ratio(0.5)), Active: smi.Some(true)},
				{Kind: smi.ViolationSocketThermal, Ratio: smi.Some(smi.Ratio(0)), Active: smi.Some(false)},
				{Kind: smi.ViolationHBMThermal, Ratio: smi.Some(smi.Ratio(0)), Active: smi.Some(false)},
				{Kind: smi.ViolationHostLimit, Ratio: smi.Some(smi.Ratio(1)), Active: smi.Some(true)},
			}
			if !reflect.DeepEqual(m.Throttle.Violations, want) {
				t.Errorf("got %+v", m.Throttle.Violations)
			}
			s.control(t, "fail 0 amdsmi_get_violation_status 2") // the counts stand still: the same shares again
		}
	})
}

func TestProcesses(t *testing.T) {
	eachABI(t, func(t *testing.T, s *stub) {
		src := s.open(t)
		ps, err := src.Processes(t.Context(), 0)
		if err != nil || len(ps) != 1 {
			t.Fatalf("%+v, %v", ps, err)
		}
		p := ps[0]
		if p.PID != 4999 || p.Name != "python3.12" || p.Origin != smi.OriginAMDSMI || p.Container == nil || len(p.Container.ID) != 64 {
			t.Errorf("%+v", p)
		}
		same(t, "VRAM", p.VRAM, smi.Some(smi.MiB(8192)))
		same(t, "GTT", p.GTT, smi.Some(smi.MiB(3)))
		same(t, "GFX time", p.GFXTime, smi.Some(smi.Duration(1500*time.Millisecond)))
		occupancy, evicted, copies := smi.Some(120), smi.Some(smi.Duration(250*time.Millisecond)), smi.Some(smi.Duration(time.Second))
		if s.abi < 27 {
			evicted, copies = smi.Opt[smi.Duration]{}, smi.Opt[smi.Duration]{}
		}
		if s.abi < 26 {
			occupancy = smi.Opt[int]{}
		}
		same(t, "occupancy", p.CUOccupancy, occupancy)
		same(t, "evicted", p.Evicted, evicted)
		same(t, "copies", p.SDMA, copies)
		// The same processes, which hold nothing there.
		if ps, err = src.Processes(t.Context(), 2); err != nil || len(ps) != 0 {
			t.Errorf("%+v, %v", ps, err)
		}
		// More than there was room for.
		s.control(t, "processes 1500")
		if ps, err = src.Processes(t.Context(), 0); err != nil || len(ps) != 1501 {
			t.Errorf("%d processes, %v", len(ps), err)
		}
	})
}

func TestFirmware(t *testing.T) {
	eachABI(t, func(t *testing.T, s *stub) {
		got, err := s.open(t).Firmware(t.Context(), 0)
		want := []smi.Firmware{
			{Name: "cp_mec1", Version: "177", Number: smi.Some[uint64](177)},
			{Name: "pm", Version: "00.85.123.00", Number: smi.Some[uint64](0x557b00)},
			{Name: "psp_sosdrv", Version: "00.36.02.1D", Number: smi.Some[uint64](0x36021d)},
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, %v", got, err)
		}
	})
	if len(firmwareNames) != 79 {
		t.Errorf("%d firmware names", len(firmwareNames))
	}
}

func TestECC(t *testing.T) {
	eachABI(t, func(t *testing.T, s *stub) {
		e, err := s.open(t).ECC(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "correctable", e.Correctable, smi.Some[uint64](12))
		same(t, "limit", e.BadPageLimit, smi.Some[uint32](587))
		same(t, "poison", e.Poison, smi.Some(true))
		same(t, "parity", e.Parity, smi.Some(false))
		if len(e.Blocks) != 19 || e.Blocks[0] != (smi.ECCBlock{Block: "umc", State: smi.RASEnabled, Correctable: smi.Some[uint64](12), Uncorrectable: smi.Some[uint64](0), Deferred: smi.Some[uint64](0)}) ||
			e.Blocks[1] != (smi.ECCBlock{Block: "sdma", State: smi.RASEnabled}) || e.Blocks[3] != (smi.ECCBlock{Block: "mmhub", State: smi.RASDisabled}) {
			t.Errorf("%+v", e.Blocks)
		}
	})
}

func TestBadPages(t *testing.T) {
	eachABI(t, func(t *testing.T, s *stub) {
		src := s.open(t)
		got, err := src.BadPages(t.Context(), 0)
		want := []smi.BadPage{{Address: 0x1000, Size: 4096, State: smi.PageReserved}, {Address: 0x2000, Size: 4096, State: smi.PagePending}}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, %v", got, err)
		}
		if got, err = src.BadPages(t.Context(), 2); err != nil || len(got) != 0 {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

// Which number is an XGMI link differs between the ABIs.
func TestXGMI(t *testing.T) {
	eachABI(t, func(t *testing.T, s *stub) {
		got, err := s.open(t).XGMI(t.Context(), 0)
		want := &smi.XGMI{
			Hive: smi.Some[uint64](0x3f4cffef), Node: smi.Some[uint64](0x77), Lanes: smi.Some(16), Errors: smi.XGMINoErrors,
			Links: []smi.XGMILink{{
				Peer: smi.Some(smi.BDF{Bus: 0xc2}), State: smi.LinkUp, Rate: smi.Some(smi.BitsPerSecond(32e9)), MaxBandwidth: smi.Some(smi.BitsPerSecond(512e9)),
				Read: smi.Some(smi.Bytes(1000 << 10)), Written: smi.Some(smi.Bytes(2000 << 10)),
			}},
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

func TestPartitions(t *testing.T) {
	eachABI(t, func(t *testing.T, s *stub) {
		got, err := s.open(t).Partitions(t.Context(), 0)
		want := &smi.Partitions{
			Compute: "SPX", Memory: "NPS1", Memories: []string{"NPS1", "NPS4"},
			Profiles: []smi.PartitionProfile{
				{Index: 0, Type: "SPX", Partitions: 1, Memories: []string{"NPS1"}, Resources: []smi.PartitionResource{{Kind: "XCC", Count: 8, SharedBy: 1}}},
				{Index: 1, Type: "CPX", Partitions: 8, Memories: []string{"NPS1", "NPS4"}, Resources: []smi.PartitionResource{{Kind: "DECODER", Count: 1, SharedBy: 2}}},
			},
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

func TestTopology(t *testing.T) {
	eachABI(t, func(t *testing.T, s *stub) {
		src := s.open(t)
		topo, err := src.Topology(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		want := smi.Path{
			From: 0, To: 1, Type: smi.LinkXGMI, Weight: smi.Some[uint64](15), Hops: smi.Some[uint64](1), Access: smi.Some(true),
			Coherent: smi.Some(true), DMA: smi.Some(false), MinBandwidth: smi.Some(smi.BytesPerSecond(50e9)), MaxBandwidth: smi.Some(smi.BytesPerSecond(64e9)),
		}
		if p := topo.Path(0, 1); p == nil || *p != want {
			t.Errorf("%+v", p)
		}
		if p := topo.Path(0, 2); p.Type != smi.LinkPCIe || p.Access != smi.Some(false) || p.MaxBandwidth.Ok() {
			t.Errorf("%+v", p)
		}
		s.control(t, "fail 1 * 12")
		if topo, err = src.Topology(t.Context()); err != nil || topo.Path(0, 1).Type != smi.LinkXGMI || topo.Path(1, 0) == nil || topo.Path(1, 0).Weight.Ok() {
			t.Errorf("with a card that is gone: %+v, %v", topo, err)
		}
	})
}
