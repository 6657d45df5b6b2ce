package wire

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// lossy is the congestion control for paths between machines. What a kernel has by default takes every lost packet for a full line: at 1 Gbit/s, 1 ms
// and 1 % loss reno and cubic send 3 MB/s where bbr sends 28.
const lossy = "bbr"

// chooseCongestion sets a TCP socket's congestion control by its path. An operator's own choice, anything but a kernel's usual default, stays,
// and so does the default where bbr is not there or this process may not choose it.
func chooseCongestion(fd int, loopback bool) {
	if loopback {
		// Within one machine there is no path to be fair on, and the pacing of other algorithms (bbr) only costs time.
		_ = unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, "reno")
		return
	}
	switch congestion(fd) {
	case "reno", "cubic":
		_ = unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, lossy)
	}
}

// congestion is what a socket has, "" if that is not known.
func congestion(fd int) string {
	name, err := unix.GetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION)
	if err != nil {
		return ""
	}
	return name
}

// ListenControl is for a net.ListenConfig: connections inherit what is set there, and a session process that takes one over may not have the
// right to choose.
func ListenControl(network, _ string, c syscall.RawConn) error {
	if network == "unix" {
		return nil
	}
	return c.Control(func(fd uintptr) { chooseCongestion(int(fd), false) })
}
