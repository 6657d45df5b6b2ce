package pagewatch

import (
	"errors"
	"os"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// kernel is what the kernel offers: a userfaultfd and the page map of this process.
type kernel struct {
	uffd, pagemap int
}

// From linux/userfaultfd.h and linux/fs.h.
const (
	uffdAPI            = 0xaa
	uffdUserModeOnly   = 1
	featureUnpopulated = 1 << 13 // UFFD_FEATURE_WP_UNPOPULATED
	featureAsync       = 1 << 15 // UFFD_FEATURE_WP_ASYNC
	registerWP         = 1 << 1
	writeProtect       = 1 << 0

	ioAPI          = 0xc018aa3f
	ioRegister     = 0xc020aa00
	ioUnregister   = 0x8010aa01
	ioWriteProtect = 0xc018aa06
	ioPagemapScan  = 0xc0606610

	scanCheckAsync = 1 << 1 // PM_SCAN_CHECK_WPASYNC
	pageIsWritten  = 1 << 1
)

type uffdioAPI struct{ api, features, ioctls uint64 }

type uffdioRegister struct{ start, len, mode, ioctls uint64 }

type uffdioRange struct{ start, len uint64 }

type uffdioWriteProtect struct{ start, len, mode uint64 }

type scanArg struct {
	size, flags, start, end, walkEnd, vec, vecLen, maxPages uint64
	inverted, mask, anyOf, returned                         uint64
}

type scanned struct{ start, end, _ uint64 }

// theKernel is nil where pages cannot be watched.
var theKernel = sync.OnceValue(func() *kernel {
	k, err := openKernel()
	if err != nil {
		return nil
	}
	if err := k.try(); err != nil {
		_ = unix.Close(k.uffd)
		_ = unix.Close(k.pagemap)
		return nil
	}
	return k
})

// ahead is what a process has opened or been given before it lost the right to open it; 0 is nothing.
var ahead struct{ uffd, pagemap int }

// Prepare opens what a process may not open any more once it is confined.
func Prepare() {
	if fd, err := openFaults(); err == nil {
		ahead.uffd = fd
	}
}

// UsePagemap gives the process the file /proc/self/pagemap, which it cannot open. It takes the descriptor. It is to be called before New.
func UsePagemap(fd int) { ahead.pagemap = fd }

// Operations are those of ioctl that are needed after Prepare.
var Operations = []uint32{ioRegister, ioUnregister, ioWriteProtect, ioPagemapScan}

func openFaults() (int, error) {
	// Faults of system calls are resolved like others in the asynchronous mode; user mode only is what needs no privilege.
	fd, _, errno := unix.Syscall(unix.SYS_USERFAULTFD, unix.O_CLOEXEC|unix.O_NONBLOCK|uffdUserModeOnly, 0, 0)
	if errno != 0 {
		return -1, errno
	}
	api := uffdioAPI{api: uffdAPI, features: featureAsync | featureUnpopulated}
	if err := ioctl(int(fd), ioAPI, unsafe.Pointer(&api)); err != nil {
		_ = unix.Close(int(fd))
		return -1, err
	}
	return int(fd), nil
}

func openKernel() (*kernel, error) {
	if os.Getpagesize() != pageSize {
		return nil, errors.ErrUnsupported
	}
	k := &kernel{ahead.uffd, ahead.pagemap}
	if k.uffd == 0 {
		fd, err := openFaults()
		if err != nil {
			return nil, err
		}
		k.uffd = fd
	}
	if k.pagemap == 0 {
		fd, err := unix.Open("/proc/self/pagemap", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			_ = unix.Close(k.uffd)
			return nil, err
		}
		k.pagemap = fd
	}
	return k, nil
}

// try sees whether the kernel does what it says, writes of system calls included.
func (k *kernel) try() error {
	mem, err := unix.Mmap(-1, 0, 3*pageSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return err
	}
	defer unix.Munmap(mem)
	base := uint64(uintptr(unsafe.Pointer(&mem[0])))
	end := base + uint64(len(mem))
	mem[0] = 1
	if err := k.register(base, end); err != nil {
		return err
	}
	if err := k.protect(base, end); err != nil {
		return err
	}
	if n, ok := k.count(base, end); !ok || n != 0 {
		return errors.ErrUnsupported
	}
	mem[0] = 2
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
		return err
	}
	defer unix.Close(pipe[0])
	defer unix.Close(pipe[1])
	if _, err := unix.Write(pipe[1], []byte{1}); err != nil {
		return err
	}
	if _, err := unix.Read(pipe[0], mem[2*pageSize:][:1]); err != nil {
		return err
	}
	if n, ok := k.count(base, end); !ok || n != 2*pageSize {
		return errors.ErrUnsupported
	}
	return nil
}

func (k *kernel) count(base, end uint64) (n uint64, ok bool) {
	ok = k.written(base, end, func(from, to uint64) bool { n += to - from; return true })
	return n, ok
}

// register has the pages [base, end) watched, all of them open.
func (k *kernel) register(base, end uint64) error {
	r := uffdioRegister{start: base, len: end - base, mode: registerWP}
	return ioctl(k.uffd, ioRegister, unsafe.Pointer(&r))
}

func (k *kernel) unregister(base, end uint64) {
	r := uffdioRange{base, end - base}
	_ = ioctl(k.uffd, ioUnregister, unsafe.Pointer(&r)) // what is not there needs none
}

func (k *kernel) protect(base, end uint64) error {
	r := uffdioWriteProtect{base, end - base, writeProtect}
	for {
		if err := ioctl(k.uffd, ioWriteProtect, unsafe.Pointer(&r)); err != unix.EAGAIN {
			return err
		}
	}
}

// scan is one question to the page map. It is not on a stack, which could move while the kernel has its address.
type scan struct {
	arg   scanArg
	found [64]scanned
}

var scans = sync.Pool{New: func() any { return new(scan) }}

// written calls f for every run of open pages. False: f says so, or some pages are not watched any more.
func (k *kernel) written(base, end uint64, f func(from, to uint64) bool) bool {
	q := scans.Get().(*scan)
	defer scans.Put(q)
	q.arg = scanArg{
		size: uint64(unsafe.Sizeof(scanArg{})), flags: scanCheckAsync, start: base, end: end,
		vec: uint64(uintptr(unsafe.Pointer(&q.found))), vecLen: uint64(len(q.found)),
		mask: pageIsWritten, returned: pageIsWritten, // nothing else: it is what the kernel is fast at
	}
	for q.arg.start < end {
		n, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(k.pagemap), ioPagemapScan, uintptr(unsafe.Pointer(&q.arg)))
		if errno == unix.EINTR {
			continue
		}
		if errno != 0 || q.arg.walkEnd <= q.arg.start {
			return false
		}
		for _, r := range q.found[:n] {
			if !f(r.start, r.end) {
				return false
			}
		}
		q.arg.start = q.arg.walkEnd
	}
	return true
}

func ioctl(fd int, op uintptr, arg unsafe.Pointer) error {
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), op, uintptr(arg)); errno != 0 {
		return errno
	}
	return nil
}
