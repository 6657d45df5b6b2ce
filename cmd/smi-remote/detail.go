package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/rocwire/rocwire/smi"
)

// fact prints one line of a description.
func fact(w io.Writer, name, value string) {
	value = dash(strings.TrimSpace(value))
	fmt.Fprintln(w, clip(fmt.Sprintf("%-22s %s", name, value), width))
}

func unit(value, unit string) string {
	if value == "-" {
		return value
	}
	return value + " " + unit
}

func hexID(v smi.Opt[uint32]) string {
	return with(v, func(n uint32) string { return fmt.Sprintf("0x%04x", n) })
}

func printInfo(w io.Writer, i *smi.Info) {
	fact(w, "GPU", strconv.Itoa(i.Index))
	fact(w, "Name", clean(i.Name))
	fact(w, "Target", clean(i.Target))
	fact(w, "PCI address", or(i.BDF))
	fact(w, "UUID", clean(i.UUID))
	fact(w, "Serial number", clean(i.ASIC.Serial))
	fact(w, "Vendor", dash(clean(i.ASIC.VendorName))+" ("+hexID(i.ASIC.VendorID)+")")
	fact(w, "Device", hexID(i.ASIC.DeviceID)+", revision "+hexID(i.ASIC.Revision))
	fact(w, "Subsystem", hexID(i.ASIC.SubvendorID)+", "+hexID(i.ASIC.SubsystemID))
	fact(w, "Compute units", or(i.ASIC.ComputeUnits))
	fact(w, "Highest clocks", unit(orMHz(i.ASIC.MaxClockGFX), "MHz gfx")+", "+unit(orMHz(i.ASIC.MaxClockMem), "MHz memory"))
	fact(w, "Memory", orBytes(i.VRAM.Size)+" "+clean(i.VRAM.Type)+" "+clean(i.VRAM.Vendor))
	fact(w, "Memory bus", unit(or(i.VRAM.BitWidth), "bits")+", "+
		with(i.VRAM.MaxBandwidth, func(b smi.BytesPerSecond) string { return si(float64(b)) + "B/s" }))
	fact(w, "Driver", clean(i.Driver.Name)+" "+clean(i.Driver.Version)+" "+clean(i.Driver.Date))
}

func printMetrics(w io.Writer, d *smi.Device, m *smi.Metrics) {
	fact(w, "GPU", strconv.Itoa(d.Index)+", "+clean(d.Name))
	if !m.Time.IsZero() {
		fact(w, "Read at", m.Time.Local().Format(time.DateTime))
	}
	fact(w, "Busy", fmt.Sprintf("gfx %s, memory controller %s, video %s",
		unit(orPercent(m.Activity.GFX), "%"), unit(orPercent(m.Activity.UMC), "%"), unit(orPercent(m.Activity.MM), "%")))
	fact(w, "VRAM", orBytes(m.VRAM.Used)+" of "+orBytes(m.VRAM.Total))
	if m.GTT.Total.Ok() || m.GTT.Used.Ok() {
		fact(w, "GTT", orBytes(m.GTT.Used)+" of "+orBytes(m.GTT.Total))
	}
	for _, c := range m.Clocks {
		name := "Clock " + clean(c.Domain)
		if c.Index > 0 {
			name += " " + strconv.Itoa(c.Index)
		}
		fact(w, name, fmt.Sprintf("%s (%s to %s)", unit(orMHz(c.Current), "MHz"), orMHz(c.Min), orMHz(c.Max)))
	}
	fact(w, "Power", fmt.Sprintf("%s now, %s average, cap %s", unit(orRound(m.Power.Socket), "W"), unit(orRound(m.Power.Average), "W"), unit(orRound(m.Power.Cap), "W")))
	for _, t := range m.Temperatures {
		fact(w, "Temperature "+clean(t.Sensor), fmt.Sprintf("%s (limit %s)", unit(orRound(t.Current), "°C"), orRound(t.Limit)))
	}
	fact(w, "Energy", orJoules(m.Energy))
}
