package codeobject

// Relocation types of AMDGPU that may remain in a linked code object.
const (
	relNone       = 0
	relAbs32Lo    = 1
	relAbs32Hi    = 2
	relAbs64      = 3
	relRel32      = 4
	relRel64      = 5
	relAbs32      = 6
	relRel32Lo    = 10
	relRel32Hi    = 11
	relRelative64 = 13
)

// relocNames names every type, also those only a linker resolves.
var relocNames = [...]string{"NONE", "ABS32_LO", "ABS32_HI", "ABS64", "REL32", "REL64", "ABS32", "GOTPCREL",
	"GOTPCREL32_LO", "GOTPCREL32_HI", "REL32_LO", "REL32_HI", "12", "RELATIVE64", "REL16"}

// Relocation is a place in the loaded object whose value depends on where it
// is loaded.
type Relocation struct {
	Addr   uint64 // of the place, relative to the base
	Type   uint32 // R_AMDGPU_*
	Symbol int    // index in Object.Symbols; 0 is none
	Addend int64
	Offset uint64 // of the relocation in the file
}

// relocations decodes and checks the dynamic relocations: the type is one this
// loader applies, the symbol exists, the place lies inside the loaded object.
func (d *dynamic) relocations(nsyms int, memSize uint64, room *budget) ([]Relocation, error) {
	if err := room.spend(uint64(len(d.rela)/elfRelaSize)*relocCost, d.relaAt); err != nil {
		return nil, err
	}
	out := make([]Relocation, 0, len(d.rela)/elfRelaSize)
	for i := 0; i+elfRelaSize <= len(d.rela); i += elfRelaSize {
		b := d.rela[i:]
		info := le.Uint64(b[8:])
		r := Relocation{Addr: le.Uint64(b), Type: uint32(info), Symbol: int(info >> 32),
			Addend: int64(le.Uint64(b[16:])), Offset: d.relaAt + uint64(i)}
		width := uint64(4)
		switch r.Type {
		case relNone:
			continue
		case relAbs64, relRel64, relRelative64:
			width = 8
		case relAbs32Lo, relAbs32Hi, relRel32, relAbs32, relRel32Lo, relRel32Hi:
		default:
			return nil, invalid(r.Offset, "relocation %s, which a loader cannot apply", relocName(r.Type))
		}
		if r.Addr > memSize || width > memSize-r.Addr {
			return nil, invalid(r.Offset, "relocation %s of address %#x, the object ends at %#x", relocName(r.Type), r.Addr, memSize)
		}
		if r.Symbol >= max(nsyms, 1) {
			return nil, invalid(r.Offset, "relocation %s against symbol %d of %d", relocName(r.Type), r.Symbol, nsyms)
		}
		out = append(out, r)
	}
	return out, nil
}

func relocName(t uint32) string {
	if t < uint32(len(relocNames)) {
		return "R_AMDGPU_" + relocNames[t]
	}
	return "R_AMDGPU_?"
}

// apply writes the value of r into the loaded object at base.
func (o *Object) apply(r *Relocation, dst []byte, base uint64, define map[string]uint64) error {
	var value uint64 // S + A
	switch {
	case r.Type == relRelative64:
		value = base
	case r.Symbol != 0:
		s := &o.Symbols[r.Symbol]
		switch s.Section {
		case shnUndef:
			there, ok := define[s.Name]
			if !ok && s.Binding != stbWeak {
				return &Undefined{Symbol: s.Name}
			}
			value = there
		case shnAbs:
			value = s.Addr
		default:
			value = base + s.Addr
		}
	}
	value += uint64(r.Addend)
	relative := value - (base + r.Addr)
	place := dst[r.Addr:]
	switch r.Type {
	case relAbs64, relRelative64:
		le.PutUint64(place, value)
	case relRel64:
		le.PutUint64(place, relative)
	case relAbs32Lo:
		le.PutUint32(place, uint32(value))
	case relAbs32Hi:
		le.PutUint32(place, uint32(value>>32))
	case relRel32Lo:
		le.PutUint32(place, uint32(relative))
	case relRel32Hi:
		le.PutUint32(place, uint32(relative>>32))
	case relAbs32:
		if value>>32 != 0 {
			return invalid(r.Offset, "value %#x of relocation %s needs more than 32 bits", value, relocName(r.Type))
		}
		le.PutUint32(place, uint32(value))
	case relRel32:
		if int64(relative) != int64(int32(relative)) {
			return invalid(r.Offset, "distance %#x of relocation %s needs more than 32 bits", relative, relocName(r.Type))
		}
		le.PutUint32(place, uint32(relative))
	}
	return nil
}
