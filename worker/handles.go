package worker

import (
	"sync"

	"github.com/rocwire/rocwire/hip"
)

// handleKind is a kind of object that a client names by a number.
type handleKind uint8

const (
	kindStream handleKind = iota
	kindEvent
	kindModule
	kindFunction
	kindMemPool
	kinds
)

// maxHandles bounds the objects of one kind that one session may hold.
const maxHandles = 1 << 20

// wrongHandle is what HIP answers to a handle that is none.
var wrongHandle = [kinds]hip.Error{
	kindStream:   hip.ErrorContextIsDestroyed,
	kindEvent:    hip.ErrorInvalidHandle,
	kindModule:   hip.ErrorInvalidHandle,
	kindFunction: hip.ErrorInvalidHandle,
	kindMemPool:  hip.ErrorInvalidValue,
}

// handleTable holds the handles that the runtime gave to this session. A real runtime's handles are addresses: a number from the network
// must be one of these before it comes near it.
type handleTable struct {
	own  bool // the runtime checks handles itself, and says better what is wrong
	mu   sync.RWMutex
	have [kinds]map[uint64]int32 // with the device that each belongs to
	made [kinds]uint64           // ever
}

// add notes a handle that the runtime has made for a device.
func (t *handleTable) add(k handleKind, h uint64, device int32) {
	t.mu.Lock()
	if t.have[k] == nil {
		t.have[k] = map[uint64]int32{}
	}
	t.have[k][h] = device
	t.made[k]++
	t.mu.Unlock()
}

// remove forgets a handle that the runtime has destroyed.
func (t *handleTable) remove(k handleKind, h uint64) {
	t.mu.Lock()
	delete(t.have[k], h)
	t.mu.Unlock()
}

// check answers Success if h is a handle of this kind. The null stream is every device's own and needs none.
func (t *handleTable) check(k handleKind, h uint64) hip.Error {
	if t.own || k == kindStream && h <= uint64(hip.StreamLegacy) {
		return hip.Success
	}
	t.mu.RLock()
	_, ok := t.have[k][h]
	t.mu.RUnlock()
	if !ok {
		return wrongHandle[k]
	}
	return hip.Success
}

// ever says whether the session has ever had an object of a kind: a destroyed stream may still have work.
func (t *handleTable) ever(k handleKind) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.made[k] != 0
}

// full says that the session holds as many objects of a kind as it may.
func (t *handleTable) full(k handleKind) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.have[k]) >= maxHandles
}

// device is the one that a handle belongs to, fallback if it is none.
func (t *handleTable) device(k handleKind, h uint64, fallback int32) int32 {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if d, ok := t.have[k][h]; ok {
		return d
	}
	return fallback
}

// clear forgets the handles of a device that was reset, but for its memory pool, which it keeps.
func (t *handleTable) clear(device int32) {
	t.mu.Lock()
	for k, have := range t.have {
		if handleKind(k) == kindMemPool {
			continue
		}
		for h, d := range have {
			if d == device {
				delete(have, h)
			}
		}
	}
	t.mu.Unlock()
}
