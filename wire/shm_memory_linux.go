package wire

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

const shmSeals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL

// makeShared makes the memory of a connection: a file without a name whose size is final. None of it takes room until it is used.
func makeShared() (fd int, err error) {
	const flags = unix.MFD_CLOEXEC | unix.MFD_ALLOW_SEALING
	fd, err = unix.MemfdCreate("rocwire", flags|unix.MFD_NOEXEC_SEAL)
	if err == unix.EINVAL { // before Linux 6.3
		fd, err = unix.MemfdCreate("rocwire", flags)
	}
	if err != nil {
		return -1, os.NewSyscallError("memfd_create", err)
	}
	err = unix.Ftruncate(fd, shmHeads+2*shmBytes)
	if err == nil {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, shmSeals)
	}
	if err != nil {
		return -1, errors.Join(fmt.Errorf("wire: shared memory: %w", err), unix.Close(fd))
	}
	return fd, nil
}

// mapShared maps memory that somebody else has made, if it is what makeShared makes: a smaller one would end this process when it is used, and so would
// one that can shrink. A child of this process does not get the mapping.
func mapShared(fd int) ([]byte, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, err
	}
	seals, err := unix.FcntlInt(uintptr(fd), unix.F_GET_SEALS, 0)
	if err != nil || seals&shmSeals != shmSeals {
		return nil, fmt.Errorf("wire: shared memory with seals %#x: %w", seals, errors.Join(err, errShared))
	}
	n := (st.Size - shmHeads) / 2
	if st.Size < shmHeads || st.Size != shmHeads+2*n || n < shmMin || n > shmMax || n&(n-1) != 0 {
		return nil, fmt.Errorf("wire: shared memory of %d bytes: %w", st.Size, errShared)
	}
	b, err := unix.Mmap(fd, 0, int(st.Size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, os.NewSyscallError("mmap", err)
	}
	if err := unix.Madvise(b, unix.MADV_DONTFORK); err != nil {
		return nil, errors.Join(os.NewSyscallError("madvise", err), unix.Munmap(b))
	}
	return b, nil
}

var errShared = errors.New("not as agreed")
