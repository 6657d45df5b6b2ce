package sysfs

import (
	"encoding/binary"

	"github.com/rocwire/rocwire/smi"
)

// Version 1.9 has no fixed form: after the header stands a 32-bit count of
// attributes, and each attribute is a 64-bit description with its values behind it,
// without gaps. The description has, from its lowest bit: 10 bits number of values,
// 10 bits meaning, 4 bits type, 8 bits unit (AMDGPU_METRICS_ENC_ATTR).
const (
	attrHeader   = headerSize + 4
	attrInstBits = 10
	attrIDBits   = 10
	attrTypeBits = 4
)

// attrWidths are the sizes of the types, by number: u8, s8, u16, s16, u32, s32,
// u64, s64.
var attrWidths = [...]int{1, 1, 2, 2, 4, 4, 8, 8}

// attrFields are the meanings that are used, by number (amdgpu_metrics_attr_id).
var attrFields = [...]field{
	0: temperatureHotspot, 1: temperatureMem, 2: temperatureVRSOC, 3: currSocketPower,
	4: averageGFXActivity, 5: averageUMCActivity, 6: memMaxBandwidth, 7: energyAccumulator,
	9: accumulationCounter, 10: prochotResidency, 11: pptResidency,
	12: socketThermalResidency, 13: vrThermalResidency, 14: hbmThermalResidency,
	15: gfxClkLockStatus, 16: pcieLinkWidth, 17: pcieLinkSpeed, 18: xgmiLinkWidth, 19: xgmiLinkSpeed,
	23: pcieBandwidthInst, 24: pcieL0ToRecovery, 25: pcieReplay, 26: pcieReplayRollover,
	27: pcieNAKSent, 28: pcieNAKReceived, 29: xgmiReadData, 30: xgmiWriteData, 31: xgmiLinkStatus,
	33: currentGFXClk, 34: currentSOCClk, 35: currentVClk0, 36: currentDClk0, 37: currentUClk,
	38: numPartition, 40: gfxBusyInst, 41: jpegBusy, 42: vcnBusy,
	44: gfxBelowHostLimitPPT, 45: gfxBelowHostLimitThermal, 46: gfxLowUtilization, 47: gfxBelowHostLimitTotal,
	48: temperatureHBM, 51: temperatureXCD,
}

func (t *table) parseAttributes() error {
	if len(t.data) < attrHeader {
		return smi.Errorf(smi.ErrBadData, "gpu_metrics v1.9 ends before its attributes")
	}
	n := binary.LittleEndian.Uint32(t.data[headerSize:])
	off := attrHeader
	for ; n > 0; n-- {
		if len(t.data)-off < 8 {
			return smi.Errorf(smi.ErrBadData, "gpu_metrics v1.9 ends with %d attributes to come", n)
		}
		desc := binary.LittleEndian.Uint64(t.data[off:])
		off += 8
		insts := int(desc & (1<<attrInstBits - 1))
		id := int(desc >> attrInstBits & (1<<attrIDBits - 1))
		kind := int(desc >> (attrInstBits + attrIDBits) & (1<<attrTypeBits - 1))
		if kind >= len(attrWidths) {
			return smi.Errorf(smi.ErrBadData, "gpu_metrics v1.9 has an attribute of unknown type %d", kind)
		}
		width := attrWidths[kind]
		if width*insts > len(t.data)-off {
			return smi.Errorf(smi.ErrBadData, "gpu_metrics v1.9 ends within attribute %d", id)
		}
		// All that is used is unsigned, so a signed type is all ones or positive.
		if id < len(attrFields) && attrFields[id] != none && insts > 0 {
			t.at[attrFields[id]] = place{offset: off, width: width, count: insts, parts: 1}
		}
		off += width * insts
	}
	return nil
}
