package slowlink

import (
	"net/netip"
	"os"

	"golang.org/x/sys/unix"
)

// openTUN makes a TUN device in the thread's network namespace, a line from one address to another, and tells its name. EEXIST if the address is in use.
func openTUN(from, to netip.Addr) (file *os.File, name string, err error) {
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, "", os.NewSyscallError("open /dev/net/tun", err)
	}
	if name, err = setUp(fd, from, to); err != nil {
		_ = unix.Close(fd)
		return nil, "", err
	}
	return os.NewFile(uintptr(fd), "tun"), name, nil
}

func setUp(fd int, from, to netip.Addr) (name string, err error) {
	ifr, err := unix.NewIfreq("rw%d")
	if err != nil {
		return "", err
	}
	ifr.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
	if err := unix.IoctlIfreq(fd, unix.TUNSETIFF, ifr); err != nil {
		return "", os.NewSyscallError("TUNSETIFF", err)
	}
	name = ifr.Name()
	s, err := control()
	if err != nil {
		return "", err
	}
	defer unix.Close(s)
	if err := set(s, name, unix.SIOCSIFADDR, from); err != nil {
		return "", err
	}
	if err := set(s, name, unix.SIOCSIFDSTADDR, to); err != nil {
		return "", err
	}
	return name, flags(s, name, unix.IFF_UP|unix.IFF_RUNNING|unix.IFF_POINTOPOINT)
}

// control is a socket for settings of devices in the thread's network namespace.
func control() (int, error) {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	return s, os.NewSyscallError("socket", err)
}

func flags(s int, name string, f uint16) error {
	ifr, err := unix.NewIfreq(name)
	if err != nil {
		return err
	}
	ifr.SetUint16(f)
	return os.NewSyscallError("SIOCSIFFLAGS", unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, ifr))
}

func set(s int, name string, request uint, a netip.Addr) error {
	ifr, err := unix.NewIfreq(name)
	if err != nil {
		return err
	}
	ip := a.As4()
	if err := ifr.SetInet4Addr(ip[:]); err != nil {
		return err
	}
	return os.NewSyscallError("address of a TUN device", unix.IoctlIfreq(s, request, ifr))
}
