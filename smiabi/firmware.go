package smiabi

import (
	"slices"
	"strconv"
	"strings"

	"github.com/rocwire/rocwire/smi"
)

// amdsmiGetFWInfo lists the firmware whose name AMD SMI knows, each with its version
// as a number, in the order of their ids.
func amdsmiGetFWInfo(c card, info *fwInfo) status {
	all, st := c.firmware()
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	*info = fwInfo{}
	for _, f := range all {
		id, known := fwBlocks[f.Name]
		number, ok := f.Number.Get()
		if !ok {
			number, ok = versionNumber(f)
		}
		if !known || !ok || int(info.numFWInfo) == len(info.fwInfoList) {
			continue
		}
		info.fwInfoList[info.numFWInfo] = fwInfoFWInfoList{fwID: id, fwVersion: number}
		info.numFWInfo++
	}
	slices.SortFunc(info.fwInfoList[:info.numFWInfo], func(a, b fwInfoFWInfoList) int { return int(a.fwID) - int(b.fwID) })
	return AMDSMI_STATUS_SUCCESS
}

// versionNumber reads a version that the vendor's tools wrote: a number; or bytes
// with dots between them, hexadecimal ones, but for two kinds of firmware decimal.
func versionNumber(f smi.Firmware) (uint64, bool) {
	if !strings.Contains(f.Version, ".") {
		n, err := strconv.ParseUint(f.Version, 0, 64)
		if err != nil {
			return 0, false
		}
		return n, true
	}
	base := 16
	if f.Name == "pm" || f.Name == "pldm_bundle" {
		base = 10
	}
	var n uint64
	parts := strings.Split(f.Version, ".")
	if len(parts) > 8 {
		return 0, false
	}
	for _, part := range parts {
		b, err := strconv.ParseUint(part, base, 8)
		if err != nil {
			return 0, false
		}
		n = n<<8 | b
	}
	return n, true
}
