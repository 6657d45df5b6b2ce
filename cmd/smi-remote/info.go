package main

import (
	"context"
	"fmt"
	"io"

	"github.com/rocwire/rocwire/cmd/smi-remote/internal/text"
	"github.com/rocwire/rocwire/smi"
)

// infoRow is one card of info.
type infoRow struct {
	Host string `json:"host"`
	*smi.Info
}

func (a *app) info(ctx context.Context, words []string) error {
	cards, p, err := a.cards(ctx, words, true)
	if err != nil {
		return err
	}
	var rows []infoRow
	var shown []card
	for _, c := range cards {
		p.failed(&c, "information", c.InfoErr)
		if c.Info == nil {
			c.Info = &smi.Info{Device: c.Device}
		} else {
			shown = append(shown, c)
		}
		rows = append(rows, infoRow{c.address(), c.Info})
	}
	p.settle(words)
	return a.show(result{key: "gpus", rows: rows, p: p, table: func(w io.Writer) {
		blocks(w, shown, func(c *card) { a.printInfo(w, c) })
		if len(cards) == 0 && p.err() == nil {
			fmt.Fprintln(w, "There is no GPU.")
		}
	}})
}

func (a *app) printInfo(w io.Writer, c *card) {
	i := c.Info
	a.title(w, c)
	a.fact(w, "Target", i.Target)
	a.fact(w, "PCI address", text.Or(i.BDF))
	a.fact(w, "UUID", i.UUID)
	a.fact(w, "Serial number", i.ASIC.Serial)
	a.factOf(w, "Vendor", "%s (%s)", i.ASIC.VendorName, text.Hex(i.ASIC.VendorID))
	a.factOf(w, "Device", "%s, revision %s", text.Hex(i.ASIC.DeviceID), text.Hex(i.ASIC.Revision))
	a.factOf(w, "Subsystem", "%s, %s", text.Hex(i.ASIC.SubvendorID), text.Hex(i.ASIC.SubsystemID))
	a.fact(w, "Compute units", text.Or(i.ASIC.ComputeUnits))
	a.factOf(w, "Highest clocks", "gfx %s, memory %s", text.Unit(text.MHz(i.ASIC.MaxClockGFX), "MHz"), text.Unit(text.MHz(i.ASIC.MaxClockMem), "MHz"))
	a.factOf(w, "Memory", "%s, %s, %s", text.Bytes(i.VRAM.Size), i.VRAM.Type, i.VRAM.Vendor)
	a.factOf(w, "Memory bus", "%s, %s", text.Unit(text.Or(i.VRAM.BitWidth), "bits"), text.SI(i.VRAM.MaxBandwidth, "B/s"))
	for _, c := range i.Caches {
		a.fact(w, fmt.Sprintf("Cache level %d", c.Level), cacheText(&c))
	}
	a.factOf(w, "Power cap may be", "%s to %s", text.Unit(text.Round(i.Limits.MinPower), "W"), text.Unit(text.Round(i.Limits.MaxPower), "W"))
	a.factOf(w, "PCIe", "%s, %s, generation %s, %s", text.Unit(text.Or(i.PCIe.MaxWidth), "lanes"), text.SI(i.PCIe.MaxSpeed, "T/s"), text.Or(i.PCIe.Generation), i.PCIe.Slot)
	a.factOf(w, "NUMA node", "%s, CPUs %s", text.Or(i.NUMA.Node), i.NUMA.CPUs)
	a.factOf(w, "Board", "%s, %s", i.Board.Manufacturer, i.Board.Product)
	a.factOf(w, "Board model", "%s, serial %s, FRU %s", i.Board.Model, i.Board.Serial, i.Board.FRU)
	a.factOf(w, "VBIOS", "%s, %s, %s", i.VBIOS.Version, i.VBIOS.PartNumber, i.VBIOS.Date)
	a.factOf(w, "HIP device", "%s, %s", text.Or(i.IDs.HIP), i.IDs.HIPUUID)
	a.factOf(w, "KFD", "id %s, node %s, partition %s", text.Or(i.IDs.KFD), text.Or(i.IDs.KFDNode), text.Or(i.IDs.Partition))
	a.factOf(w, "DRM", "card %s, render %s", text.Or(i.IDs.DRMCard), text.Or(i.IDs.DRMRender))
	a.fact(w, "Driver", i.Driver.Name+" "+i.Driver.Version+" "+i.Driver.Date)
	a.factOf(w, "Virtualization", "%s", i.Virtualization)
}

func cacheText(c *smi.Cache) string {
	s := text.Bytes(c.Size)
	for _, k := range []struct {
		is   bool
		name string
	}{{c.Data, " data"}, {c.Instruction, " instructions"}, {c.Disabled, " (disabled)"}} {
		if k.is {
			s += k.name
		}
	}
	if c.Count.Ok() || c.ComputeUnits.Ok() {
		s += ", " + text.Or(c.Count) + " of them, compute units that share one: " + text.Or(c.ComputeUnits)
	}
	return s
}
