//go:build unix

package page

import "golang.org/x/sys/unix"

// mapped is n bytes of zeros outside of the collector's heap.
func mapped(n int) ([]byte, error) {
	return unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
}

// unmap gives them back.
func unmap(b []byte) { _ = unix.Munmap(b) }
