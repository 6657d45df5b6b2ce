package provider

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rocwire/rocwire/internal/tensorfusion"
	"github.com/rocwire/rocwire/smi"
)

// vendor is how TensorFusion calls AMD; it tells capital letters from small ones.
const vendor = "AMD"

// maxWorkers is how many workers a host may put onto a card at once. The driver sets no
// limit; it lets more processes than it has address spaces (eight) take turns, and a
// card that many share serves none of them well.
const maxWorkers = 16

// device is what the host is told of a card.
type device struct {
	uuid, model, driver, firmware, node string
	index, numa                         int32
	memory, units                       uint64
	tflops                              float64
	pcieGen, pcieWidth                  uint32
	properties                          []property
	capabilities                        capabilities
}

type property struct{ key, value string }

type capabilities struct {
	partitioning, limits       bool
	maxPartitions, maxSessions uint32
}

// divisions are how the cards are divided, of those that can be, by their index at the
// source. A card that does not answer is as it was when it last did; none does: that is
// an error, as the host would keep for hours that nothing can be divided.
func (l *library) divisions(ctx context.Context, cards []card) (map[int]*smi.Partitions, error) {
	return l.partitions.get(ctx, l.ctx, time.Second, func(ctx context.Context) (map[int]*smi.Partitions, error) {
		m, silent, err := each(cards, func(c *card) (*smi.Partitions, error) { return l.src.Partitions(ctx, c.source()) })
		if len(silent) > 0 && len(silent) == len(cards) {
			return nil, err
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		for i, p := range m {
			l.divided[i] = p
		}
		for _, i := range silent {
			l.log.Warn("a card does not tell how it is divided", "card", i, "error", err)
			if p := l.divided[i]; p != nil {
				m[i] = p
			}
		}
		return m, nil
	})
}

// each asks a question about every card, side by side, and returns the answers that
// there are by the cards' index at the source; the cards that nothing was heard of, and
// why not of one of them.
func each[T any](cards []card, ask func(c *card) (*T, error)) (m map[int]*T, silent []int, why error) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	m = map[int]*T{}
	for i := range cards {
		wg.Go(func() {
			v, err := protect(func() (*T, error) { return ask(&cards[i]) })
			mu.Lock()
			defer mu.Unlock()
			switch {
			case !answered(err):
				silent, why = append(silent, cards[i].source()), err
			case err == nil && v != nil:
				m[cards[i].source()] = v
			}
		})
	}
	wg.Wait()
	return m, silent, why
}

// devices describes all cards to the host.
func (h *host) devices(ctx context.Context, l *library) ([]device, error) {
	list, err := h.describe(ctx, l)
	if err == nil {
		h.noteTold(list)
	}
	return list, err
}

// describe describes all cards.
func (h *host) describe(ctx context.Context, l *library) ([]device, error) {
	cards, _, err := l.cards(ctx)
	if err != nil {
		return nil, err
	}
	divisions, err := l.divisions(ctx, cards)
	if err != nil {
		return nil, err
	}
	rights, err := l.rights(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]device, len(cards))
	for i := range cards {
		list[i] = h.device(l, &cards[i], divisions[cards[i].source()], rights)
	}
	return list, nil
}

// rights is what the source lets this library do. Not to know is an error: no host is
// told of a worker that does not answer that it can do nothing.
func (l *library) rights(ctx context.Context) (Rights, error) {
	if l.origin.Rights == nil {
		return Rights{Divide: true}, nil
	}
	r, err := l.allowed.get(ctx, l.ctx, 30*time.Second, l.origin.Rights)
	if err != nil && answered(err) { // a worker that does not know the question
		return Rights{}, nil
	}
	return r, err
}

// device describes a card; p is how it is divided, nil if it cannot be, and rights say
// what may be done with it.
func (h *host) device(l *library, c *card, p *smi.Partitions, rights Rights) device {
	in := c.info
	d := device{
		uuid: c.uuid, index: int32(c.index), model: tensorfusion.Model(in), driver: in.Driver.Version, numa: -1,
		firmware: firstText(in.VBIOS.Version, in.VBIOS.PartNumber, in.VBIOS.Name),
		node:     l.node(in), memory: l.memory(c, p), units: l.units(c),
	}
	if n, ok := in.NUMA.Node.Get(); ok && n >= 0 && n < 1<<16 {
		d.numa = int32(n)
	}
	// The link's speed falls while a card is idle, its width only when lanes are broken
	// or missing: what counts is the highest speed and the width as it is.
	d.pcieGen, d.pcieWidth = small(in.PCIe.Generation), small(in.PCIe.MaxWidth)
	if d.pcieGen == 0 {
		d.pcieGen = generation(in.PCIe.MaxSpeed)
	}
	if m := c.whole().Metrics; m != nil {
		if w := small(m.PCIe.Width); w > 0 {
			d.pcieWidth = w
		}
		if d.pcieGen == 0 {
			d.pcieGen = generation(m.PCIe.Speed)
		}
	}
	var how string
	d.tflops, how = tensorfusion.TFLOPS(in, d.units)
	d.capabilities = capabilities{limits: rights.Limit, maxPartitions: 1, maxSessions: maxWorkers}
	modes := modesOf(p)
	if len(modes) > 0 && modes[len(modes)-1].parts > 1 && rights.Divide && !p.Fixed && !h.ledger.isRefused(c.uuid) {
		d.capabilities.partitioning, d.capabilities.maxPartitions = true, uint32(modes[len(modes)-1].parts)
	}
	d.properties = properties(l, c, p)
	add := func(key, value string) { d.properties = append(d.properties, property{key, value}) }
	add("tflopsSource", how)
	if d.capabilities.partitioning {
		for _, m := range modes {
			add("partitionTemplate."+m.template(), fmt.Sprintf("partitions=%d computeUnits=%d memoryBytes=%d tflops=%.1f",
				m.parts, d.units/uint64(m.parts), d.memory/uint64(m.parts), d.tflops/float64(m.parts)))
		}
	}
	return d
}

func firstText(list ...string) string {
	for _, s := range list {
		if s != "" {
			return s
		}
	}
	return ""
}

// properties are what else there is to know of a card; what is not known is left out.
func properties(l *library, c *card, p *smi.Partitions) (list []property) {
	in := c.info
	add := func(key, value string) {
		if value != "" {
			list = append(list, property{key, value})
		}
	}
	hex := func(v smi.Opt[uint32]) string {
		if x, ok := v.Get(); ok {
			return fmt.Sprintf("0x%04x", x)
		}
		return ""
	}
	number := func(v smi.Opt[uint32]) string {
		if x, ok := v.Get(); ok {
			return strconv.FormatUint(uint64(x), 10)
		}
		return ""
	}
	if b, ok := in.BDF.Get(); ok {
		add("pciAddress", b.String())
	}
	if k, ok := in.IDs.KFD.Get(); ok {
		add("kfdId", strconv.FormatUint(k, 10))
	}
	add("kfdNode", number(in.IDs.KFDNode))
	add("hipIndex", number(in.IDs.HIP))
	add("hipUuid", in.IDs.HIPUUID)
	add("marketName", in.Name)
	add("gfxTarget", in.Target)
	add("pciVendorId", hex(in.ASIC.VendorID))
	add("pciDeviceId", hex(in.ASIC.DeviceID))
	add("pciSubsystemId", hex(in.ASIC.SubsystemID))
	add("serialNumber", in.ASIC.Serial)
	add("boardSerialNumber", in.Board.Serial)
	add("boardModel", in.Board.Model)
	add("vbiosPartNumber", in.VBIOS.PartNumber)
	add("driverName", in.Driver.Name)
	add("memoryType", in.VRAM.Type)
	add("memoryVendor", in.VRAM.Vendor)
	add("virtualization", in.Virtualization)
	if w, ok := in.Limits.MaxPower.Get(); ok {
		add("maxPowerWatts", strconv.FormatFloat(finite(float64(w)), 'f', -1, 64))
	}
	if p != nil {
		add("computePartition", p.Compute)
		add("memoryPartition", p.Memory)
		var names []string
		for _, m := range modesOf(p) {
			names = append(names, m.name)
		}
		add("computePartitionModes", strings.Join(names, ","))
		add("memoryPartitionModes", strings.Join(p.Memories, ","))
	}
	add("worker", l.origin.Worker)
	return list
}

// node is the device file that a container needs for a card alone, "" if this machine
// has none.
func (l *library) node(in *smi.Info) string {
	if n, ok := in.IDs.DRMRender.Get(); ok {
		return l.renderNode(n, in.BDF)
	}
	return ""
}

// renderNode is the device file of that number, "" if it is not the card's.
func (l *library) renderNode(n uint32, bdf smi.Opt[smi.BDF]) string {
	file := fmt.Sprintf("renderD%d", n)
	if !l.origin.Local {
		// The worker may be on this machine, or elsewhere: the file must be the card's.
		at, err := filepath.EvalSymlinks(filepath.Join(drmClass, file, "device"))
		if b, ok := bdf.Get(); err != nil || !ok || filepath.Base(at) != b.String() {
			return ""
		}
		if _, err := os.Stat(filepath.Join("/dev/dri", file)); err != nil {
			return ""
		}
	}
	return "/dev/dri/" + file
}

// drmClass is where the kernel lists the files of graphics cards.
const drmClass = "/sys/class/drm"
