package main

import "strings"

// initials are the words that Go writes in capitals.
var initials = map[string]string{}

func init() {
	for _, w := range strings.Fields(`ASIC BDF CPU CUID DF DPM ECC FW GFX GPU ID KFD NIC NPM NUMA OD P2P PCI PCIe PLPD PM PTL RAS SOC TTM
		UMA UUID VBIOS VCN VRAM XCD XGMI`) {
		initials[strings.ToLower(w)] = w
	}
}

// camel is a C name as Go writes it, with a small initial.
func camel(c string) string {
	var b strings.Builder
	for i, w := range strings.FieldsFunc(c, func(r rune) bool { return r == '_' }) {
		switch up := initials[strings.ToLower(w)]; {
		case i == 0:
			b.WriteString(strings.ToLower(w))
		case up != "":
			b.WriteString(up)
		default:
			b.WriteString(strings.ToUpper(w[:1]) + w[1:])
		}
	}
	switch n := b.String(); n {
	case "type":
		return "typ"
	case "range":
		return "span"
	default:
		return n
	}
}

// goFunc is the Go function behind an export: amdsmi_get_gpu_asic_info is
// amdsmiGetGPUASICInfo.
func goFunc(c string) string { return camel(c) }

// goType is the Go name of a C struct or enumeration: amdsmi_asic_info_t is
// asicInfo, amdsmi_fw_info_t::fw_info_list_ fwInfoFWInfoList.
func goType(c string) string {
	outer, inner, nested := strings.Cut(c, "::")
	n := strings.TrimSuffix(strings.TrimPrefix(outer, "amdsmi_"), "_t")
	if nested {
		n += "_" + strings.Trim(inner, "_")
	}
	return camel(n)
}

// goScalars are the scalars in Go. Handles are numbers there: what a caller passes
// may be anything, and is no pointer before it was checked.
var goScalars = map[string]string{
	"u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64", "i32": "int32", "i64": "int64", "f32": "float32",
	"bool": "bool", "char": "byte", "processor": "handle", "socket": "handle", "node": "handle", "event": "handle",
}

// cScalars are the scalars in C.
var cScalars = map[string]string{
	"u8": "uint8_t", "u16": "uint16_t", "u32": "uint32_t", "u64": "uint64_t", "i32": "int32_t", "i64": "int64_t", "f32": "float",
	"bool": "bool", "char": "char", "void": "void", "processor": "amdsmi_processor_handle", "socket": "amdsmi_socket_handle",
	"node": "amdsmi_node_handle", "event": "amdsmi_event_handle_t", "timespec": "struct timespec",
}

// goOf is a table's type in Go. A pointer inside of a struct is a number: it never
// leads to Go's memory.
func goOf(typ string) string {
	if s, ok := goScalars[typ]; ok {
		return s
	}
	if strings.HasSuffix(typ, "*") {
		return "uintptr"
	}
	return goType(typ)
}

// cOf is a table's type in C.
func cOf(typ string) string {
	base := strings.TrimRight(typ, "*")
	stars := typ[len(base):]
	c, ok := cScalars[base]
	switch {
	case ok:
	case strings.Contains(base, "::"):
		outer, inner, _ := strings.Cut(base, "::")
		c = strings.TrimSuffix(outer, "_t") + "_" + strings.Trim(inner, "_") + "_t"
	default:
		c = base
	}
	if stars != "" {
		stars = " " + stars
	}
	return c + stars
}
