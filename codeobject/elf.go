package codeobject

// Sizes and positions of the ELF64 structures.
const (
	elfHeaderSize  = 64
	elfProgSize    = 56
	elfSectSize    = 64
	elfSymSize     = 24
	elfRelaSize    = 24
	elfDynSize     = 16
	elfABIOffset   = 8
	elfFlagsOffset = 48
)

const (
	etRel, etDyn   = 1, 3
	emAMDGPU       = 224
	osabiAMDGPUHSA = 64
	ptLoad         = 1
	ptDynamic      = 2
	ptNote         = 4
	shtSymtab      = 2
	shtNote        = 7
	shtNoBits      = 8
	shtDynSym      = 11
	sttObject      = 1
	sttFunc        = 2
)

// Segment is a part of the file that is placed in memory.
type Segment struct {
	Addr     uint64 // relative to the base that Load is given
	MemSize  uint64 // bytes in memory; what exceeds FileSize is zero
	Offset   uint64 // of the bytes in the file
	FileSize uint64
	Flags    uint32 // 1 executable, 2 writable, 4 readable
}

// Symbol is a dynamic symbol.
type Symbol struct {
	Name    string
	Addr    uint64 // relative to the base; absolute if Section is shnAbs
	Size    uint64
	Type    uint8
	Binding uint8
	Section uint16 // 0 is undefined
}

const (
	shnUndef = 0
	shnAbs   = 0xfff1
	stbWeak  = 2
)

// header is the decoded ELF header.
type header struct {
	target  Target
	version int // of the code object, 3 to 6
	flags   uint32
	phoff   uint64
	phnum   uint64
	shoff   uint64
	shnum   uint64
}

// parseHeader checks that b begins with the header of a linked AMDGPU code
// object and that its tables lie inside b.
func parseHeader(b []byte) (*header, error) {
	if len(b) < elfHeaderSize {
		return nil, invalid(0, "ELF header is cut off after %d bytes", len(b))
	}
	if string(b[:4]) != elfMagic {
		return nil, invalid(0, "not an ELF file (it begins with % x)", b[:4])
	}
	if b[4] != 2 || b[5] != 1 {
		return nil, invalid(4, "not a 64-bit little-endian ELF file")
	}
	if m := le.Uint16(b[18:]); m != emAMDGPU {
		return nil, invalid(18, "ELF file for machine %d, AMDGPU is %d", m, emAMDGPU)
	}
	if b[7] != osabiAMDGPUHSA {
		return nil, invalid(7, "ELF file for OS ABI %d, amdhsa is %d", b[7], osabiAMDGPUHSA)
	}
	switch t := le.Uint16(b[16:]); t {
	case etDyn:
	case etRel:
		return nil, invalid(16, "relocatable object, it must be linked first")
	default:
		return nil, invalid(16, "ELF file of type %d, a code object is a shared object", t)
	}
	h := &header{flags: le.Uint32(b[elfFlagsOffset:])}
	var err error
	if h.version, err = versionOfABI(b[elfABIOffset]); err != nil {
		return nil, err
	}
	if h.target, err = targetOfFlags(h.flags, h.version); err != nil {
		return nil, err
	}
	h.phoff, h.phnum = le.Uint64(b[32:]), uint64(le.Uint16(b[56:]))
	if h.phnum > 0 {
		if n := le.Uint16(b[54:]); n != elfProgSize {
			return nil, invalid(54, "program headers of %d bytes", n)
		}
		if _, ok := span(b, h.phoff, h.phnum*elfProgSize); !ok {
			return nil, invalid(32, "program headers at %#x lie outside the file", h.phoff)
		}
	}
	h.shoff, h.shnum = le.Uint64(b[40:]), uint64(le.Uint16(b[60:]))
	if h.shnum > 0 {
		if n := le.Uint16(b[58:]); n != elfSectSize {
			return nil, invalid(58, "section headers of %d bytes", n)
		}
		if _, ok := span(b, h.shoff, h.shnum*elfSectSize); !ok {
			return nil, invalid(40, "section headers at %#x lie outside the file", h.shoff)
		}
	}
	return h, nil
}

// progHeader is one program header.
type progHeader struct {
	typ, flags                   uint32
	off, addr, filesz, memsz, at uint64
}

// programs decodes the program headers; the bytes of each are in the file.
func (h *header) programs(b []byte) ([]progHeader, error) {
	out := make([]progHeader, 0, h.phnum)
	for i := uint64(0); i < h.phnum; i++ {
		at := h.phoff + i*elfProgSize
		p := b[at:]
		ph := progHeader{typ: le.Uint32(p), flags: le.Uint32(p[4:]), off: le.Uint64(p[8:]),
			addr: le.Uint64(p[16:]), filesz: le.Uint64(p[32:]), memsz: le.Uint64(p[40:]), at: at}
		if ph.typ != ptLoad && ph.typ != ptDynamic && ph.typ != ptNote {
			continue
		}
		if _, ok := span(b, ph.off, ph.filesz); !ok {
			return nil, invalid(at, "segment covers %#x+%#x of a file of %#x bytes", ph.off, ph.filesz, len(b))
		}
		out = append(out, ph)
	}
	return out, nil
}

// sectHeader is one section header.
type sectHeader struct {
	typ, link     uint32
	off, size, at uint64
}

// sections decodes the section headers of the kinds this package reads.
func (h *header) sections(b []byte) []sectHeader {
	out := make([]sectHeader, 0, h.shnum)
	for i := uint64(0); i < h.shnum; i++ {
		at := h.shoff + i*elfSectSize
		s := b[at:]
		out = append(out, sectHeader{typ: le.Uint32(s[4:]), link: le.Uint32(s[40:]),
			off: le.Uint64(s[24:]), size: le.Uint64(s[32:]), at: at})
	}
	return out
}

// loadSegments collects the load segments, which ascend and do not overlap,
// and returns how many bytes they span from address 0.
func loadSegments(progs []progHeader) (segs []Segment, memSize uint64, err error) {
	for _, p := range progs {
		if p.typ != ptLoad {
			continue
		}
		if p.memsz < p.filesz || p.memsz > MaxMemory || p.addr > MaxMemory {
			return nil, 0, invalid(p.at, "load segment of %#x bytes (%#x in the file) at %#x", p.memsz, p.filesz, p.addr)
		}
		if p.addr < memSize {
			return nil, 0, invalid(p.at, "load segment at %#x overlaps the one before, which ends at %#x", p.addr, memSize)
		}
		segs = append(segs, Segment{Addr: p.addr, MemSize: p.memsz, Offset: p.off, FileSize: p.filesz, Flags: p.flags})
		memSize = p.addr + p.memsz
	}
	if len(segs) == 0 {
		return nil, 0, invalid(32, "no load segment")
	}
	return segs, memSize, nil
}

// MaxMemory is the largest size of a loaded code object, in bytes.
const MaxMemory = 8 << 30
