package confine

import "golang.org/x/sys/unix"

const auditArch = unix.AUDIT_ARCH_AARCH64

// ofMachine is what arm64 calls differently.
var ofMachine = []uint32{unix.SYS_FSTATAT}

var ofMachineDriver []uint32

var ofMachineScratch []uint32
