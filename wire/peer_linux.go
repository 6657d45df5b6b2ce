package wire

import (
	"net"
	"unsafe"

	"golang.org/x/sys/unix"
)

// maxGroups is how many supplementary groups Linux lets a process have.
const maxGroups = 65536

// credentials asks the kernel, nil if conn is no Unix socket.
func credentials(conn net.Conn) *Credentials {
	u, ok := conn.(*net.UnixConn)
	if !ok {
		return nil
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return nil
	}
	var c *Credentials
	err = raw.Control(func(fd uintptr) {
		cred, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
		if err != nil {
			return
		}
		c = &Credentials{PID: cred.Pid, UID: cred.Uid, GID: cred.Gid, Groups: peerGroups(int(fd))}
	})
	if err != nil {
		return nil
	}
	return c
}

// peerGroups are the supplementary groups, none where the kernel does not tell.
func peerGroups(fd int) []uint32 {
	for n := 64; n <= maxGroups; {
		groups := make([]uint32, n)
		size := uint32(n * 4)
		_, _, e := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.SOL_SOCKET, unix.SO_PEERGROUPS, uintptr(unsafe.Pointer(&groups[0])), uintptr(unsafe.Pointer(&size)), 0)
		switch e {
		case 0:
			return groups[:min(int(size/4), n)]
		case unix.ERANGE: // size says how much it takes
			n = max(int(size/4), 2*n)
		default:
			return nil
		}
	}
	return nil
}
