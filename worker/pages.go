package worker

import (
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"
)

// givePagemap gives a session process its own page map: behind its boundary it cannot open the file, and the map is what tells it which pages of host
// memory its kernels have written (internal/pagewatch). Without it, it compares all of it.
func (p *proc) givePagemap() {
	fd, err := openPagemap(p.pid())
	if err != nil {
		p.log.Debug("a session process has no page map", "pid", p.pid(), "error", err)
		return
	}
	defer unix.Close(fd)
	_ = p.ctl.orderFD([]byte{msgPages}, fd) // if it has died, others notice
}

// openPagemap opens the page map of another process. What the opener may see of it counts, so this is done without the right to see where in the machine's
// memory pages lie.
func openPagemap(pid int) (fd int, err error) {
	runtime.LockOSThread()
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var own, less [2]unix.CapUserData
	if err := unix.Capget(&head, &own[0]); err != nil {
		runtime.UnlockOSThread()
		return -1, err
	}
	less = own
	less[0].Effective &^= 1 << unix.CAP_SYS_ADMIN
	if err := unix.Capset(&head, &less[0]); err != nil {
		runtime.UnlockOSThread()
		return -1, err
	}
	fd, err = unix.Open(fmt.Sprintf("/proc/%d/pagemap", pid), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if unix.Capset(&head, &own[0]) == nil {
		runtime.UnlockOSThread()
	} // otherwise the thread ends with its goroutine
	return fd, err
}
