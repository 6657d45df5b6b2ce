//go:build linux && amd64

package ebpf

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
)

// Limits of what is read of a library: anybody may load a file with its name.
const (
	maxSections = 1 << 12
	maxSegments = 1 << 10
	maxSymbols  = 1 << 16
	maxStrings  = 8 << 20
)

// Sizes of ELF's structures of 64 bits.
const (
	elfHeaderSize  = 64
	elfSectionSize = 64
	elfSegmentSize = 56
	elfSymbolSize  = 24
)

// symbol is a function that a library exports.
type symbol struct {
	name   string
	offset uint64 // of its first instruction, in the file
}

// symbols reads which functions a library for x86-64 exports. Versions are not looked
// at: two versions of a function are two symbols of one name.
func symbols(f io.ReaderAt) ([]symbol, error) {
	var h elf.Header64
	if err := readAt(f, 0, elfHeaderSize, &h); err != nil {
		return nil, err
	}
	switch {
	case string(h.Ident[:4]) != elf.ELFMAG, elf.Class(h.Ident[elf.EI_CLASS]) != elf.ELFCLASS64, elf.Data(h.Ident[elf.EI_DATA]) != elf.ELFDATA2LSB:
		return nil, fmt.Errorf("%w: no ELF file of 64 bits", errLibrary)
	case elf.Type(h.Type) != elf.ET_DYN || elf.Machine(h.Machine) != elf.EM_X86_64:
		return nil, fmt.Errorf("%w: not one for x86-64", errLibrary)
	case h.Shentsize != elfSectionSize || h.Phentsize != elfSegmentSize || h.Shnum > maxSections || h.Phnum > maxSegments:
		return nil, fmt.Errorf("%w: its tables have unusual sizes", errLibrary)
	}
	sections := make([]elf.Section64, h.Shnum)
	if err := readAt(f, h.Shoff, len(sections)*elfSectionSize, sections); err != nil {
		return nil, err
	}
	segments := make([]elf.Prog64, h.Phnum)
	if err := readAt(f, h.Phoff, len(segments)*elfSegmentSize, segments); err != nil {
		return nil, err
	}
	for i := range sections {
		s := &sections[i]
		if elf.SectionType(s.Type) != elf.SHT_DYNSYM {
			continue
		}
		if s.Entsize != elfSymbolSize || s.Size/elfSymbolSize > maxSymbols || int(s.Link) >= len(sections) || sections[s.Link].Size > maxStrings {
			return nil, fmt.Errorf("%w: too many symbols", errLibrary)
		}
		table := make([]elf.Sym64, s.Size/elfSymbolSize)
		if err := readAt(f, s.Off, len(table)*elfSymbolSize, table); err != nil {
			return nil, err
		}
		names := make([]byte, sections[s.Link].Size)
		if err := readAt(f, sections[s.Link].Off, len(names), names); err != nil {
			return nil, err
		}
		return exported(table, names, segments), nil
	}
	return nil, fmt.Errorf("%w: it exports nothing", errLibrary)
}

// exported are the functions among a table of symbols.
func exported(table []elf.Sym64, names []byte, segments []elf.Prog64) []symbol {
	var list []symbol
	for i := range table {
		s := &table[i]
		bind := elf.ST_BIND(s.Info)
		if elf.ST_TYPE(s.Info) != elf.STT_FUNC || s.Shndx == uint16(elf.SHN_UNDEF) || bind != elf.STB_GLOBAL && bind != elf.STB_WEAK ||
			uint64(s.Name) >= uint64(len(names)) {
			continue
		}
		name, _, ok := bytes.Cut(names[s.Name:min(len(names), int(s.Name)+maxName*2)], []byte{0})
		offset, inCode := fileOffset(s.Value, segments)
		if ok && inCode {
			list = append(list, symbol{string(name), offset})
		}
	}
	return list
}

// fileOffset is where in the file the code at an address comes from.
func fileOffset(address uint64, segments []elf.Prog64) (uint64, bool) {
	for i := range segments {
		p := &segments[i]
		if elf.ProgType(p.Type) == elf.PT_LOAD && elf.ProgFlag(p.Flags)&elf.PF_X != 0 && address >= p.Vaddr && address-p.Vaddr < p.Filesz {
			offset := address - p.Vaddr + p.Off
			return offset, offset >= p.Off
		}
	}
	return 0, false
}

// readAt decodes size bytes at an offset.
func readAt(f io.ReaderAt, off uint64, size int, v any) error {
	if off > 1<<62 {
		return fmt.Errorf("%w: it ends too early", errLibrary)
	}
	b := make([]byte, size)
	if _, err := f.ReadAt(b, int64(off)); err != nil && !(err == io.EOF && size == 0) {
		return fmt.Errorf("%w: it ends too early: %w", errLibrary, err)
	}
	if out, ok := v.([]byte); ok {
		copy(out, b)
		return nil
	}
	_, err := binary.Decode(b, binary.LittleEndian, v)
	return err
}
