package amdsmi

// #include <stdlib.h>
// #include <string.h>
import "C"

import "unsafe"

// slack is how much room there is behind each structure, should a newer library of
// the same ABI have made it longer.
const slack = 4096

// memory is what the library writes to: not Go's, as a call that hangs may still
// write to it when nobody waits any more.
type memory struct{ blocks [][]byte } // with their slack

func newMemory() *memory { return new(memory) }

// alloc returns room for size bytes, its address and itself, all ones.
func (m *memory) alloc(size int) (uint64, buf) {
	p := C.malloc(C.size_t(size + slack)) // which never fails under cgo
	C.memset(p, 0xFF, C.size_t(size+slack))
	all := unsafe.Slice((*byte)(p), size+slack)
	m.blocks = append(m.blocks, all)
	return uint64(uintptr(p)), buf(all[:size:size])
}

func (m *memory) free() {
	for _, b := range m.blocks {
		C.free(unsafe.Pointer(&b[0]))
	}
	m.blocks = nil
}
