package smitest

import (
	"fmt"
	"math/rand/v2"

	"github.com/rocwire/rocwire/smi"
)

// NewMachine is a source of a machine with cards of a data centre that tell all
// there is to tell, each with some processes: Machine, Details and Topology.
func NewMachine(cards, processes int) *Fake {
	f := NewFake(Machine(cards, processes)...)
	f.SetDetails(Details(cards)...)
	f.SetTopology(Topology(cards))
	return f
}

// Machine is a number of cards, at most 8, each with a number of processes: the first
// and every fourth after it a program of this machine in a container of its own, the
// others sessions of a worker, whose clients run in pods. The figures
// differ from card to card and are the same in every run.
func Machine(cards, processes int) []smi.DeviceSnapshot {
	list := make([]smi.DeviceSnapshot, cards)
	for i := range list {
		r := rand.New(rand.NewPCG(942, uint64(i)))
		info := machineInfo(i)
		d := smi.DeviceSnapshot{Device: info.Device, Info: info, Metrics: machineMetrics(r), ECC: machineECC(i), Processes: []smi.Process{}}
		for j := range processes {
			d.Processes = append(d.Processes, machineProcess(r, i, j))
		}
		list[i] = d
	}
	return list
}

func machineBDF(card int) smi.BDF {
	return smi.BDF{Bus: []uint8{0x0c, 0x22, 0x38, 0x5c, 0x9f, 0xaf, 0xbf, 0xdf}[card]}
}

func machineInfo(i int) *smi.Info {
	serial := fmt.Sprintf("50D7AF8C31C0F2A%X", i)
	return &smi.Info{
		Device: smi.Device{
			Index: i, BDF: smi.Some(machineBDF(i)), UUID: fmt.Sprintf("%02xff74a1-0000-1000-8012-3456789abcde", 0x10+i),
			Name: "AMD Instinct MI300X OAM", Target: "gfx942:sramecc+:xnack-",
		},
		ASIC: smi.ASIC{
			VendorID: smi.Some(uint32(0x1002)), VendorName: "Advanced Micro Devices Inc. [AMD/ATI]", DeviceID: smi.Some(uint32(0x74a1)),
			SubvendorID: smi.Some(uint32(0x1002)), SubsystemID: smi.Some(uint32(0x74a1)), Revision: smi.Some(uint32(0)), Serial: serial,
			ComputeUnits: smi.Some(304), MaxClockGFX: smi.Some(smi.MHz(2100)), MaxClockMem: smi.Some(smi.MHz(1300)),
			OAM: smi.Some(uint32(i)), GFXVersion: "gfx942",
		},
		IDs: smi.IDs{
			KFD: smi.Some(uint64(0x7c00 + 257*i)), KFDNode: smi.Some(uint32(2 + i)), Partition: smi.Some(uint32(0)), DRMCard: smi.Some(uint32(1 + 8*i)),
			DRMRender: smi.Some(uint32(128 + 8*i)), HIP: smi.Some(uint32(i)), HIPUUID: "GPU-" + serial,
		},
		Board: smi.Board{Model: "102-G30211-0C", Serial: fmt.Sprintf("69241001105%d", i), FRU: "113-AMDG302100C", Product: "AMD Instinct MI300X OAM", Manufacturer: "AMD"},
		VBIOS: smi.VBIOS{Name: "AMD MI300X_HW_SRIOV_CVS_1VF", Date: "2024/05/21 23:28", PartNumber: "113-M3000100-102", Version: "022.040.003.042.000001", Boot: "01000206"},
		VRAM:  smi.VRAMInfo{Type: "HBM3", Vendor: "HYNIX", Size: smi.Some(smi.MiB(196592)), BitWidth: smi.Some(8192), MaxBandwidth: smi.Some(smi.BytesPerSecond(5300e9))},
		Caches: []smi.Cache{
			{Level: 1, Size: smi.Some(smi.Bytes(32 << 10)), Data: true, SIMD: true, ComputeUnits: smi.Some(1), Count: smi.Some(304)},
			{Level: 1, Size: smi.Some(smi.Bytes(64 << 10)), Instruction: true, SIMD: true, ComputeUnits: smi.Some(2), Count: smi.Some(160)},
			{Level: 2, Size: smi.Some(smi.MiB(4)), Data: true, SIMD: true, ComputeUnits: smi.Some(38), Count: smi.Some(8)},
			{Level: 3, Size: smi.Some(smi.MiB(256)), Data: true, SIMD: true, ComputeUnits: smi.Some(304), Count: smi.Some(1)},
		},
		Limits: smi.Limits{MaxPower: smi.Some(smi.Watts(750)), MinPower: smi.Some(smi.Watts(0))},
		PCIe:   smi.PCIeInfo{MaxWidth: smi.Some(16), MaxSpeed: smi.Some(smi.TransfersPerSecond(32e9)), Generation: smi.Some(5), Slot: smi.SlotOAM},
		NUMA:   smi.NUMA{Node: smi.Some(i / 4), CPUs: []string{"0-47,96-143", "48-95,144-191"}[i/4]},
		Driver: smi.Driver{Name: "amdgpu", Version: "6.12.12", Date: "2025/03/11 10:02"}, Virtualization: smi.VirtualizationBareMetal,
	}
}

func machineMetrics(r *rand.Rand) *smi.Metrics {
	share := func() smi.Opt[smi.Ratio] { return smi.Some(smi.Percent(float64(r.IntN(101)))) }
	m := &smi.Metrics{
		Time: Then, Activity: smi.Activity{GFX: share(), UMC: share(), MM: smi.Some(smi.Ratio(0))},
		VRAM: smi.MemoryUse{Total: smi.Some(smi.MiB(196592)), Used: smi.Some(smi.MiB(283 + r.Uint64N(190000)))},
		GTT:  smi.MemoryUse{Total: smi.Some(smi.MiB(515000)), Used: smi.Some(smi.MiB(r.Uint64N(4000)))},
		Power: smi.Power{
			Socket: smi.Some(smi.Watts(140 + r.IntN(600))), Average: smi.Some(smi.Watts(140 + r.IntN(600))), Cap: smi.Some(smi.Watts(750)),
			DefaultCap: smi.Some(smi.Watts(750)), MinCap: smi.Some(smi.Watts(0)), MaxCap: smi.Some(smi.Watts(750)), Managed: smi.Some(true),
		},
		Energy:   smi.Some(smi.Joules(float64(r.Uint64N(1<<44)) * 15.259e-6)),
		Voltages: smi.Voltages{GFX: smi.Some(smi.Volts(float64(700+r.IntN(200)) / 1000)), SOC: smi.Some(smi.Volts(0.793)), Mem: smi.Some(smi.Volts(1.1))},
		PCIe: smi.PCIe{
			Width: smi.Some(16), Speed: smi.Some(smi.TransfersPerSecond(32e9)), Bandwidth: smi.Some(smi.BytesPerSecond(r.IntN(60) * 1e9)),
			Sent: smi.Some(smi.BytesPerSecond(r.IntN(1e9))), Received: smi.Some(smi.BytesPerSecond(r.IntN(1e9))), Replays: smi.Some(r.Uint64N(9)),
			ReplayRollovers: smi.Some(uint64(0)), Recoveries: smi.Some(r.Uint64N(3)), NAKsSent: smi.Some(uint64(0)), NAKsReceived: smi.Some(r.Uint64N(2)),
		},
		PerfLevel: smi.PerfAuto,
	}
	m.VisibleVRAM = m.VRAM
	for x := range 8 {
		m.Activity.Engines = append(m.Activity.Engines, smi.Engine{Kind: smi.EngineGFX, Index: x, Busy: share()})
		m.Clocks = append(m.Clocks, smi.Clock{
			Domain: smi.ClockGFX, Index: x, Current: smi.Some(smi.MHz(float64(132 + r.IntN(1968)))), Min: smi.Some(smi.MHz(500)), Max: smi.Some(smi.MHz(2100)),
			Locked: smi.Some(false), DeepSleep: smi.Some(false),
		})
	}
	for x := range 4 {
		m.Activity.Engines = append(m.Activity.Engines, smi.Engine{Kind: smi.EngineVCN, Index: x, Busy: smi.Some(smi.Ratio(0))})
		m.Clocks = append(m.Clocks, smi.Clock{Domain: smi.ClockVideo, Index: x, Current: smi.Some(smi.MHz(29)), Max: smi.Some(smi.MHz(2333))})
		m.Clocks = append(m.Clocks, smi.Clock{Domain: smi.ClockData, Index: x, Current: smi.Some(smi.MHz(22)), Max: smi.Some(smi.MHz(1500))})
	}
	m.Clocks = append(m.Clocks,
		smi.Clock{Domain: smi.ClockMem, Current: smi.Some(smi.MHz(1300)), Min: smi.Some(smi.MHz(900)), Max: smi.Some(smi.MHz(1300))},
		smi.Clock{Domain: smi.ClockSOC, Current: smi.Some(smi.MHz(1200)), Max: smi.Some(smi.MHz(1500))},
		smi.Clock{Domain: smi.ClockDF, Current: smi.Some(smi.MHz(2000)), Max: smi.Some(smi.MHz(2000))})
	m.Temperatures = []smi.Temperature{
		{Sensor: smi.SensorHotspot, Current: smi.Some(smi.Celsius(38 + r.IntN(55))), Limit: smi.Some(smi.Celsius(100)), Shutdown: smi.Some(smi.Celsius(110))},
		{Sensor: smi.SensorMem, Current: smi.Some(smi.Celsius(35 + r.IntN(55))), Limit: smi.Some(smi.Celsius(105)), Shutdown: smi.Some(smi.Celsius(115))},
	}
	for x := range 8 {
		m.Temperatures = append(m.Temperatures, smi.Temperature{Sensor: fmt.Sprintf("hbm%d", x), Current: smi.Some(smi.Celsius(35 + r.IntN(50)))})
	}
	m.Throttle.Status = smi.Some(uint64(0))
	for _, k := range []string{smi.ViolationProcHot, smi.ViolationPower, smi.ViolationSocketThermal, smi.ViolationVRThermal, smi.ViolationHBMThermal} {
		m.Throttle.Violations = append(m.Throttle.Violations, smi.Violation{
			Kind: k, Total: smi.Some(smi.Duration(r.Uint64N(1e12))), Ratio: smi.Some(smi.Ratio(0)), Active: smi.Some(false),
		})
	}
	return m
}

func machineECC(i int) *smi.ECC {
	e := &smi.ECC{
		Correctable: smi.Some(uint64(3 * i)), Uncorrectable: smi.Some(uint64(0)), Deferred: smi.Some(uint64(0)), EEPROMVersion: smi.Some(uint32(0x20100)),
		Parity: smi.Some(true), SingleBit: smi.Some(true), DoubleBit: smi.Some(true), Poison: smi.Some(true), BadPageLimit: smi.Some(uint32(128)),
	}
	for _, b := range []string{"umc", "sdma", "gfx", "mmhub", "pcie_bif", "xgmi_wafl"} {
		c := uint64(0)
		if b == "umc" {
			c = uint64(3 * i)
		}
		e.Blocks = append(e.Blocks, smi.ECCBlock{Block: b, State: smi.RASEnabled, Correctable: smi.Some(c), Uncorrectable: smi.Some(uint64(0)), Deferred: smi.Some(uint64(0))})
	}
	return e
}

func machineProcess(r *rand.Rand, card, n int) smi.Process {
	hex := func(digits int) (s string) {
		for range digits / 8 {
			s += fmt.Sprintf("%08x", r.Uint32())
		}
		return s
	}
	p := smi.Process{
		Device: card, PID: uint32(3000 + 1000*card + 7*n), Name: "hip-session", VRAM: smi.Some(smi.Bytes(r.Uint64N(6<<30)) &^ 4095),
		GTT: smi.Some(smi.Bytes(r.Uint64N(64<<20)) &^ 4095), HostMemory: smi.Some(smi.Bytes(0)), Busy: smi.Some(smi.Duration(r.Uint64N(1e14))),
		SDMA: smi.Some(smi.Duration(r.Uint64N(1e12))), Evicted: smi.Some(smi.Duration(0)), CUOccupancy: smi.Some(r.IntN(305)), Origin: smi.OriginKFD,
	}
	user := []string{"ada", "grace", "edsger", "barbara"}[r.IntN(4)]
	if n%4 == 0 { // a program of this machine
		p.Name, p.Command, p.User, p.InnerPID = "python3", "python3 -m vllm.entrypoints.openai.api_server --port "+fmt.Sprint(8000+n), user, uint32(20+n)
		p.Container = &smi.Container{
			ID: hex(64), Name: "server", PodUID: fmt.Sprintf("%s-%s-4%s-%s-%s", hex(8), hex(8)[:4], hex(8)[:3], hex(8)[:4], hex(16)[:12]),
			Pod: "vllm-" + hex(8) + "-" + hex(8)[:5], Namespace: "team-" + user,
		}
		return p
	}
	p.Command, p.User, p.InnerPID = "hip-session", "hip", uint32(20+n) // a session, in the worker's own container
	p.Container = &smi.Container{
		ID: "4b1c5d0e9f8a7b6c3d2e1f0a9b8c7d6e5f4a3b2c1d0e9f8a7b6c5d4e3f2a1b0c", Name: "worker", PodUID: "0c7d3f5e-2b1a-4f6e-9d8c-7b6a5f4e3d2c",
		Pod: "hip-worker-x7k2p", Namespace: "gpu-system",
	}
	p.Session = fmt.Sprint(100*card + n)
	pod := fmt.Sprintf("train-%s-%s", hex(8), hex(8)[:5]) // which is its host's name too
	p.Client = &smi.Client{
		Address: fmt.Sprintf("10.%d.%d.%d:%d", r.IntN(4), r.IntN(256), r.IntN(256), 32768+r.IntN(28000)), Host: pod,
		PID: uint32(1 + r.IntN(4000)), Executable: "/usr/bin/python3.12", User: user, Container: "main", Pod: pod, Namespace: "team-" + user,
	}
	return p
}

// Details are what the cards of Machine tell besides.
func Details(cards int) []Detail {
	list := make([]Detail, cards)
	for i := range list {
		d := &list[i]
		for j, name := range []string{"cp_mec1", "cp_mec2", "pm", "psp_sosdrv", "rlc", "sdma0", "sdma1", "smu", "ta_ras", "ta_xgmi", "vcn"} {
			n := uint64(0x00550000 + 0x101*j)
			d.Firmware = append(d.Firmware, smi.Firmware{Name: name, Version: fmt.Sprintf("%d.%d.%d", n>>16, n>>8&0xff, n&0xff), Number: smi.Some(n)})
		}
		d.BadPages = []smi.BadPage{}
		for j := range i % 3 {
			d.BadPages = append(d.BadPages, smi.BadPage{
				Address: uint64(0x1f_4000_0000 + 0x1000*j), Size: 4096, State: []string{smi.PageReserved, smi.PagePending}[j],
			})
		}
		d.XGMI = machineXGMI(i, cards)
		d.Partitions = machinePartitions()
	}
	return list
}

func machineXGMI(card, cards int) *smi.XGMI {
	x := &smi.XGMI{Hive: smi.Some(uint64(0x52c47a38ad9cb2e1)), Node: smi.Some(uint64(card)), Lanes: smi.Some(16), Errors: smi.XGMINoErrors}
	for peer := range cards {
		if peer != card {
			x.Links = append(x.Links, smi.XGMILink{
				Peer: smi.Some(machineBDF(peer)), State: smi.LinkUp, Rate: smi.Some(smi.BitsPerSecond(32e9)), MaxBandwidth: smi.Some(smi.BitsPerSecond(512e9)),
				Read: smi.Some(smi.Bytes(uint64(1+card) << 30)), Written: smi.Some(smi.Bytes(uint64(1+peer) << 30)),
			})
		}
	}
	return x
}

func machinePartitions() *smi.Partitions {
	p := &smi.Partitions{Compute: "SPX", Memory: "NPS1", Memories: []string{"NPS1", "NPS2", "NPS4"}}
	for i, t := range []struct {
		name string
		n    int
	}{{"SPX", 1}, {"DPX", 2}, {"QPX", 4}, {"CPX", 8}} {
		f := smi.PartitionProfile{Index: i, Type: t.name, Partitions: t.n, Memories: []string{"NPS1"}}
		if t.n == 8 {
			f.Memories = []string{"NPS1", "NPS4"}
		}
		for _, r := range []struct {
			kind string
			n    int
		}{{"XCC", 8}, {"DECODER", 4}, {"DMA", 16}, {"JPEG", 32}} {
			f.Resources = append(f.Resources, smi.PartitionResource{Kind: r.kind, Count: max(r.n/t.n, 1), SharedBy: max(t.n/r.n, 1)})
		}
		p.Profiles = append(p.Profiles, f)
	}
	return p
}

// Topology is how the cards of Machine reach each other: all by XGMI.
func Topology(cards int) *smi.Topology {
	t := &smi.Topology{}
	for i := range cards {
		for j := range cards {
			if i == j {
				continue
			}
			t.Paths = append(t.Paths, smi.Path{
				From: i, To: j, Type: smi.LinkXGMI, Weight: smi.Some(uint64(15)), Hops: smi.Some(uint64(1)), Access: smi.Some(true), Coherent: smi.Some(true),
				Atomics32: smi.Some(true), Atomics64: smi.Some(true), DMA: smi.Some(true), Bidirectional: smi.Some(true),
				MinBandwidth: smi.Some(smi.BytesPerSecond(64e9)), MaxBandwidth: smi.Some(smi.BytesPerSecond(64e9)),
			})
		}
	}
	return t
}
