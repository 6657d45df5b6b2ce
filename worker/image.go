package worker

import (
	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/wire"
)

// image is a code object that a client has sent. It lies in memory of its own, of which only as much is there as has arrived: the length that the client
// announces costs addresses, no memory.
type image []byte

// largeImage is the size in bytes from which an image has memory of its own: below it Go's is as good.
const largeImage = 1 << 20

// readImage reads the whole bulk of a request.
func readImage(r *wire.Request) (image, error) {
	var b image
	if r.BulkLen < largeImage {
		b = make(image, r.BulkLen)
	} else {
		m, err := unix.Mmap(-1, 0, r.BulkLen, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
		if err != nil {
			return nil, err
		}
		_ = unix.Madvise(m, unix.MADV_HUGEPAGE) // fewer page faults, where there are large pages
		b = m
	}
	if err := r.ReadBulk(b); err != nil {
		b.free()
		return nil, err
	}
	return b, nil
}

// free gives the memory back. Nobody may look at the image any more.
func (b image) free() {
	if len(b) >= largeImage {
		_ = unix.Munmap(b)
	}
}
