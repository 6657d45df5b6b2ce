package codeobject

// Tags of the dynamic section.
const (
	dtNull     = 0
	dtHash     = 4
	dtStrTab   = 5
	dtSymTab   = 6
	dtRela     = 7
	dtRelaSz   = 8
	dtStrSz    = 10
	dtRel      = 17
	dtJmpRel   = 23
	dtGNUHash  = 0x6ffffef5
	dtPltRelSz = 2
)

// dynamic is the dynamic section, as the loader needs it.
type dynamic struct {
	strtab, symtab []byte
	symtabAt       uint64 // file offset
	rela           []byte
	relaAt         uint64
}

// fileOffset translates an address of the loaded object to the file offset of
// n bytes that lie in one segment's file part.
func fileOffset(segs []Segment, addr, n uint64) (uint64, bool) {
	for i := range segs {
		s := &segs[i]
		if addr >= s.Addr && addr-s.Addr <= s.FileSize && n <= s.FileSize-(addr-s.Addr) {
			return s.Offset + (addr - s.Addr), true
		}
	}
	return 0, false
}

// parseDynamic reads the dynamic section; an object without one has no
// symbols and no relocations.
func parseDynamic(b []byte, progs []progHeader, sects []sectHeader, segs []Segment) (*dynamic, error) {
	d := &dynamic{}
	var table []byte
	var at uint64
	for _, p := range progs {
		if p.typ == ptDynamic {
			table, at = b[p.off:p.off+p.filesz], p.off
		}
	}
	tags := map[uint64]uint64{}
	for i := 0; i+elfDynSize <= len(table); i += elfDynSize {
		tag := le.Uint64(table[i:])
		if tag == dtNull {
			break
		}
		tags[tag] = le.Uint64(table[i+8:])
	}
	part := func(what string, addr, size uint64) ([]byte, uint64, error) {
		off, ok := fileOffset(segs, addr, size)
		if !ok {
			return nil, 0, invalid(at, "%s at address %#x+%#x lies in no load segment", what, addr, size)
		}
		return b[off : off+size], off, nil
	}
	var err error
	if n := tags[dtStrSz]; n > 0 {
		if d.strtab, _, err = part("dynamic string table", tags[dtStrTab], n); err != nil {
			return nil, err
		}
	}
	if n := tags[dtRelaSz]; n > 0 {
		if d.rela, d.relaAt, err = part("relocations", tags[dtRela], n); err != nil {
			return nil, err
		}
	}
	if tags[dtPltRelSz] > 0 || tags[dtRel] > 0 {
		return nil, invalid(at, "relocations of a kind that no AMDGPU linker writes")
	}
	if addr, ok := tags[dtSymTab]; ok {
		n, err := symbolCount(b, tags, sects, segs, at)
		if err != nil {
			return nil, err
		}
		if d.symtab, d.symtabAt, err = part("dynamic symbols", addr, n*elfSymSize); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// symbolCount finds the number of dynamic symbols: from the section header, or
// from the hash table of a file whose section headers were stripped.
func symbolCount(b []byte, tags map[uint64]uint64, sects []sectHeader, segs []Segment, at uint64) (uint64, error) {
	for _, s := range sects {
		if s.typ == shtDynSym {
			if s.size > uint64(len(b)) {
				return 0, invalid(s.at, "dynamic symbols of %d bytes in a file of %d", s.size, len(b))
			}
			return s.size / elfSymSize, nil
		}
	}
	hash, ok := tags[dtHash]
	if !ok {
		return 0, invalid(at, "dynamic symbols without section headers or hash table")
	}
	off, ok := fileOffset(segs, hash, 8)
	if !ok {
		return 0, invalid(at, "hash table at address %#x lies in no load segment", hash)
	}
	return uint64(le.Uint32(b[off+4:])), nil
}

// symbols decodes the dynamic symbol table; index i of the result is symbol i.
func (d *dynamic) symbols(room *budget) ([]Symbol, error) {
	if err := room.spend(uint64(len(d.symtab)/elfSymSize)*symbolCost, d.symtabAt); err != nil {
		return nil, err
	}
	syms := make([]Symbol, 0, len(d.symtab)/elfSymSize)
	for i := 0; i+elfSymSize <= len(d.symtab); i += elfSymSize {
		s := d.symtab[i:]
		name := ""
		if n := uint64(le.Uint32(s)); n != 0 {
			var ok bool
			if name, ok = cstring(d.strtab, n); !ok {
				return nil, invalid(d.symtabAt+uint64(i), "name of dynamic symbol %d lies outside the string table", i/elfSymSize)
			}
			if err := room.spend(uint64(len(name)), d.symtabAt+uint64(i)); err != nil {
				return nil, err
			}
		}
		syms = append(syms, Symbol{Name: name, Addr: le.Uint64(s[8:]), Size: le.Uint64(s[16:]),
			Type: s[4] & 15, Binding: s[4] >> 4, Section: le.Uint16(s[6:])})
	}
	return syms, nil
}
