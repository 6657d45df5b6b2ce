package worker

import (
	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/wire"
	"github.com/rocwire/rocwire/worker/hostmem"
)

// contents are modules by what they are, which the parent keeps.
type contents interface {
	// Find is a file with the module, which cannot change; -1 if there is none. The descriptor is the caller's.
	Find(sum [32]byte, size uint64) int
	// Keep offers a file. The descriptor stays the caller's.
	Keep(fd int)
}

// Find implements contents.
func (b *broker) Find(sum [32]byte, size uint64) int {
	a, code := b.share(shareRequest{Kind: shareFind, Token: sum, Shared: hip.Shared{FD: -1, Size: size}}, -1)
	if code != hip.Success {
		return -1
	}
	return a.Shared.FD
}

// Keep implements contents.
func (b *broker) Keep(fd int) {
	_ = b.ctl.send((&shareRequest{Kind: shareKeep}).encode(), fd) // or it is sent once more the next time
}

// doModuleLoadContent loads a code object that the parent has from an earlier load of the same user's.
func (s *session) doModuleLoadContent(r *wire.Request) {
	var q hiprpc.Content
	if s.contents == nil || !q.Decode(r.Fixed) || r.BulkLen != 0 {
		s.malformed(r)
		return
	}
	t := hip.Thread{Device: q.Device}
	if !s.checked(r, s.device(t.Device)) {
		return
	}
	kept := q.Size + hostmem.Module // the file itself is the parent's
	if !s.room(r, hip.HandleModule) || !s.takes(r, kept) {
		return
	}
	b := image{fd: s.contents.Find(q.Sum, q.Size)}
	if b.fd < 0 {
		s.mem.Give(kept)
		s.reply(r, hiprpc.ErrorNoContent, nil)
		return
	}
	defer b.free()
	var err error
	if b.bytes, err = unix.Mmap(b.fd, 0, int(q.Size), unix.PROT_READ, unix.MAP_PRIVATE); err != nil {
		s.mem.Give(kept)
		s.reply(r, hip.ErrorOutOfMemory, nil)
		return
	}
	b.mapped = true
	s.loadModule(r, t, b.bytes, kept)
}
