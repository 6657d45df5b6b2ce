package confine

import (
	"os"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/internal/pagewatch"
)

// Offsets in struct seccomp_data.
const (
	dataNr   = 0
	dataArch = 4
	dataArgs = 16 // six of 8 bytes, little-endian
)

const (
	x32 = 0x40000000 // the bit in the numbers of calls of another ABI of amd64

	retAllow = uint32(unix.SECCOMP_RET_ALLOW)
	retKill  = uint32(unix.SECCOMP_RET_KILL_PROCESS)
)

func retErrno(e unix.Errno) uint32 { return unix.SECCOMP_RET_ERRNO | uint32(e) }

// filter installs the filter for all threads; false if this kernel has none.
func filter(network, driver, scratch bool) (bool, error) {
	raw, err := bpf.Assemble(program32(network, driver, scratch, uint32(os.Getpid())))
	if err != nil {
		return false, err
	}
	list := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		list[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	prog := unix.SockFprog{Len: uint16(len(list)), Filter: &list[0]}
	n, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog)))
	switch {
	case e == unix.ENOSYS || e == unix.EINVAL:
		return false, nil
	case e != 0:
		return false, e
	case n != 0:
		return false, unix.ESRCH // a thread that cannot have it
	}
	return true, nil
}

// program32 is the filter.
func program32(network, driver, scratch bool, self uint32) []bpf.Instruction {
	p := []bpf.Instruction{
		bpf.LoadAbsolute{Off: dataArch, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: auditArch, SkipTrue: 1},
		bpf.RetConstant{Val: retKill}, // nobody gets there by mistake
		bpf.LoadAbsolute{Off: dataNr, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpLessThan, Val: x32, SkipTrue: 1},
		bpf.RetConstant{Val: retErrno(unix.ENOSYS)},
	}
	call := func(nr uint32, then ...bpf.Instruction) {
		p = append(append(p, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: nr, SkipTrue: uint8(len(then))}), then...)
	}
	allow := func(list []uint32) {
		for _, nr := range list {
			call(nr, bpf.RetConstant{Val: retAllow})
		}
	}
	// arg allows a call whose argument, all 64 bits of it, is one of these.
	arg := func(nr uint32, n int, values ...uint32) {
		then := []bpf.Instruction{
			bpf.LoadAbsolute{Off: uint32(dataArgs + 8*n + 4), Size: 4},
			bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: 0, SkipTrue: uint8(1 + 2*len(values))},
			bpf.LoadAbsolute{Off: uint32(dataArgs + 8*n), Size: 4},
		}
		for _, v := range values {
			then = append(then, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: v, SkipTrue: 1}, bpf.RetConstant{Val: retAllow})
		}
		call(nr, append(then, bpf.RetConstant{Val: retErrno(unix.EPERM)})...)
	}
	allow(always)
	if driver {
		allow(ofDriver)
	}
	if scratch {
		allow(ofScratch)
	}
	if network {
		allow(ofNetwork)
	}
	// Threads, but no processes. What clone3 asks for lies in memory, where a filter does not see it: the C library asks again by clone.
	call(unix.SYS_CLONE,
		bpf.LoadAbsolute{Off: dataArgs, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpBitsNotSet, Val: unix.CLONE_THREAD, SkipTrue: 2},
		bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: namespaces, SkipTrue: 1},
		bpf.RetConstant{Val: retAllow},
		bpf.RetConstant{Val: retErrno(unix.EPERM)})
	call(unix.SYS_CLONE3, bpf.RetConstant{Val: retErrno(unix.ENOSYS)})
	arg(unix.SYS_PRCTL, 0, unix.PR_SET_NAME, unix.PR_GET_NAME, unix.PR_SET_VMA)
	arg(unix.SYS_TGKILL, 0, self) // how Go interrupts its own threads, and abort ends the process
	arg(unix.SYS_PRLIMIT64, 0, 0)
	if !network && !driver {
		arg(unix.SYS_IOCTL, 1, pagewatch.Operations...) // which pages were written; of descriptors that it has from before
	}
	if !network {
		arg(unix.SYS_SOCKETPAIR, 0, unix.AF_UNIX)
	}
	return append(p, bpf.RetConstant{Val: retErrno(unix.EPERM)})
}

// namespaces are the flags of clone that make new ones.
const namespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET
