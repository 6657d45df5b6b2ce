package worker

import "golang.org/x/sys/unix"

// layOutFromBelow has the processes that this thread starts lay out their mappings upwards, by chance as ever, from a third of the address space, and not
// downwards from its end: clients of the earlier protocol choose addresses there, from 0x7F0000000000 on, and memory has to be at those. Where the system
// does not allow it, a range that is mostly free must do.
func layOutFromBelow() {
	const compatLayout = 0x0200000 // ADDR_COMPAT_LAYOUT
	_, _, _ = unix.Syscall(unix.SYS_PERSONALITY, compatLayout, 0, 0)
}
