package rocm

/*
#include "share.h"
*/
import "C"

import (
	"errors"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/hip"
)

// Kinds of what is shared: nothing is taken for what it is not.
const (
	sharedAllocation uint32 = 0x100 + iota // not the simulator's
	sharedPool
)

// maxPoolFile bounds the description of a pool, which fills a page or two.
const maxPoolFile = 1 << 20

// Share sets who passes on descriptors between the processes of one machine. It
// is called before the Runtime is used; without it nothing is shared by
// descriptors.
func (r *Runtime) Share(b hip.Broker) { r.broker = b }

// MemExportToShareableHandle is hipMemExportToShareableHandle: the library's
// descriptor, under a token of the broker's, as long as there is the memory.
func (r *Runtime) MemExportToShareableHandle(t hip.Thread, h hip.GenericAllocation, handleType hip.MemAllocationHandleType, flags uint64) (hip.IpcMemHandle, hip.Error) {
	if r.broker == nil {
		return hip.IpcMemHandle{}, hip.ErrorNotSupported
	}
	if handleType != hip.MemHandleTypePosixFileDescriptor { // of another kind the answer would be no descriptor
		return hip.IpcMemHandle{}, hip.ErrorInvalidValue
	}
	r.allocs.mu.Lock()
	defer r.allocs.mu.Unlock()
	a := r.allocs.all[h]
	if a == nil {
		return hip.IpcMemHandle{}, hip.ErrorInvalidValue
	}
	if a.token != nil && flags == 0 {
		return *a.token, hip.Success
	}
	fd := C.int(-1)
	if err := hip.Error(C.rocm_export(r.table, C.int32_t(t.Device), C.uint64_t(h), C.int32_t(handleType), C.uint64_t(flags), &fd)); err != hip.Success {
		return hip.IpcMemHandle{}, err
	}
	defer func() { _ = unix.Close(int(fd)) }() // each call makes one, and the broker has its own
	token, err := r.publish(int(fd), sharedAllocation)
	if err == hip.Success {
		a.token = &token
	}
	return token, err
}

// publish gives a descriptor to the broker.
func (r *Runtime) publish(fd int, kind uint32) (token hip.IpcMemHandle, err hip.Error) {
	size, e := unix.Seek(fd, 0, unix.SEEK_END) // of a dma-buf, too
	if e != nil || size <= 0 {
		return token, hip.ErrorInvalidValue
	}
	t, err := r.broker.Publish(hip.Shared{FD: fd, Size: uint64(size), Kind: kind})
	copy(token.Reserved[:], t[:])
	return token, err
}

// fetch is the descriptor under a token, which becomes the caller's.
func (r *Runtime) fetch(token *hip.IpcMemHandle, kind uint32) (int, hip.Error) {
	if r.broker == nil {
		return -1, hip.ErrorNotSupported
	}
	if token == nil {
		return -1, hip.ErrorInvalidValue
	}
	s, err := r.broker.Fetch(hip.ShareToken(token.Reserved[:32]))
	if err != hip.Success {
		return -1, err
	}
	if s.Kind != kind {
		_ = unix.Close(s.FD)
		return -1, hip.ErrorInvalidValue
	}
	return s.FD, hip.Success
}

// MemImportFromShareableHandle is hipMemImportFromShareableHandle of what was
// exported under a token.
func (r *Runtime) MemImportFromShareableHandle(t hip.Thread, token *hip.IpcMemHandle, handleType hip.MemAllocationHandleType) (h hip.GenericAllocation, err hip.Error) {
	if handleType != hip.MemHandleTypePosixFileDescriptor {
		return 0, hip.ErrorInvalidValue
	}
	fd, err := r.fetch(token, sharedAllocation)
	if err != hip.Success {
		return 0, err
	}
	defer func() { _ = unix.Close(fd) }()
	err = hip.Error(C.rocm_import(r.table, C.int32_t(t.Device), C.int(fd), C.int32_t(handleType), (*C.uint64_t)(&h)))
	if err == hip.Success {
		r.imported(h, t.Device, fd)
	}
	return h, err
}

// sharedPools are the pools that were exported, once each: what the library says of one does not change.
type sharedPools struct {
	mu       sync.Mutex
	exported map[hip.MemPool]hip.IpcMemHandle
}

// MemPoolExportToShareableHandle is hipMemPoolExportToShareableHandle.
func (r *Runtime) MemPoolExportToShareableHandle(t hip.Thread, pool hip.MemPool, handleType hip.MemAllocationHandleType, flags uint32) (hip.IpcMemHandle, hip.Error) {
	if r.broker == nil {
		return hip.IpcMemHandle{}, hip.ErrorNotSupported
	}
	if handleType != hip.MemHandleTypePosixFileDescriptor {
		return hip.IpcMemHandle{}, hip.ErrorInvalidValue
	}
	r.pools.mu.Lock()
	defer r.pools.mu.Unlock()
	if token, ok := r.pools.exported[pool]; ok && flags == 0 {
		return token, hip.Success
	}
	fd := C.int(-1)
	if err := hip.Error(C.rocm_pool_export(r.table, C.int32_t(t.Device), C.uint64_t(pool), C.int32_t(handleType), C.uint32_t(flags), &fd)); err != hip.Success {
		return hip.IpcMemHandle{}, err
	}
	own, e := sealed(int(fd)) // the library's stays open: it gives the same again
	if e != nil {
		return hip.IpcMemHandle{}, hip.ErrorOutOfMemory
	}
	defer func() { _ = unix.Close(own) }()
	token, err := r.publish(own, sharedPool)
	if err == hip.Success {
		r.pools.exported[pool] = token
	}
	return token, err
}

// MemPoolDestroy is hipMemPoolDestroy. What was exported is withdrawn.
func (r *Runtime) MemPoolDestroy(t hip.Thread, pool hip.MemPool) hip.Error {
	x := &r.pools
	x.mu.Lock()
	token, exported := x.exported[pool]
	x.mu.Unlock()
	err := without(&x.mu, &x.exported, pool, func() hip.Error {
		return without(&r.events.mu, &r.events.set, pool, func() hip.Error {
			ended := r.held.end(func(p hip.MemPool, _ int32) bool { return p == pool })
			err := r.memPoolDestroy(t, pool)
			if err != hip.Success {
				r.held.restore(ended)
			}
			return err
		})
	})
	if exported && err == hip.Success {
		r.broker.Withdraw(hip.ShareToken(token.Reserved[:32]))
	}
	return err
}

// sealed is a copy of a file that cannot shrink under who has it mapped. What
// describes a pool is written when it is exported, and not again.
func sealed(fd int) (int, error) {
	size, err := unix.Seek(fd, 0, unix.SEEK_END)
	if err != nil {
		return -1, err
	}
	if size <= 0 || size > maxPoolFile {
		return -1, errors.New("rocm: the description of a pool has no size that makes sense")
	}
	b := make([]byte, size)
	if n, err := unix.Pread(fd, b, 0); err != nil || n != len(b) {
		return -1, errors.Join(err, errors.New("rocm: the description of a pool is short"))
	}
	own, err := unix.MemfdCreate("hip-pool", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return -1, err
	}
	if _, err = unix.Pwrite(own, b, 0); err == nil {
		_, err = unix.FcntlInt(uintptr(own), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW)
	}
	if err != nil {
		_ = unix.Close(own)
		return -1, err
	}
	return own, nil
}

// MemPoolImportFromShareableHandle is hipMemPoolImportFromShareableHandle of what
// was exported under a token.
func (r *Runtime) MemPoolImportFromShareableHandle(t hip.Thread, token *hip.IpcMemHandle, handleType hip.MemAllocationHandleType, flags uint32) (pool hip.MemPool, err hip.Error) {
	if handleType != hip.MemHandleTypePosixFileDescriptor || flags != 0 {
		return 0, hip.ErrorInvalidValue
	}
	fd, err := r.fetch(token, sharedPool)
	if err != hip.Success {
		return 0, err
	}
	defer func() { _ = unix.Close(fd) }()
	err = hip.Error(C.rocm_pool_import(r.table, C.int32_t(t.Device), C.int(fd), C.int32_t(handleType), C.uint32_t(flags), (*C.uint64_t)(&pool)))
	if err == hip.Success {
		r.held.add(pool, t.Device)
	}
	return pool, err
}
