package hipremote

import (
	"errors"

	"golang.org/x/sys/unix"
)

// mapNear maps memory that a worker has passed, and takes the descriptor. A file that could shrink would end this process one day.
func mapNear(fd int, size uint64) ([]byte, error) {
	defer func() { _ = unix.Close(fd) }()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, err
	}
	seals, err := unix.FcntlInt(uintptr(fd), unix.F_GET_SEALS, 0)
	if err != nil || seals&unix.F_SEAL_SHRINK == 0 || st.Size < 0 || uint64(st.Size) < size || size == 0 || size > 1<<46 {
		return nil, errors.Join(errors.New("it is not as agreed"), err)
	}
	mem, err := unix.Mmap(fd, 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_NORESERVE)
	if err != nil {
		return nil, err
	}
	_ = unix.Madvise(mem, unix.MADV_HUGEPAGE) // where shared memory may have them
	if err := unix.Madvise(mem, unix.MADV_DONTFORK); err != nil {
		return nil, errors.Join(err, unix.Munmap(mem))
	}
	return mem, nil
}

func unmapNear(mem []byte) { _ = unix.Munmap(mem) }
