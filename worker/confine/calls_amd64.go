package confine

import "golang.org/x/sys/unix"

const auditArch = unix.AUDIT_ARCH_X86_64

// ofMachine are the older forms of calls that amd64 still has.
var ofMachine = []uint32{
	unix.SYS_POLL, unix.SYS_EPOLL_WAIT, unix.SYS_SELECT, unix.SYS_OPEN, unix.SYS_STAT, unix.SYS_LSTAT, unix.SYS_NEWFSTATAT, unix.SYS_ACCESS, unix.SYS_READLINK,
	unix.SYS_PIPE, unix.SYS_DUP2, unix.SYS_EVENTFD, unix.SYS_TIME, unix.SYS_GETRLIMIT, unix.SYS_EPOLL_CREATE,
}

var ofMachineDriver = []uint32{unix.SYS_GETDENTS, unix.SYS_ARCH_PRCTL}

var ofMachineScratch = []uint32{unix.SYS_MKDIR, unix.SYS_RMDIR, unix.SYS_UNLINK, unix.SYS_RENAME}
