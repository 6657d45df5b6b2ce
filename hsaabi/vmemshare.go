//go:build linux

package hsaabi

import (
	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/hip"
)

// inode tells files apart.
type inode struct{ dev, ino uint64 }

func inodeOf(fd int) (inode, bool) {
	var st unix.Stat_t
	if fd < 0 || unix.Fstat(fd, &st) != nil {
		return inode{}, false
	}
	return inode{uint64(st.Dev), st.Ino}, true
}

// hsaAMDVmemExportShareableHandle is memory as a descriptor, the caller's, which other processes import. A real card's is a DMA buffer; the
// simulated one's is a memory file.
func hsaAMDVmemExportShareableHandle(fd *int32, h, _ uint64) status {
	*fd = -1
	return withPhysical(h, func(l *library, p *physical) status {
		n, e := l.sim.FileOf(p.is)
		if e != hip.Success {
			return HSA_STATUS_ERROR_OUT_OF_RESOURCES
		}
		p.inode, _ = inodeOf(n)
		*fd = int32(n)
		return HSA_STATUS_SUCCESS
	})
}

// hsaAMDVmemImportShareableHandle is the memory that a descriptor is, which stays the caller's: this process's own under its own handle,
// another's as memory of the first card.
func hsaAMDVmemImportShareableHandle(fd int32, out *uint64) status {
	l := current.Load()
	file, ok := inodeOf(int(fd))
	if !ok || len(l.cards) == 0 {
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	}
	l.vmemMu.Lock()
	defer l.vmemMu.Unlock()
	for _, p := range l.physical {
		if p.inode == file {
			p.refs++
			*out = p.handle
			return HSA_STATUS_SUCCESS
		}
	}
	c := l.cards[0]
	g, size, e := l.sim.AdoptFile(c.index, int(fd))
	switch e {
	case hip.Success:
	case hip.ErrorInvalidValue:
		return HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS
	default:
		return statusOf(e)
	}
	*out = l.keepPhysical(&physical{is: g, pool: l.poolOf(c), size: size, pinned: true, inode: file})
	return HSA_STATUS_SUCCESS
}
