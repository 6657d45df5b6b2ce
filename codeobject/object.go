package codeobject

import "strings"

// Object is a parsed code object. It refers to the bytes it was parsed from,
// which must not change, until Forget.
type Object struct {
	Target  Target
	Version int    // of the code object: 3 to 6
	Flags   uint32 // e_flags

	Segments    []Segment
	MemSize     uint64 // bytes of memory that Load fills
	Symbols     []Symbol
	Relocations []Relocation

	Kernels map[string]*Kernel // by name
	Globals map[string]*Global // variables, by name
	Printf  []string           // format strings, as the compiler wrote them

	image []byte
}

// Global is a variable of a code object.
type Global struct {
	Name string
	Addr uint64 // relative to the base
	Size uint64 // in bytes
	// Managed is set for a __managed__ variable: this global is the 8-byte
	// pointer through which code reaches it, which the runtime sets before
	// anything runs, and Managed describes the initial value.
	Managed *Global
}

// managedSuffix marks the initial value of a managed variable.
const managedSuffix = ".managed"

// Parse reads a code object: one linked ELF file. Errors are *Invalid.
func Parse(image []byte) (*Object, error) {
	h, err := parseHeader(image)
	if err != nil {
		return nil, err
	}
	progs, err := h.programs(image)
	if err != nil {
		return nil, err
	}
	sects := h.sections(image)
	room := newBudget(image)
	o := &Object{Target: h.target, Version: h.version, Flags: h.flags, image: image}
	if o.Segments, o.MemSize, err = loadSegments(progs); err != nil {
		return nil, err
	}
	dyn, err := parseDynamic(image, progs, sects, o.Segments)
	if err != nil {
		return nil, err
	}
	if o.Symbols, err = dyn.symbols(room); err != nil {
		return nil, err
	}
	if o.Relocations, err = dyn.relocations(len(o.Symbols), o.MemSize, room); err != nil {
		return nil, err
	}
	meta, err := parseMetadata(image, progs, sects, room)
	if err != nil {
		return nil, err
	}
	o.Printf = meta.printf
	if err := o.addSymbols(meta, dyn.symtabAt); err != nil {
		return nil, err
	}
	return o, nil
}

// addSymbols makes kernels and globals of metadata and symbols.
func (o *Object) addSymbols(meta *metadata, symtabAt uint64) error {
	objects := make(map[string]*Symbol, len(o.Symbols))
	for i := range o.Symbols {
		s := &o.Symbols[i]
		if s.Section != shnUndef && s.Section != shnAbs && s.Type == sttObject && s.Name != "" {
			objects[s.Name] = s
		}
	}
	o.Kernels = make(map[string]*Kernel, len(meta.kernels))
	for _, k := range meta.kernels {
		if o.Kernels[k.Name] != nil {
			continue
		}
		s := objects[k.Symbol]
		if s == nil {
			return invalid(symtabAt, "no symbol %q for the descriptor of kernel %q", k.Symbol, k.Name)
		}
		if err := o.finish(k, s, symtabAt); err != nil {
			return err
		}
		o.Kernels[k.Name] = k
		delete(objects, k.Symbol)
	}
	o.Globals = make(map[string]*Global)
	for name, s := range objects {
		// A descriptor without metadata: a kernel of hand-written assembly.
		if base, ok := strings.CutSuffix(name, ".kd"); ok && s.Size == DescriptorSize && base != "" && o.Kernels[base] == nil {
			k := &Kernel{Name: base, Symbol: name}
			if err := o.finish(k, s, symtabAt); err != nil {
				return err
			}
			o.Kernels[base] = k
			continue
		}
		if s.Addr > o.MemSize || s.Size > o.MemSize-s.Addr {
			return invalid(symtabAt, "variable %q at %#x+%#x, the object ends at %#x", name, s.Addr, s.Size, o.MemSize)
		}
		o.Globals[name] = &Global{Name: name, Addr: s.Addr, Size: s.Size}
	}
	for name, g := range o.Globals {
		if base, ok := strings.CutSuffix(name, managedSuffix); ok {
			if p := o.Globals[base]; p != nil && p.Size == 8 {
				p.Managed = g
			}
		}
	}
	return nil
}

// finish reads a kernel's descriptor and fills in what the metadata left out.
func (o *Object) finish(k *Kernel, s *Symbol, symtabAt uint64) error {
	k.Addr = s.Addr
	off, ok := fileOffset(o.Segments, s.Addr, DescriptorSize)
	if !ok {
		return invalid(symtabAt, "descriptor of kernel %q at %#x lies in no load segment", k.Name, s.Addr)
	}
	var err error
	if k.Descriptor, err = ParseDescriptor(o.image[off:]); err != nil {
		return err
	}
	k.Entry = k.Addr + uint64(k.Descriptor.EntryOffset)
	if _, ok := fileOffset(o.Segments, k.Entry, 4); !ok {
		return invalid(off+16, "entry of kernel %q at %#x lies in no load segment", k.Name, k.Entry)
	}
	k.GroupSize = max(k.GroupSize, k.Descriptor.GroupSegmentFixedSize)
	k.PrivateSize = max(k.PrivateSize, k.Descriptor.PrivateSegmentFixedSize)
	k.DynamicStack = k.DynamicStack || k.Descriptor.Has(UsesDynamicStack)
	k.KernargSize = max(k.KernargSize, k.Descriptor.KernargSize)
	for i := range k.Args {
		k.ExplicitSize = max(k.ExplicitSize, k.Args[i].Offset+k.Args[i].Size)
	}
	k.KernargSize = max(k.KernargSize, k.ExplicitSize)
	for i := range k.Hidden {
		k.KernargSize = max(k.KernargSize, k.Hidden[i].Offset+k.Hidden[i].Size)
	}
	if k.KernargSize > maxKernarg {
		return invalid(off+8, "kernel %q with %d bytes of arguments", k.Name, k.KernargSize)
	}
	if k.opaque() {
		k.ExplicitSize = k.KernargSize
	}
	if k.KernargAlign == 0 {
		k.KernargAlign = 8
	}
	if k.WavefrontSize == 0 {
		k.WavefrontSize = 64
		if k.Descriptor.Has(EnableWavefrontSize32) {
			k.WavefrontSize = 32
		}
	}
	return nil
}
