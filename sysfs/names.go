package sysfs

import (
	"fmt"
	"strconv"
	"strings"
)

// idsFile is libdrm's list of marketing names.
const idsFile = "usr/share/libdrm/amdgpu.ids"

// ids are the marketing names by PCI device and revision.
type ids map[[2]uint64]string

// parseIDs reads libdrm's list: lines "74A1,\t00,\tAMD Instinct MI300X" after a line
// with the version of its form.
func parseIDs(s string) ids {
	m := ids{}
	for line := range strings.Lines(s) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		parts := strings.SplitN(line, ",", 3)
		if len(parts) != 3 {
			continue
		}
		dev, err1 := strconv.ParseUint(strings.TrimSpace(parts[0]), 16, 16)
		rev, err2 := strconv.ParseUint(strings.TrimSpace(parts[1]), 16, 8)
		name := strings.TrimSpace(parts[2])
		if err1 == nil && err2 == nil && name != "" && len(name) <= 256 {
			m[[2]uint64{dev, rev}] = name
		}
	}
	return m
}

// name is what the card is called: by its own memory, by libdrm's list, or by what
// is certain about it.
func (c *card) name(list ids) string {
	if n := c.line("product_name"); n != "" {
		return n
	}
	dev, ok := c.deviceID.Get()
	if n := list[[2]uint64{dev, c.revision.Or(0)}]; ok && n != "" {
		return n
	}
	n := "AMD GPU"
	if c.Target != "" {
		n = "AMD " + c.Target
	}
	if ok {
		n += fmt.Sprintf(" (device 0x%04x)", dev)
	}
	return n
}
