package smiabi

import "math"

// amdsmiGetGPUASICInfo is what the chip is.
func amdsmiGetGPUASICInfo(c card, info *asicInfo) status {
	i, st := c.info()
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	*info = asicInfo{
		vendorID:          i.ASIC.VendorID.Or(math.MaxUint32),
		subvendorID:       i.ASIC.SubvendorID.Or(math.MaxUint32),
		deviceID:          uint64(i.ASIC.DeviceID.Or(math.MaxUint32)),
		revID:             i.ASIC.Revision.Or(math.MaxUint32),
		oamID:             i.ASIC.OAM.Or(math.MaxUint32),
		numOfComputeUnits: uint32(i.ASIC.ComputeUnits.Or(math.MaxUint32)),
		subsystemID:       i.ASIC.SubsystemID.Or(math.MaxUint32),
	}
	putText(info.marketName[:], i.Name)
	putText(info.vendorName[:], i.ASIC.VendorName)
	putText(info.asicSerial[:], i.ASIC.Serial)
	return AMDSMI_STATUS_SUCCESS
}
