package simgpu

import (
	"context"

	"github.com/rocwire/rocwire/internal/version"
	"github.com/rocwire/rocwire/smi"
)

// simulated stands where a real card has a name that only its maker can give.
const simulated = "simulated"

// Devices lists the cards, those too that do not answer.
func (s *Source) Devices(ctx context.Context) ([]smi.Device, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errSourceClosed
	}
	var list []smi.Device
	for i := range s.cards {
		list = append(list, s.product.device(i))
	}
	return list, nil
}

func bdf(index int) smi.BDF { return smi.BDF{Bus: uint8(busID(index))} }

func (p *product) device(index int) smi.Device {
	return smi.Device{
		Index: index, BDF: smi.Some(bdf(index)), UUID: "GPU-" + serial(p, index),
		Name: p.name, Target: p.target.Short(),
	}
}

// Info is what a card is: the product's published figures, an invented identity.
func (s *Source) Info(ctx context.Context, index int) (*smi.Info, error) {
	var in *smi.Info
	err := s.look(ctx, index, func(g *gauge) {
		p, c := s.product, s.product.chip
		in = &smi.Info{
			Device: p.device(index),
			ASIC: smi.ASIC{
				VendorID: smi.Some(uint32(vendorID)), VendorName: vendorName, DeviceID: smi.Some(p.deviceID),
				SubvendorID: smi.Some(uint32(vendorID)), SubsystemID: smi.Some(p.subsystemID), Revision: smi.Some(p.revision),
				Serial: serial(p, index), ComputeUnits: smi.Some(int(p.computeUnits)),
				MaxClockGFX: smi.Some(smi.Hertz(p.physical.GFXMax)), MaxClockMem: smi.Some(smi.Hertz(p.physical.MemMax)),
				GFXVersion: p.target.Processor,
			},
			IDs: s.ids(index),
			Board: smi.Board{
				Model: simulated, Serial: serial(p, index), FRU: simulated, Product: p.name, Manufacturer: driverName + simulatedSuffix,
			},
			VBIOS: smi.VBIOS{Name: driverName + simulatedSuffix, PartNumber: simulated, Version: version.String() + simulatedSuffix, Boot: simulated},
			VRAM: smi.VRAMInfo{
				Type: p.memoryType, Vendor: simulated, Size: smi.Some(smi.Bytes(g.now.Capacity)), BitWidth: smi.Some(int(p.busWidth)),
				MaxBandwidth: smi.Some(smi.BytesPerSecond(p.bandwidth)),
			},
			Limits: smi.Limits{MaxPower: smi.Some(smi.Watts(p.physical.MaxPower)), MinPower: smi.Some(smi.Watts(p.minCap))},
			PCIe: smi.PCIeInfo{
				MaxWidth: smi.Some(pcieLanes), MaxSpeed: smi.Some(c.pcieSpeed), Generation: smi.Some(c.pcieGen), Slot: c.slot,
			},
			NUMA:   s.host.numa(index, len(s.cards)),
			Driver: smi.Driver{Name: driverName, Version: version.String()},
			// With anything else the vendor's command line hides most of what it can show.
			Virtualization: smi.VirtualizationPassthrough,
		}
		in.Caches = append(in.Caches, c.caches...)
		if c.oam {
			in.ASIC.OAM = smi.Some(uint32(index % c.hive))
		}
	})
	return in, err
}

// ids are the numbers that a kernel driver would give the card on a machine that has
// no other cards; none of them exists outside of this source.
func (s *Source) ids(index int) smi.IDs {
	return smi.IDs{
		KFD: smi.Some(s.kfdID(index)), KFDNode: smi.Some(uint32(max(len(s.host.nodes), 1) + index)), Partition: smi.Some(uint32(0)),
		DRMCard: smi.Some(uint32(index)), DRMRender: smi.Some(uint32(128 + index)), HIP: smi.Some(uint32(index)),
		HIPUUID: "GPU-" + serial(s.product, index),
	}
}

// kfdID is a number of 16 bits, as the kernel's is, that no other card has, and
// neither 0 nor all ones.
func (s *Source) kfdID(index int) uint64 {
	taken := map[uint64]bool{}
	for i := 0; ; i++ {
		id := identity(s.product, "kfd", i)%0xfffe + 1
		for taken[id] {
			id = id%0xfffe + 1
		}
		if i == index {
			return id
		}
		taken[id] = true
	}
}

// Firmware lists what a card of this kind runs. The simulated one runs none of it,
// and the versions say so.
func (s *Source) Firmware(ctx context.Context, index int) ([]smi.Firmware, error) {
	var list []smi.Firmware
	err := s.look(ctx, index, func(*gauge) {
		for _, name := range s.product.chip.firmware {
			list = append(list, smi.Firmware{Name: name, Version: "1" + simulatedSuffix, Number: smi.Some(uint64(1))})
		}
	})
	return list, err
}

// Partitions is how a card is divided: not at all. ErrNotSupported for a product that
// cannot be.
func (s *Source) Partitions(ctx context.Context, index int) (*smi.Partitions, error) {
	var p *smi.Partitions
	err := s.look(ctx, index, func(*gauge) {
		if c := s.product.chip; c.profiles != nil {
			p = (&smi.Partitions{Compute: "SPX", Memory: "NPS1", Memories: c.memories, Profiles: c.profiles, Fixed: true}).Clone()
		}
	})
	if err == nil && p == nil {
		return nil, smi.Errorf(smi.ErrNotSupported, "%s cannot be divided", s.product.name)
	}
	return p, err
}
