package codeobject

// A note of type NT_AMDGPU_METADATA by owner "AMDGPU" holds a MessagePack map
// with the kernels of the object. Compilers write one note for all kernels,
// Tensile one note per kernel: all notes count.

const (
	ntAMDGPUMetadata = 32
	noteOwner        = "AMDGPU\x00"
)

// metadata is what the notes of an object say.
type metadata struct {
	version [2]uint32
	target  string
	printf  []string
	kernels []*Kernel
}

// notes calls f with the description of every metadata note in b[off:off+n],
// and says whether it found one.
func notes(b []byte, off, n uint64, f func(desc []byte, off uint64) error) (bool, error) {
	found := false
	end := off + n
	for end-off >= 12 {
		head := b[off:]
		nameLen, descLen, typ := uint64(le.Uint32(head)), uint64(le.Uint32(head[4:])), le.Uint32(head[8:])
		nameOff := off + 12
		descOff := nameOff + (nameLen+3)&^3
		next := descOff + (descLen+3)&^3
		if descOff > end || descLen > end-descOff {
			return found, invalid(off, "note of %d+%d bytes with %d left", nameLen, descLen, end-nameOff)
		}
		if typ == ntAMDGPUMetadata && string(b[nameOff:nameOff+nameLen]) == noteOwner {
			found = true
			if err := f(b[descOff:descOff+descLen], descOff); err != nil {
				return found, err
			}
		}
		if next > end {
			break
		}
		off = next
	}
	return found, nil
}

// parseMetadata reads all notes: of the program headers, or, when those say
// nothing, of the note sections.
func parseMetadata(b []byte, progs []progHeader, sects []sectHeader, room *budget) (*metadata, error) {
	m := &metadata{}
	add := func(desc []byte, off uint64) error {
		if err := room.spend(uint64(len(desc)), off); err != nil { // notes may overlap
			return err
		}
		return m.add(&msgReader{b: desc, off: off, room: room})
	}
	any := false
	for _, p := range progs {
		if p.typ != ptNote {
			continue
		}
		found, err := notes(b, p.off, p.filesz, add)
		if err != nil {
			return nil, err
		}
		any = any || found
	}
	if any {
		return m, nil
	}
	for _, s := range sects {
		if s.typ != shtNote {
			continue
		}
		if _, ok := span(b, s.off, s.size); !ok {
			return nil, invalid(s.at, "note section covers %#x+%#x of a file of %#x bytes", s.off, s.size, len(b))
		}
		if _, err := notes(b, s.off, s.size, add); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// add reads one note.
func (m *metadata) add(r *msgReader) error {
	return r.each(func(key string) (bool, error) {
		var err error
		switch key {
		case "amdhsa.version":
			var n int
			if n, err = r.arrayLen(); err != nil {
				return true, err
			}
			for i := 0; i < n && err == nil; i++ {
				var v uint32
				if v, err = r.u32(); i < 2 {
					m.version[i] = v
				}
			}
			if err == nil && m.version[0] != 1 {
				err = r.fail("version %d.%d, 1.x is known", m.version[0], m.version[1])
			}
		case "amdhsa.target":
			var s []byte
			s, err = r.str()
			m.target = string(s)
		case "amdhsa.printf":
			var n int
			n, err = r.arrayLen()
			for i := 0; i < n && err == nil; i++ {
				var s []byte
				s, err = r.str()
				if err == nil {
					err = r.keep(stringCost + len(s))
				}
				m.printf = append(m.printf, string(s))
			}
		case "amdhsa.kernels":
			var n int
			n, err = r.arrayLen()
			for i := 0; i < n && err == nil; i++ {
				var k *Kernel
				if k, err = readKernel(r); err == nil {
					m.kernels = append(m.kernels, k)
				}
			}
		default:
			return false, nil
		}
		return true, err
	})
}

// readKernel reads the map of one kernel.
func readKernel(r *msgReader) (*Kernel, error) {
	at := r.at
	if err := r.keep(kernelCost); err != nil {
		return nil, err
	}
	k := &Kernel{HasMetadata: true}
	err := r.each(func(key string) (bool, error) {
		if n := k.number(key); n != nil {
			var err error
			*n, err = r.u32()
			return true, err
		}
		var err error
		var s []byte
		var flag uint64
		switch key {
		case ".name":
			s, err = r.str()
			k.Name = string(s)
		case ".symbol":
			s, err = r.str()
			k.Symbol = string(s)
		case ".language":
			s, err = r.str()
			k.Language = string(s)
		case ".kind":
			s, err = r.str()
			k.Kind = string(s)
		case ".device_enqueue_symbol":
			s, err = r.str()
			k.DeviceEnqueueSymbol = string(s)
		case ".uses_dynamic_stack":
			flag, err = r.uint()
			k.DynamicStack = flag != 0
		case ".uniform_work_group_size":
			flag, err = r.uint()
			k.UniformWorkgroupSize = flag != 0
		case ".workgroup_processor_mode":
			flag, err = r.uint()
			k.WorkgroupProcessorMode = flag != 0
		case ".reqd_workgroup_size":
			var n int
			n, err = r.arrayLen()
			if err == nil && n != 3 {
				err = r.fail("workgroup size with %d dimensions", n)
			}
			for i := 0; i < n && err == nil; i++ {
				k.RequiredWorkgroupSize[i], err = r.u32()
			}
		case ".args":
			err = k.readArgs(r)
		default:
			return false, nil
		}
		return true, err
	})
	if err != nil {
		return nil, err
	}
	if k.Name == "" || k.Symbol == "" {
		return nil, invalid(r.off+uint64(at), "metadata: kernel without name or symbol")
	}
	return k, nil
}

// number is the field that a numeric key of a kernel's map belongs to.
func (k *Kernel) number(key string) *uint32 {
	switch key {
	case ".kernarg_segment_size":
		return &k.KernargSize
	case ".kernarg_segment_align":
		return &k.KernargAlign
	case ".group_segment_fixed_size":
		return &k.GroupSize
	case ".private_segment_fixed_size":
		return &k.PrivateSize
	case ".wavefront_size":
		return &k.WavefrontSize
	case ".sgpr_count":
		return &k.SGPRs
	case ".vgpr_count":
		return &k.VGPRs
	case ".agpr_count":
		return &k.AGPRs
	case ".sgpr_spill_count":
		return &k.SGPRSpills
	case ".vgpr_spill_count":
		return &k.VGPRSpills
	case ".max_flat_workgroup_size":
		return &k.MaxFlatWorkgroupSize
	}
	return nil
}

// maxKernarg bounds an argument segment, in bytes.
const maxKernarg = 1 << 20

// readArgs reads the argument list into Args and Hidden.
func (k *Kernel) readArgs(r *msgReader) error {
	n, err := r.arrayLen()
	if err != nil {
		return err
	}
	if err := r.keep(n * argCost); err != nil {
		return err
	}
	for i := 0; i < n; i++ {
		var a Arg
		kind := ""
		err := r.each(func(key string) (bool, error) {
			var err error
			var s []byte
			switch key {
			case ".offset":
				a.Offset, err = r.u32()
			case ".size":
				a.Size, err = r.u32()
			case ".pointee_align":
				a.PointeeAlign, err = r.u32()
			case ".value_kind":
				s, err = r.str()
				kind = string(s)
			case ".name":
				s, err = r.str()
				a.Name = string(s)
			case ".type_name":
				s, err = r.str()
				a.TypeName = string(s)
			case ".address_space":
				s, err = r.str()
				a.AddressSpace = string(s)
			case ".access", ".actual_access":
				s, err = r.str()
				if key == ".access" || a.Access == "" {
					a.Access = string(s)
				}
			default:
				return false, nil
			}
			return true, err
		})
		if err != nil {
			return err
		}
		if a.Offset > maxKernarg || a.Size > maxKernarg {
			return r.fail("argument %d of %s is %d bytes at %d", i, k.Name, a.Size, a.Offset)
		}
		var ok bool
		if a.Kind, ok = argKinds[kind]; !ok && len(kind) > 7 && kind[:7] == "hidden_" {
			a.Kind = ArgHiddenNone // a newer compiler's: it reads as zero
		}
		if a.Kind.Hidden() {
			k.Hidden = append(k.Hidden, a)
		} else {
			k.Args = append(k.Args, a)
		}
	}
	return nil
}
