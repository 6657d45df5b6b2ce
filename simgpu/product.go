package simgpu

import (
	"github.com/rocwire/rocwire/codeobject"
	"github.com/rocwire/rocwire/simgpu/descriptor"
	"github.com/rocwire/rocwire/simgpu/gcn"
	"github.com/rocwire/rocwire/simgpu/model"
)

// product is the card that an architecture stands for. Clocks are in MHz.
type product struct {
	arch   gcn.Arch
	name   string
	target codeobject.Target

	major, minor          int32
	computeUnits          int32
	clock, memClock       int32
	busWidth              int32 // bits
	l2                    int32 // bytes
	deviceID, subsystemID uint32
	revision              uint32
	memoryType            string
	bandwidth             float64 // bytes per second
	minCap                float64 // watts
	physical              model.Card
	chip                  *chip
	images                bool // it has image instructions
}

const (
	maxThreads      = 1024 // of a workgroup
	wavesPerUnit    = 32   // of a compute unit: 4 SIMDs of 8, on RDNA 2 of 16
	threadsPerUnit  = 2048 // of what HIP calls a multiprocessor
	wallClockKHz    = 100_000
	maxGridX        = 1<<31 - 1
	maxGridYZ       = 65536
	streamPrioLow   = 1
	streamPrioHigh  = -1
	driverName      = "rocwire-simgpu"
	vendorID        = 0x1002
	vendorName      = "Advanced Micro Devices, Inc. [AMD/ATI] (simulated)"
	simulatedSuffix = " (simulated)"
)

var products = map[string]*product{
	"gfx90a": {
		arch: gcn.GFX90A, name: "AMD Instinct MI210" + simulatedSuffix,
		target: codeobject.Target{Processor: "gfx90a", SRAMECC: codeobject.FeatureOn, XNACK: codeobject.FeatureOff},
		major:  9, minor: 0, computeUnits: 104, clock: 1700, memClock: 1600, busWidth: 4096, l2: 8 << 20,
		deviceID: 0x740f, subsystemID: 0x0c34, revision: 2, memoryType: "HBM2e", bandwidth: 1.6384e12, minCap: 100,
		physical: model.Card{
			WaveSize: 64, IdlePower: 42, MaxPower: 300,
			GFXIdle: 800e6, GFXMin: 500e6, GFXMax: 1700e6, GFXVoltsMin: 0.7, GFXVoltsMax: 1.05, MemIdle: 400e6, MemMax: 1600e6, SOCIdle: 800e6, SOCMax: 1090e6,
			Ambient: 25, EdgeRise: 0.16, HotspotRise: 0.22, MemRise: 0.19, EdgeTau: 25, HotspotTau: 6, MemTau: 35,
			VRRise: 0.18, VRTau: 15,
			EdgeLimit: 100, HotspotLimit: 100, MemLimit: 95, EdgeOff: 105, HotspotOff: 105, MemOff: 105,
		},
		chip:   &mi210,
		images: true,
	},
	"gfx942": {
		arch: gcn.GFX942, name: "AMD Instinct MI300X" + simulatedSuffix,
		target: codeobject.Target{Processor: "gfx942", SRAMECC: codeobject.FeatureOn, XNACK: codeobject.FeatureOff},
		major:  9, minor: 4, computeUnits: 304, clock: 2100, memClock: 1300, busWidth: 8192, l2: 4 << 20,
		deviceID: 0x74a1, subsystemID: 0x74a1, revision: 0, memoryType: "HBM3", bandwidth: 5.3248e12, minCap: 200,
		physical: model.Card{
			WaveSize: 64, IdlePower: 138, MaxPower: 750,
			GFXIdle: 132e6, GFXMin: 500e6, GFXMax: 2100e6, GFXVoltsMin: 0.65, GFXVoltsMax: 1, MemIdle: 900e6, MemMax: 1300e6, SOCIdle: 29e6, SOCMax: 1330e6,
			Ambient: 25, EdgeRise: 0.07, HotspotRise: 0.09, MemRise: 0.075, EdgeTau: 25, HotspotTau: 6, MemTau: 35,
			VRRise: 0.072, VRTau: 15,
			EdgeLimit: 100, HotspotLimit: 100, MemLimit: 105, EdgeOff: 110, HotspotOff: 115, MemOff: 115,
		},
		chip: &mi300x,
	},
	"gfx950": {
		arch: gcn.GFX950, name: "AMD Instinct MI350X" + simulatedSuffix,
		target: codeobject.Target{Processor: "gfx950", SRAMECC: codeobject.FeatureOn, XNACK: codeobject.FeatureOff},
		major:  9, minor: 5, computeUnits: 256, clock: 2200, memClock: 2000, busWidth: 8192, l2: 4 << 20,
		deviceID: 0x75a0, subsystemID: 0x75a0, revision: 0, memoryType: "HBM3E", bandwidth: 8.192e12, minCap: 200,
		physical: model.Card{
			WaveSize: 64, IdlePower: 170, MaxPower: 1000,
			GFXIdle: 132e6, GFXMin: 500e6, GFXMax: 2200e6, GFXVoltsMin: 0.65, GFXVoltsMax: 1, MemIdle: 900e6, MemMax: 2000e6, SOCIdle: 29e6, SOCMax: 1330e6,
			Ambient: 25, EdgeRise: 0.053, HotspotRise: 0.068, MemRise: 0.057, EdgeTau: 25, HotspotTau: 6, MemTau: 35,
			VRRise: 0.054, VRTau: 15,
			EdgeLimit: 100, HotspotLimit: 100, MemLimit: 105, EdgeOff: 110, HotspotOff: 115, MemOff: 115,
		},
		chip: &mi350x,
	},
	"gfx1100": {
		arch: gcn.GFX1100, name: "AMD Radeon PRO W7900" + simulatedSuffix,
		target: codeobject.Target{Processor: "gfx1100"},
		major:  11, minor: 0, computeUnits: 96, clock: 2495, memClock: 1125, busWidth: 384, l2: 6 << 20,
		deviceID: 0x7448, subsystemID: 0x0e0d, revision: 0, memoryType: "GDDR6", bandwidth: 8.64e11, minCap: 100,
		physical: model.Card{
			WaveSize: 32, IdlePower: 20, MaxPower: 295,
			GFXIdle: 50e6, GFXMin: 500e6, GFXMax: 2495e6, GFXVoltsMin: 0.7, GFXVoltsMax: 1.1, MemIdle: 96e6, MemMax: 1125e6, SOCIdle: 500e6, SOCMax: 1200e6,
			Ambient: 25, EdgeRise: 0.16, HotspotRise: 0.22, MemRise: 0.19, EdgeTau: 25, HotspotTau: 6, MemTau: 35,
			VRRise: 0.18, VRTau: 15,
			EdgeLimit: 100, HotspotLimit: 110, MemLimit: 108, EdgeOff: 105, HotspotOff: 115, MemOff: 112,
		},
		chip:   &w7900,
		images: true,
	},
}

// layout is how the card's images are described.
func (p *product) layout() descriptor.Layout {
	if p.arch.Has(gcn.RDNA) {
		return descriptor.RDNA3
	}
	return descriptor.CDNA
}

// multiprocessors is how many there are for HIP: compute units, on RDNA pairs of them.
func (p *product) multiprocessors() int32 {
	if p.arch.Has(gcn.RDNA) {
		return p.computeUnits / 2
	}
	return p.computeUnits
}
