package slowlink

import (
	"net/netip"
	"os"

	"golang.org/x/sys/unix"
)

// openTUN makes a TUN device in the thread's network namespace, a line from one address to another. EEXIST if the address is in use.
func openTUN(from, to netip.Addr) (*os.File, error) {
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, os.NewSyscallError("open /dev/net/tun", err)
	}
	if err := setUp(fd, from, to); err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), "tun"), nil
}

func setUp(fd int, from, to netip.Addr) error {
	ifr, err := unix.NewIfreq("rw%d")
	if err != nil {
		return err
	}
	ifr.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
	if err := unix.IoctlIfreq(fd, unix.TUNSETIFF, ifr); err != nil {
		return os.NewSyscallError("TUNSETIFF", err)
	}
	name := ifr.Name()
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	defer unix.Close(s)
	if a, err := unix.NewIfreq(name); err != nil {
		return err
	} else if err := set(s, a, unix.SIOCSIFADDR, from); err != nil {
		return err
	} else if err := set(s, a, unix.SIOCSIFDSTADDR, to); err != nil {
		return err
	}
	up, err := unix.NewIfreq(name)
	if err != nil {
		return err
	}
	up.SetUint16(unix.IFF_UP | unix.IFF_RUNNING | unix.IFF_POINTOPOINT)
	return os.NewSyscallError("SIOCSIFFLAGS", unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, up))
}

func set(s int, ifr *unix.Ifreq, request uint, a netip.Addr) error {
	ip := a.As4()
	if err := ifr.SetInet4Addr(ip[:]); err != nil {
		return err
	}
	return os.NewSyscallError("address of a TUN device", unix.IoctlIfreq(s, request, ifr))
}
