package amdsmi

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/rocwire/rocwire/smi"
)

// Info implements smi.Source.
func (s *Source) Info(ctx context.Context, index int) (*smi.Info, error) {
	return ask(ctx, s, index, askInfo, (*reader).info)
}

// bdf is a PCI address as the library packs it.
func bdf(v uint64) smi.Opt[smi.BDF] {
	if missing(v, 8) || v>>16 > math.MaxUint32 {
		return smi.None[smi.BDF]()
	}
	return smi.Some(smi.BDF{Domain: uint32(v >> 16), Bus: uint8(v >> 8), Device: uint8(v>>3) & 31, Function: uint8(v) & 7})
}

// device is who the card is.
func (r *reader) device() (*smi.Device, error) {
	d := &smi.Device{Index: r.card.index, Name: unnamed}
	if v, ok := r.get(fnDeviceBDF, r.l().bdf.size).raw(oneUint64, 0); ok {
		d.BDF = bdf(v)
	}
	d.UUID = r.uuid()
	l := &r.l().asicInfo
	asic := r.get(fnASICInfo, l.size)
	if name := asic.text(l.marketName); name != "" {
		d.Name = name
	}
	d.Target = target(asic.num(l.targetGraphicsVersion))
	return answer(r, d)
}

// uuid is the card's identity, 36 characters.
func (r *reader) uuid() string {
	const size = 64
	length, n := r.mem.alloc(4)
	n[0], n[1], n[2], n[3] = size, 0, 0, 0
	at, b := r.mem.alloc(size)
	if r.call(fnDeviceUUID, length, at) != nil {
		return ""
	}
	return b.text(field{0, 1, size})
}

// target is the instruction set: its number is to be read in hexadecimal.
func target(v smi.Opt[uint64]) string {
	n, ok := v.Get()
	if !ok || n == 0 || n > 0xFFFFFF {
		return ""
	}
	return fmt.Sprintf("gfx%x", n)
}

func (r *reader) info() (*smi.Info, error) {
	i := &smi.Info{Device: *r.card.device.Load()}
	r.asic(i)
	r.ids(&i.IDs)
	board := &r.l().boardInfo
	b := r.get(fnBoardInfo, board.size)
	i.Board = smi.Board{
		Model: b.text(board.modelNumber), Serial: b.text(board.productSerial), FRU: b.text(board.fruId),
		Product: b.text(board.productName), Manufacturer: b.text(board.manufacturerName),
	}
	vbios := &r.l().vbiosInfo
	b = r.get(fnVBIOSInfo, vbios.size)
	i.VBIOS = smi.VBIOS{
		Name: b.text(vbios.name), Date: b.text(vbios.buildDate), PartNumber: b.text(vbios.partNumber),
		Version: b.text(vbios.version), Boot: b.text(vbios.bootFirmware),
	}
	driver := &r.l().driverInfo
	b = r.get(fnDriverInfo, driver.size)
	i.Driver = smi.Driver{Name: b.text(driver.driverName), Version: b.text(driver.driverVersion), Date: b.text(driver.driverDate)}
	r.vram(&i.VRAM)
	i.Caches = r.caches()
	r.pcieStatic(&i.PCIe)
	r.numa(&i.NUMA)
	limit := r.powerCap()
	i.Limits = smi.Limits{MaxPower: limit.max, MinPower: limit.min}
	if v, ok := r.getUint32(fnVirtualization).Get(); ok {
		i.Virtualization = map[uint64]string{
			1: smi.VirtualizationBareMetal, 2: smi.VirtualizationHost,
			3: smi.VirtualizationGuest, 4: smi.VirtualizationPassthrough,
		}[v]
	}
	return answer(r, i)
}

func (r *reader) asic(i *smi.Info) {
	l := &r.l().asicInfo
	b := r.get(fnASICInfo, l.size)
	if b == nil {
		return
	}
	i.ASIC = smi.ASIC{
		VendorID: asUint32(b.num(l.vendorId)), VendorName: b.text(l.vendorName),
		DeviceID: asUint32(b.num(l.deviceId)), SubvendorID: asUint32(b.num(l.subvendorId)),
		SubsystemID: asUint32(b.num(l.subsystemId)), Revision: asUint32(b.num(l.revId)),
		Serial: hexDigits(b.text(l.asicSerial)), ComputeUnits: positive(asInt(b.num(l.numOfComputeUnits))),
		OAM: asUint32(b.num(l.oamId)), GFXVersion: target(b.num(l.targetGraphicsVersion)),
	}
	i.ASIC.MaxClockGFX = r.clock(clockGFX).max
	i.ASIC.MaxClockMem = r.clock(clockMem).max
}

// hexDigits is a serial number without its "0x"; empty if it is something else.
func hexDigits(s string) string {
	s = strings.TrimPrefix(strings.TrimPrefix(s, "0x"), "0X")
	if strings.Trim(s, "0123456789abcdefABCDEF") != "" || strings.Trim(s, "0") == "" || strings.Trim(s, "fF") == "" {
		return ""
	}
	return s
}

// positive is a number that cannot be 0.
func positive(o smi.Opt[int]) smi.Opt[int] {
	return optMap(o, func(v int) (int, bool) { return v, v > 0 })
}

func (r *reader) ids(ids *smi.IDs) {
	k := &r.l().kfdInfo
	b := r.get(fnKFDInfo, k.size)
	ids.KFD, ids.KFDNode, ids.Partition = b.num(k.kfdId), asUint32(b.num(k.nodeId)), asUint32(b.num(k.currentPartitionId))
	e := &r.l().enumerationInfo
	b = r.get(fnEnumerationInfo, e.size)
	ids.DRMCard, ids.DRMRender = asUint32(b.num(e.drmCard)), asUint32(b.num(e.drmRender))
	ids.HIP, ids.HIPUUID = asUint32(b.num(e.hipId)), b.text(e.hipUuid)
}

// vramTypes are the values of amdsmi_vram_type_t, the same in all ABIs.
var vramTypes = map[uint64]string{
	1: "HBM", 2: "HBM2", 3: "HBM2E", 4: "HBM3", 5: "HBM3E",
	10: "DDR2", 11: "DDR3", 12: "DDR4", 13: "DDR5",
	17: "GDDR1", 18: "GDDR2", 19: "GDDR3", 20: "GDDR4", 21: "GDDR5", 22: "GDDR6", 23: "GDDR7",
	30: "LPDDR4", 31: "LPDDR5",
}

// vramVendors are the values that stand for a vendor's name in ABI 25.
var vramVendors = map[uint64]string{
	0: "Samsung", 1: "Infineon", 2: "Elpida", 3: "Etron", 4: "Nanya", 5: "Hynix", 6: "Mosel", 7: "Winbond", 8: "ESMT", 9: "Micron",
}

func (r *reader) vram(v *smi.VRAMInfo) {
	l := &r.l().vramInfo
	b := r.get(fnVRAMInfo, l.size)
	if t, ok := b.num(l.vramType).Get(); ok {
		v.Type = vramTypes[t]
	}
	if l.vramVendor.width == 1 {
		v.Vendor = b.text(l.vramVendor)
	} else if n, ok := b.num(l.vramVendor).Get(); ok {
		v.Vendor = vramVendors[n]
	}
	v.BitWidth = positive(asInt(b.num(l.vramBitWidth)))
	v.MaxBandwidth = optMap(b.num(l.vramMaxBandwidth), func(v uint64) (smi.BytesPerSecond, bool) {
		return smi.BytesPerSecond(v) * 1e9, v > 0 && v < 1e6
	})
	v.Size = r.bytes(fnMemoryTotal, memVRAM)
	if !v.Size.Ok() {
		v.Size = optMap(b.num(l.vramSize), func(v uint64) (smi.Bytes, bool) { return smi.MiB(v), v < 1<<36 })
	}
}

func (r *reader) caches() []smi.Cache {
	l := &r.l().gpuCacheInfo
	c := &r.l().gpuCacheInfoCache
	b := r.get(fnCacheInfo, l.size)
	var list []smi.Cache
	for i := range b.length(l.numCacheTypes, l.cache.count) {
		e := b.part(l.cache, i)
		bits := e.num(c.cacheProperties).Or(0)
		list = append(list, smi.Cache{
			Level:    asInt(e.num(c.cacheLevel)).Or(0),
			Size:     optMap(e.num(c.cacheSize), func(v uint64) (smi.Bytes, bool) { return smi.Bytes(v << 10), v < 1<<40 }),
			Disabled: bits&1 == 0, Data: bits&2 != 0, Instruction: bits&4 != 0, CPU: bits&8 != 0, SIMD: bits&16 != 0,
			ComputeUnits: asInt(e.num(c.maxNumCuShared)), Count: asInt(e.num(c.numCacheInstance)),
		})
	}
	return list
}

// numa is the card's place; nodes below 0 stand for none.
func (r *reader) numa(n *smi.NUMA) {
	node, ok := r.get(fnNUMAAffinity, 4).raw(oneUint32, 0)
	if !ok {
		node, ok = r.get(fnNUMANode, 4).raw(oneUint32, 0)
	}
	if ok && int32(node) >= 0 && node < math.MaxUint16 {
		n.Node = smi.Some(int(node))
	}
	const words = 64 // 4096 CPUs
	const ofNode = 0 // AMDSMI_AFFINITY_SCOPE_NODE
	at, set := r.mem.alloc(8 * words)
	clear(set)
	if r.call(fnCPUAffinity, words, at, ofNode) == nil {
		n.CPUs = cpuList(set, words)
	}
}

// cpuList writes a set of CPUs as the kernel does, "0-63,128-191".
func cpuList(set buf, words uint32) string {
	var b strings.Builder
	from := -1
	for cpu := 0; cpu <= int(words)*64; cpu++ {
		word, _ := set.raw(field{0, 8, words}, cpu/64)
		in := word>>(cpu%64)&1 == 1
		switch {
		case in && from < 0:
			from = cpu
		case !in && from >= 0:
			if b.Len() > 0 {
				b.WriteByte(',')
			}
			fmt.Fprint(&b, from)
			if cpu-1 > from {
				fmt.Fprintf(&b, "-%d", cpu-1)
			}
			from = -1
		}
	}
	return b.String()
}
