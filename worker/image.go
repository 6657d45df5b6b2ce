package worker

import (
	"errors"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/wire"
)

// image is a code object that a client has sent. A large one lies in memory of its own, of which only as much is there as has arrived: the length that the
// client announces costs addresses, no memory.
type image struct {
	bytes  []byte
	mapped bool
	fd     int // a memory file with the bytes, -1 if there is none
}

// largeImage is the size in bytes from which an image has memory of its own: below it Go's is as good.
const largeImage = 1 << 20

// readImage reads the whole bulk of a request; if it is to be kept, into a file of which it can be.
func readImage(r *wire.Request, keep bool) (b image, err error) {
	switch n := r.BulkLen; {
	case keep && n >= hiprpc.MinContent:
		return readFile(r)
	case n < largeImage:
		b = image{bytes: make([]byte, n), fd: -1}
	default:
		m, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
		if err != nil {
			return image{}, err
		}
		_ = unix.Madvise(m, unix.MADV_HUGEPAGE) // fewer page faults, where there are large pages
		b = image{bytes: m, mapped: true, fd: -1}
	}
	if err := r.ReadBulk(b.bytes); err != nil {
		b.free()
		return image{}, err
	}
	return b, nil
}

// readFile reads the bulk into a memory file that can be neither written nor cut afterwards.
func readFile(r *wire.Request) (b image, err error) {
	if b.fd, err = unix.MemfdCreate("module", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING); err != nil {
		return image{}, errors.Join(unix.ENOMEM, err)
	}
	defer func() {
		if err != nil {
			b.free()
		}
	}()
	if err := unix.Ftruncate(b.fd, int64(r.BulkLen)); err != nil {
		return b, errors.Join(unix.ENOMEM, err)
	}
	m, err := unix.Mmap(b.fd, 0, r.BulkLen, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return b, err
	}
	err = r.ReadBulk(m)
	_ = unix.Munmap(m) // nobody may be able to write when it is sealed
	if err != nil {
		return b, err
	}
	if _, err := unix.FcntlInt(uintptr(b.fd), unix.F_ADD_SEALS, unix.F_SEAL_WRITE|unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL); err != nil {
		return b, errors.Join(unix.ENOMEM, err)
	}
	b.bytes, err = unix.Mmap(b.fd, 0, r.BulkLen, unix.PROT_READ, unix.MAP_PRIVATE)
	b.mapped = err == nil
	return b, err
}

// free gives the memory back. Nobody may look at the image any more.
func (b *image) free() {
	if b.mapped {
		_ = unix.Munmap(b.bytes)
	}
	if b.fd >= 0 {
		_ = unix.Close(b.fd)
	}
	*b = image{fd: -1}
}
