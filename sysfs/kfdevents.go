package sysfs

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/smi"
)

// The compute driver hands out events as lines of text on a descriptor that an ioctl
// on /dev/kfd makes (AMDKFD_IOC_SMI_EVENTS of kfd_ioctl.h, since interface 1.3). What
// is written to the descriptor says which events are wanted.

// smiEventsArgs is struct kfd_ioctl_smi_events_args.
type smiEventsArgs struct {
	gpuID uint32 // in
	fd    uint32 // out
}

// iocSMIEvents is _IOWR('K', 0x1f, struct kfd_ioctl_smi_events_args).
const iocSMIEvents = 3<<30 | unsafe.Sizeof(smiEventsArgs{})<<16 | 'K'<<8 | 0x1f

// Numbers of enum kfd_smi_event.
const (
	kfdVMFault         = 1
	kfdThermalThrottle = 2
	kfdPreReset        = 3
	kfdPostReset       = 4
	kfdMigrateStart    = 5
	kfdMigrateEnd      = 6
	kfdPageFaultStart  = 7
	kfdPageFaultEnd    = 8
	kfdQueueEviction   = 9
	kfdQueueRestore    = 10
	kfdUnmap           = 11
	kfdProcessStart    = 12
	kfdProcessEnd      = 13

	kfdAllProcesses = 64 // a flag in the same mask: not only our own process's
)

// Masks of the events that are asked for. The driver refuses bits it does not know,
// so an older one is asked with fewer.
const (
	kfdMaskBase = 1<<(kfdUnmap) - 1 // all up to kfdUnmap
	kfdMaskAll  = 1<<(kfdProcessEnd) - 1
	kfdOthers   = 1 << (kfdAllProcesses - 1)
)

// openKFDEvents opens the events of one GPU of the compute driver.
func (s *source) openKFDEvents(gpuID uint64) (io.ReadCloser, error) {
	path := s.tree.path("dev/kfd")
	kfd, err := retry(func() (int, error) { return s.tree.open(path, unix.O_RDWR|unix.O_CLOEXEC, 0) })
	if err != nil {
		return nil, fileError("opening", path, err)
	}
	defer unix.Close(kfd)
	args := smiEventsArgs{gpuID: uint32(gpuID)}
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(kfd), uintptr(iocSMIEvents), uintptr(unsafe.Pointer(&args))); errno != 0 {
		return nil, fileError("asking for events at", path, errno)
	}
	fd := int(args.fd)
	unix.CloseOnExec(fd)
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		return nil, fileError("reading events of", path, err)
	}
	f := os.NewFile(uintptr(fd), "kfd events")
	var last error
	for _, mask := range []uint64{kfdMaskAll | kfdOthers, kfdMaskBase | kfdOthers, kfdMaskAll, kfdMaskBase} {
		if _, last = f.Write(binary.LittleEndian.AppendUint64(nil, mask)); last == nil {
			return f, nil
		}
	}
	f.Close()
	return nil, fileError("choosing events at", path, errors.Unwrap(last))
}

// maxEventLine is the longest line; the driver's are at most KFD_SMI_EVENT_MSG_SIZE,
// 96 bytes, which the name of a program can be longer than in none.
const maxEventLine = 4096

// readKFDEvents hands on the events of one stream until it ends.
func readKFDEvents(r io.Reader, device int, each func(smi.Event)) error {
	sc := bufio.NewScanner(r)
	sc.Buffer(make([]byte, 0, 512), maxEventLine)
	for sc.Scan() {
		if e, ok := parseKFDEvent(sc.Text()); ok {
			e.Device = device
			each(e)
		}
	}
	return sc.Err()
}
