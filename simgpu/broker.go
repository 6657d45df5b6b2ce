package simgpu

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu/vmem"
)

// ownBroker is the Broker of runtimes that have no worker: a token says which process has a descriptor and which one it is, and who may look at that process
// (as a debugger may: the same user) opens the file there. Nothing is shared with another container or user.
type ownBroker struct {
	mu sync.Mutex
	m  map[hip.ShareToken]hip.Shared
}

var own ownBroker

// sharedAt is what a token says. Whoever has one may have made it up, who could open the file without it as well; a token that was damaged is none.
type sharedAt struct {
	pid, fd    uint32
	inode      uint64
	card, kind uint16
	// 12 bytes of the digest of these follow
}

func (a sharedAt) token() (t hip.ShareToken) {
	binary.LittleEndian.PutUint32(t[:], a.pid)
	binary.LittleEndian.PutUint32(t[4:], a.fd)
	binary.LittleEndian.PutUint64(t[8:], a.inode)
	binary.LittleEndian.PutUint16(t[16:], a.card)
	binary.LittleEndian.PutUint16(t[18:], a.kind)
	sum := sha256.Sum256(t[:20])
	copy(t[20:], sum[:])
	return t
}

// sharedAtOf is what a token says; false if token has not made it.
func sharedAtOf(t hip.ShareToken) (a sharedAt, ok bool) {
	a = sharedAt{
		pid: binary.LittleEndian.Uint32(t[:]), fd: binary.LittleEndian.Uint32(t[4:]), inode: binary.LittleEndian.Uint64(t[8:]),
		card: binary.LittleEndian.Uint16(t[16:]), kind: binary.LittleEndian.Uint16(t[18:]),
	}
	return a, a.token() == t
}

// Publish implements hip.Broker.
func (b *ownBroker) Publish(s hip.Shared) (t hip.ShareToken, e hip.Error) {
	var st unix.Stat_t
	fd, e := duplicate(s.FD)
	if e != hip.Success || unix.Fstat(fd, &st) != nil {
		return t, hip.ErrorOutOfMemory
	}
	s.FD = fd
	t = sharedAt{pid: uint32(os.Getpid()), fd: uint32(fd), inode: st.Ino, card: uint16(s.Card), kind: uint16(s.Kind)}.token()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.m == nil {
		b.m = map[hip.ShareToken]hip.Shared{}
	}
	b.m[t] = s
	return t, hip.Success
}

// Fetch implements hip.Broker.
func (b *ownBroker) Fetch(t hip.ShareToken) (hip.Shared, hip.Error) {
	a, ok := sharedAtOf(t)
	if !ok {
		return hip.Shared{}, hip.ErrorInvalidValue
	}
	if a.pid != uint32(os.Getpid()) {
		return a.fetch()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	s, ok := b.m[t]
	if !ok {
		return hip.Shared{}, hip.ErrorInvalidValue
	}
	var e hip.Error
	s.FD, e = duplicate(s.FD)
	return s, e
}

// fetch opens the file in the process that has it. Only a memory file is ever opened: to open something else may do something.
func (a sharedAt) fetch() (hip.Shared, hip.Error) {
	path := fmt.Sprintf("/proc/%d/fd/%d", a.pid, a.fd)
	if name, err := os.Readlink(path); err != nil || !strings.HasPrefix(name, "/memfd:"+vmem.FileName) {
		return hip.Shared{}, hip.ErrorInvalidValue
	}
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return hip.Shared{}, hip.ErrorInvalidValue
	}
	var st unix.Stat_t
	size, ok := vmem.FileSize(fd)
	if !ok || unix.Fstat(fd, &st) != nil || st.Ino != a.inode {
		_ = unix.Close(fd)
		return hip.Shared{}, hip.ErrorInvalidValue
	}
	return hip.Shared{FD: fd, Size: size, Card: uint32(a.card), Kind: uint32(a.kind)}, hip.Success
}

// Withdraw implements hip.Broker.
func (b *ownBroker) Withdraw(t hip.ShareToken) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if s, ok := b.m[t]; ok {
		_ = unix.Close(s.FD)
		delete(b.m, t)
	}
}
