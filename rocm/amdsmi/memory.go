package amdsmi

// #include <stdlib.h>
import "C"

import "unsafe"

// slack is how much room there is behind each structure, should a newer library of
// the same ABI have made it longer.
const slack = 4096

// memory is what the library writes to: not Go's, as a call that hangs may still
// write to it when nobody waits any more.
type memory struct{ blocks []unsafe.Pointer }

func newMemory() *memory { return new(memory) }

// alloc returns room for size bytes, its address and itself, all ones.
func (m *memory) alloc(size int) (uint64, buf) {
	p := C.malloc(C.size_t(size + slack))
	m.blocks = append(m.blocks, p)
	all := unsafe.Slice((*byte)(p), size+slack)
	for i := range all {
		all[i] = 0xFF
	}
	return uint64(uintptr(p)), buf(all[:size:size])
}

func (m *memory) free() {
	for _, p := range m.blocks {
		C.free(p)
	}
	m.blocks = nil
}
