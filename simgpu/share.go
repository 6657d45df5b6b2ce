package simgpu

import (
	"encoding/binary"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu/vmem"
)

// Kinds of what is shared: nothing is taken for what it is not.
const (
	sharedPhysical uint32 = iota + 1
	sharedMemory
	sharedEventPage
)

// ticket is what the 64 bytes of an IPC handle say. Whoever opens one may have
// made it up.
type ticket struct {
	token  hip.ShareToken
	offset uint64 // of the pointer in what is shared
	size   uint64 // bytes of it that the program asked for
}

func (t ticket) handle() (h hip.IpcMemHandle) {
	copy(h.Reserved[:32], t.token[:])
	binary.LittleEndian.PutUint64(h.Reserved[32:], t.offset)
	binary.LittleEndian.PutUint64(h.Reserved[40:], t.size)
	return h
}

func ticketOf(h *hip.IpcMemHandle) (t ticket) {
	copy(t.token[:], h.Reserved[:32])
	t.offset = binary.LittleEndian.Uint64(h.Reserved[32:])
	t.size = binary.LittleEndian.Uint64(h.Reserved[40:])
	return t
}

// fetch gets what was published, checked: a memory file of whole pages that
// cannot shrink. The device is the one whose memory it is, nil if it is none of
// this process's.
func (r *Runtime) fetch(token hip.ShareToken, kind uint32) (s hip.Shared, owner *device, e hip.Error) {
	if s, e = r.o.Broker.Fetch(token); e != hip.Success {
		return s, nil, e
	}
	if s.Kind != kind || s.Size == 0 || s.Size%vmem.PageSize != 0 || vmem.CheckFile(s.FD, s.Size) != nil {
		_ = unix.Close(s.FD)
		return hip.Shared{}, nil, hip.ErrorInvalidValue
	}
	for _, d := range r.devices {
		if uint32(d.card) == s.Card {
			owner = d
		}
	}
	return s, owner, hip.Success
}
