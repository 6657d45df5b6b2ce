package codeobject

// machines maps the machine number of e_flags (EF_AMDGPU_MACH) to processors.
var machines = map[uint32]string{
	0x020: "gfx600", 0x021: "gfx601", 0x03a: "gfx602",
	0x022: "gfx700", 0x023: "gfx701", 0x024: "gfx702", 0x025: "gfx703", 0x026: "gfx704", 0x03b: "gfx705",
	0x028: "gfx801", 0x029: "gfx802", 0x02a: "gfx803", 0x03c: "gfx805", 0x02b: "gfx810",
	0x02c: "gfx900", 0x02d: "gfx902", 0x02e: "gfx904", 0x02f: "gfx906", 0x030: "gfx908", 0x031: "gfx909",
	0x03f: "gfx90a", 0x032: "gfx90c", 0x040: "gfx940", 0x04b: "gfx941", 0x04c: "gfx942", 0x04f: "gfx950",
	0x033: "gfx1010", 0x034: "gfx1011", 0x035: "gfx1012", 0x042: "gfx1013",
	0x036: "gfx1030", 0x037: "gfx1031", 0x038: "gfx1032", 0x039: "gfx1033", 0x03e: "gfx1034", 0x03d: "gfx1035", 0x045: "gfx1036",
	0x041: "gfx1100", 0x046: "gfx1101", 0x047: "gfx1102", 0x044: "gfx1103",
	0x043: "gfx1150", 0x04a: "gfx1151", 0x055: "gfx1152", 0x058: "gfx1153",
	0x048: "gfx1200", 0x04e: "gfx1201",
	0x051: "gfx9-generic", 0x05f: "gfx9-4-generic", 0x052: "gfx10-1-generic", 0x053: "gfx10-3-generic",
	0x054: "gfx11-generic", 0x059: "gfx12-generic",
}

// targetOfFlags decodes e_flags of a code object of the given version.
func targetOfFlags(flags uint32, version int) (Target, error) {
	name, ok := machines[flags&0xff]
	if !ok {
		return Target{}, invalid(elfFlagsOffset, "unknown machine %#x in e_flags", flags&0xff)
	}
	t := Target{Processor: name}
	if version == 3 {
		// Version 3 knows on and off, and writes off for what does not exist.
		t.XNACK = featureOfBit(flags&0x100, hasXNACK[name])
		t.SRAMECC = featureOfBit(flags&0x200, hasSRAMECC[name])
		return t, nil
	}
	t.XNACK = featureOfBits(flags >> 8)
	t.SRAMECC = featureOfBits(flags >> 10)
	if version < 6 && t.Generic() {
		return t, invalid(elfFlagsOffset, "generic target %s in a code object of version %d, which has none", name, version)
	}
	return t, nil
}

// Processors with the features, for code objects that do not say.
var (
	hasXNACK = set("gfx801", "gfx810", "gfx900", "gfx902", "gfx904", "gfx906", "gfx908", "gfx909", "gfx90a", "gfx90c",
		"gfx940", "gfx941", "gfx942", "gfx950", "gfx1010", "gfx1011", "gfx1012", "gfx1013")
	hasSRAMECC = set("gfx906", "gfx908", "gfx90a", "gfx940", "gfx941", "gfx942", "gfx950")
)

func set(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[n] = true
	}
	return m
}

func featureOfBit(bit uint32, exists bool) Feature {
	switch {
	case !exists:
		return FeatureAny
	case bit != 0:
		return FeatureOn
	}
	return FeatureOff
}

// featureOfBits decodes the two bits of a feature: unsupported, any, off, on.
func featureOfBits(bits uint32) Feature {
	switch bits & 3 {
	case 2:
		return FeatureOff
	case 3:
		return FeatureOn
	}
	return FeatureAny
}

// versionOfABI maps EI_ABIVERSION to the code object version.
func versionOfABI(abi byte) (int, error) {
	switch {
	case abi == 0:
		return 0, invalid(elfABIOffset, "code object version 2, which ROCm no longer loads either")
	case abi > 4:
		return 0, invalid(elfABIOffset, "code object ABI byte %d, which this loader does not know", abi)
	}
	return int(abi) + 2, nil
}
