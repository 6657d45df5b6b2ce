package confine

import "golang.org/x/sys/unix"

// has reports whether the calling thread has all of these capabilities.
func has(list ...uint) bool {
	var data [2]unix.CapUserData
	if unix.Capget(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &data[0]) != nil {
		return false
	}
	for _, c := range list {
		if data[c/32].Effective&(1<<(c%32)) == 0 {
			return false
		}
	}
	return true
}

// dropBounding takes every capability out of the calling thread's bounding set, so that nothing that is executed from here on has any. What
// the thread has it keeps.
func dropBounding() error {
	for c := uintptr(0); ; c++ {
		switch err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err {
		case nil:
		case unix.EINVAL: // the kernel's last one was before
			return nil
		default:
			return err
		}
	}
}
