package codeobject

// LoadAlign is the alignment in bytes that the base of a loaded object needs.
const LoadAlign = 4096

// Load places the object into dst, the MemSize bytes of memory that begin at
// address base (aligned to LoadAlign) for the code that will run: segments,
// zeros between and behind them, and relocations applied. An address in the
// object (Kernel.Addr, Global.Addr) is relative to base afterwards.
//
// Errors: *Undefined if the object refers to a symbol nothing defines,
// *Invalid if dst is too short, base is not aligned, or a relocation overflows.
func (o *Object) Load(dst []byte, base uint64) error { return o.LoadWith(dst, base, nil) }

// LoadWith is Load where define has the addresses of symbols that something else defines.
func (o *Object) LoadWith(dst []byte, base uint64, define map[string]uint64) error {
	if uint64(len(dst)) < o.MemSize {
		return invalid(0, "object of %#x bytes loaded into %#x", o.MemSize, len(dst))
	}
	if o.image == nil {
		return invalid(0, "the object's bytes have been given up")
	}
	if base%LoadAlign != 0 {
		return invalid(0, "object loaded at unaligned address %#x", base)
	}
	dst = dst[:o.MemSize]
	end := uint64(0)
	for i := range o.Segments {
		s := &o.Segments[i]
		clear(dst[end:s.Addr])
		copy(dst[s.Addr:], o.image[s.Offset:s.Offset+s.FileSize])
		end = s.Addr + s.MemSize
		clear(dst[s.Addr+s.FileSize : end])
	}
	for i := range o.Relocations {
		if err := o.apply(&o.Relocations[i], dst, base, define); err != nil {
			return err
		}
	}
	return nil
}

// Forget gives up the bytes that the object was parsed from, which are the caller's again. What has been parsed of them stays.
func (o *Object) Forget() { o.image = nil }
