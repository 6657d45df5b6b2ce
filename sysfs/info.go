package sysfs

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/rocwire/rocwire/smi"
)

// Info implements smi.Source.
func (s *source) Info(ctx context.Context, index int) (*smi.Info, error) {
	return ask(ctx, s, "info", index, (*smi.Info).Clone, s.info)
}

func (s *source) info(c *card) (*smi.Info, error) {
	if err := c.present(); err != nil {
		c.mu.Lock()
		c.still = nil // it may come back with another firmware
		c.mu.Unlock()
		return nil, err
	}
	top := s.kfd.read()
	c.mu.Lock()
	i, under := c.still, c.under
	c.mu.Unlock()
	if i != nil && under == top {
		return i, nil
	}
	i = s.readInfo(c, top)
	c.mu.Lock()
	c.still, c.under = i, top
	c.mu.Unlock()
	return i, nil
}

// readInfo reads what does not change while the card and its parts stay what they are.
func (s *source) readInfo(c *card, top *topology) *smi.Info {
	i := &smi.Info{Device: c.Device}
	parts := top.gpus(c.BDF.Or(smi.BDF{}))

	id := func(name string) smi.Opt[uint32] {
		v, ok := hexID(c.line(name))
		if !ok || v > 0xfffe {
			return smi.None[uint32]()
		}
		return smi.Some(uint32(v))
	}
	i.ASIC.VendorID, i.ASIC.DeviceID, i.ASIC.Revision = id("vendor"), id("device"), id("revision")
	i.ASIC.SubvendorID, i.ASIC.SubsystemID = id("subsystem_vendor"), id("subsystem_device")
	if i.ASIC.VendorID.Or(0) == 0x1002 {
		i.ASIC.VendorName = "Advanced Micro Devices, Inc. [AMD/ATI]"
	}
	if u, ok := c.uniqueID.Get(); ok {
		i.ASIC.Serial = fmt.Sprintf("%016x", u)
		i.IDs.HIPUUID = fmt.Sprintf("GPU-%016x", u)
	}
	if v, ok := figure(c, "xgmi_physical_id", count).Get(); ok && v < 256 {
		i.ASIC.OAM = smi.Some(uint32(v))
	}
	i.ASIC.GFXVersion = c.Target

	i.IDs.DRMCard, i.IDs.DRMRender = c.drm()
	if len(parts) > 0 {
		first := parts[0]
		i.IDs.KFD, i.IDs.KFDNode = smi.Some(first.gpuID), smi.Some(first.number)
		i.IDs.HIP = smi.Some(top.hipNumber(first))
		i.ASIC.ComputeUnits = computeUnits(parts)
		i.ASIC.MaxClockGFX = hertz(float64(first.props["max_engine_clk_fcompute"]) * 1e6)
		s.memoryBank(c, i, first)
		i.Caches = s.caches(parts)
	}

	i.Board = smi.Board{
		Model: c.line("product_number"), Product: c.line("product_name"), Serial: c.line("serial_number"),
		FRU: c.line("fru_id"), Manufacturer: c.line("manufacturer"),
	}
	i.VBIOS = smi.VBIOS{PartNumber: c.line("vbios_version"), Version: c.line("vbios_build")}
	i.VRAM.Vendor = c.line("mem_info_vram_vendor")
	if i.VRAM.Vendor == "unknown" {
		i.VRAM.Vendor = ""
	}
	i.VRAM.Size = figure(c, "mem_info_vram_total", memory)
	i.VRAM.MaxBandwidth = s.table(c).maxBandwidth()
	i.Limits.MinPower, i.Limits.MaxPower = c.sensors().capRange(c)

	i.PCIe.MaxWidth = figure(c, "max_link_width", lanes)
	i.PCIe.MaxSpeed = linkSpeed(c.line("max_link_speed"))
	i.PCIe.Generation = generation(i.PCIe.MaxSpeed)
	if strings.Contains(i.Board.Product, "OAM") {
		i.PCIe.Slot = smi.SlotOAM
	}
	if n, err := c.signed("numa_node"); err == nil && n >= 0 && n < 1<<16 {
		i.NUMA.Node = smi.Some(int(n))
	}
	i.NUMA.CPUs = c.line("local_cpulist")

	i.Driver = smi.Driver{Name: "amdgpu", Version: s.tree.line("sys/module/amdgpu/version")}
	if i.Driver.Version == "" {
		i.Driver.Version = s.tree.line("proc/sys/kernel/osrelease") // the kernel's own driver
	}
	i.Virtualization = s.virtualization(c)
	return i
}

// computeUnits is how many a card's parts have together.
func computeUnits(parts []*node) smi.Opt[int] {
	n := uint64(0)
	for _, p := range parts {
		per := p.props["simd_per_cu"]
		if per == 0 || p.props["simd_count"] > 1<<20 {
			return smi.None[int]()
		}
		n += p.props["simd_count"] / per
	}
	if n == 0 {
		return smi.None[int]()
	}
	return smi.Some(int(n))
}

// memoryBank is the form of the card's own memory.
func (s *source) memoryBank(c *card, i *smi.Info, n *node) {
	dir := fmt.Sprintf("%s/%d/mem_banks", kfdNodes, n.number)
	names, err := s.tree.list(dir)
	if err != nil {
		return
	}
	for _, b := range numbers(names, 16) {
		p, err := s.tree.properties(fmt.Sprintf("%s/%d/properties", dir, b))
		// HSA_MEM_HEAP_TYPE_FB_PUBLIC and _PRIVATE are the card's own memory.
		if err != nil || p["heap_type"] != 1 && p["heap_type"] != 2 {
			continue
		}
		if w := p["width"]; w > 0 && w <= 1<<16 {
			i.VRAM.BitWidth = smi.Some(int(w))
		}
		if v := p["mem_clk_max"]; v > 0 {
			i.ASIC.MaxClockMem = hertz(float64(v) * 1e6)
		}
		return
	}
}

// Flags of a cache: HSA_CACHE_TYPE_*.
const (
	cacheData        = 1 << 0
	cacheInstruction = 1 << 1
	cacheCPU         = 1 << 2
	cacheSIMD        = 1 << 3
)

// caches are the kinds of cache of all parts, by level.
func (s *source) caches(parts []*node) []smi.Cache {
	type kind struct{ level, size, flags, sharing uint64 }
	n := map[kind]int{}
	for _, p := range parts {
		dir := fmt.Sprintf("%s/%d/caches", kfdNodes, p.number)
		names, err := s.tree.list(dir)
		if err != nil {
			continue
		}
		for _, c := range numbers(names, 4096) {
			err := s.tree.with(fmt.Sprintf("%s/%d/properties", dir, c), maxText, func(b []byte) error {
				m := properties(b)
				if m["level"] > 0 && m["level"] < 8 && m["size"] < 1<<32 {
					n[kind{m["level"], m["size"], m["type"], sharing(string(b))}]++
				}
				return nil
			})
			if err != nil {
				break
			}
		}
	}
	var cs []smi.Cache
	for k, count := range n {
		c := smi.Cache{
			Level: int(k.level), Count: smi.Some(count),
			Data: k.flags&cacheData != 0, Instruction: k.flags&cacheInstruction != 0,
			CPU: k.flags&cacheCPU != 0, SIMD: k.flags&cacheSIMD != 0,
		}
		if k.size > 0 {
			c.Size = smi.Some(smi.Bytes(k.size << 10))
		}
		if k.sharing > 0 {
			c.ComputeUnits = smi.Some(int(k.sharing))
		}
		cs = append(cs, c)
	}
	slices.SortFunc(cs, func(a, b smi.Cache) int {
		if a.Level != b.Level {
			return a.Level - b.Level
		}
		if a.Instruction != b.Instruction {
			if b.Instruction {
				return -1
			}
			return 1
		}
		return int(int64(a.Size.Or(0))-int64(b.Size.Or(0))) + a.ComputeUnits.Or(0) - b.ComputeUnits.Or(0)
	})
	return cs
}

// sharing counts the compute units that share a cache: the ones of its line
// "sibling_map 1,1,0,".
func sharing(s string) uint64 {
	for line := range strings.Lines(s) {
		if list, ok := strings.CutPrefix(strings.TrimSpace(line), "sibling_map "); ok {
			return uint64(strings.Count(list, "1"))
		}
	}
	return 0
}

// virtualization is how this machine has the card. A virtual machine cannot see in
// files whether it has a whole card or a part, so that stays open.
func (s *source) virtualization(c *card) string {
	if v, err := c.number("sriov_numvfs"); err == nil && v > 0 {
		return smi.VirtualizationHost
	}
	found, known := false, false
	s.tree.with("proc/cpuinfo", 4<<20, func(b []byte) error {
		for line := range strings.Lines(string(b[:min(len(b), 16<<10)])) {
			if name, flags, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "flags" {
				known = true
				found = slices.Contains(strings.Fields(flags), "hypervisor")
				break
			}
		}
		return nil
	})
	if known && !found {
		return smi.VirtualizationBareMetal
	}
	return ""
}
