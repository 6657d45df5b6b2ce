package page

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// mapped is n bytes of zeros outside of the collector's heap.
func mapped(n int) ([]byte, error) {
	p, err := windows.VirtualAlloc(0, uintptr(n), windows.MEM_RESERVE|windows.MEM_COMMIT, windows.PAGE_READWRITE)
	if err != nil {
		return nil, err
	}
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&p)), n), nil // no pointer of Go's: nothing that the collector moves or frees
}

// unmap gives them back.
func unmap(b []byte) { _ = windows.VirtualFree(uintptr(unsafe.Pointer(&b[0])), 0, windows.MEM_RELEASE) }
