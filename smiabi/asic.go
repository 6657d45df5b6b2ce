package smiabi

import (
	"math"
	"strconv"
	"strings"

	"github.com/rocwire/rocwire/smi"
)

// virtualizations are smi's words for how a machine has a card.
var virtualizations = map[string]virtualizationMode{
	smi.VirtualizationBareMetal: AMDSMI_VIRTUALIZATION_MODE_BAREMETAL, smi.VirtualizationHost: AMDSMI_VIRTUALIZATION_MODE_HOST,
	smi.VirtualizationGuest: AMDSMI_VIRTUALIZATION_MODE_GUEST, smi.VirtualizationPassthrough: AMDSMI_VIRTUALIZATION_MODE_PASSTHROUGH,
}

// amdsmiGetGPUASICInfo is what the chip is.
func amdsmiGetGPUASICInfo(c card, info *asicInfo) status {
	i, st := c.info()
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	*info = asicInfo{
		vendorID:              i.ASIC.VendorID.Or(math.MaxUint32),
		subvendorID:           i.ASIC.SubvendorID.Or(math.MaxUint32),
		deviceID:              uint64(i.ASIC.DeviceID.Or(math.MaxUint32)),
		revID:                 i.ASIC.Revision.Or(math.MaxUint32),
		oamID:                 i.ASIC.OAM.Or(math.MaxUint32),
		numOfComputeUnits:     in[uint32](i.ASIC.ComputeUnits, 1),
		targetGraphicsVersion: targetNumber(i),
		subsystemID:           i.ASIC.SubsystemID.Or(math.MaxUint32),
		physicalAccID:         math.MaxUint32,
		chipRevID:             math.MaxUint32,
		externalRevID:         math.MaxUint32,
	}
	putText(info.marketName[:], i.Name)
	putText(info.vendorName[:], i.ASIC.VendorName)
	// Programs read the serial number as a hexadecimal number.
	serial := strings.TrimPrefix(i.ASIC.Serial, "0x")
	if _, err := strconv.ParseUint(serial, 16, 64); err == nil {
		putText(info.asicSerial[:], serial)
	}
	return AMDSMI_STATUS_SUCCESS
}

// targetNumber is the card's instruction set, gfx90a as 0x90a; all ones if it is not
// known.
func targetNumber(i *smi.Info) uint64 {
	name := i.ASIC.GFXVersion
	if name == "" {
		name, _, _ = strings.Cut(i.Target, ":")
	}
	digits, ok := strings.CutPrefix(name, "gfx")
	n, err := strconv.ParseUint(digits, 16, 64)
	if !ok || err != nil {
		return math.MaxUint64
	}
	return n
}

// short writes a PCI number.
func short(id *uint16, n smi.Opt[uint32]) status {
	v, ok := n.Get()
	if !ok || v > math.MaxUint16 {
		return AMDSMI_STATUS_NOT_SUPPORTED
	}
	*id = uint16(v)
	return AMDSMI_STATUS_SUCCESS
}

// amdsmiGetGPUID is the kind of card, as PCI numbers it.
func amdsmiGetGPUID(c card, id *uint16) status {
	i, st := c.info()
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	return short(id, i.ASIC.DeviceID)
}

// amdsmiGetGPURevision is its revision.
func amdsmiGetGPURevision(c card, revision *uint16) status {
	i, st := c.info()
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	return short(revision, i.ASIC.Revision)
}

// amdsmiGetGPUSubsystemID is the board's PCI number.
func amdsmiGetGPUSubsystemID(c card, id *uint16) status {
	i, st := c.info()
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	return short(id, i.ASIC.SubsystemID)
}

// amdsmiGetGPUVendorName is who made the chip; its PCI number if no name is known.
func amdsmiGetGPUVendorName(c card, name *byte, size uint64) status {
	i, st := c.info()
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	return whole(name, size, i.ASIC.VendorName, i.ASIC.VendorID)
}

// amdsmiGetGPUSubsystemName is what the board is called; its PCI number if no name is
// known.
func amdsmiGetGPUSubsystemName(c card, name *byte, size uint64) status {
	i, st := c.info()
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	return whole(name, size, i.Board.Product, i.ASIC.SubsystemID)
}

// whole writes a name, or a number in its place. AMDSMI_STATUS_INSUFFICIENT_SIZE says
// that it had to be cut.
func whole(dst *byte, size uint64, name string, number smi.Opt[uint32]) status {
	if name == "" {
		n, ok := number.Get()
		if !ok {
			return AMDSMI_STATUS_NOT_SUPPORTED
		}
		name = "0x" + strconv.FormatUint(uint64(n), 16)
	}
	putString(dst, size, name)
	if uint64(len(name)) >= size {
		return AMDSMI_STATUS_INSUFFICIENT_SIZE
	}
	return AMDSMI_STATUS_SUCCESS
}
