package hipabi

import (
	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/hip"
)

// shareMark begins such a file; the token follows.
const shareMark = "rocwire:share:1\n"

// descriptorOf is a new descriptor for a token.
func descriptorOf(token *hip.IpcMemHandle) (int32, hip.Error) {
	fd, err := unix.MemfdCreate("hip-shareable", unix.MFD_ALLOW_SEALING) // as AMD's it is inherited
	if err == nil {
		b := append([]byte(shareMark), token.Reserved[:]...)
		if _, err = unix.Pwrite(fd, b, 0); err == nil {
			_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_WRITE|unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL)
		}
		if err != nil {
			_ = unix.Close(fd)
		}
	}
	if err != nil {
		Log("a descriptor to share memory by: %v", err)
		return -1, hip.ErrorOutOfMemory
	}
	return int32(fd), hip.Success
}

// tokenOf is the token behind a descriptor, false if it is none of descriptorOf's.
func tokenOf(fd int32) (*hip.IpcMemHandle, bool) {
	var b [len(shareMark) + 64]byte
	if fd < 0 {
		return nil, false
	}
	if n, err := unix.Pread(int(fd), b[:], 0); err != nil || n != len(b) || string(b[:len(shareMark)]) != shareMark {
		return nil, false
	}
	return &hip.IpcMemHandle{Reserved: [64]byte(b[len(shareMark):])}, true
}
