package worker

import (
	"sync"

	"github.com/rocwire/rocwire/hip"
)

// maxHandles bounds the objects of one kind that one session may hold.
const maxHandles = 1 << 20

// handleTable holds the handles that the runtime gave to this session. A real runtime's handles are addresses: a number from the network
// must be one of these before it comes near it.
type handleTable struct {
	own  bool // the runtime checks handles itself, and says better what is wrong
	mu   sync.RWMutex
	have [hip.HandleKinds]map[uint64]holding
	made [hip.HandleKinds]uint64 // ever
}

// holding is what is known of one handle.
type holding struct {
	device int32
	owners int32    // of a counted kind
	parts  []object // end with it
}

// object is a handle with its kind.
type object struct {
	kind   hip.HandleKind
	handle uint64
}

// add notes a handle that the runtime has made for a device.
func (t *handleTable) add(k hip.HandleKind, h uint64, device int32) {
	t.mu.Lock()
	t.insert(k, h, device)
	t.mu.Unlock()
}

func (t *handleTable) insert(k hip.HandleKind, h uint64, device int32) {
	if t.have[k] == nil {
		t.have[k] = map[uint64]holding{}
	}
	was := t.have[k][h]
	t.have[k][h] = holding{device: device, owners: was.owners + 1, parts: was.parts}
	t.made[k]++
}

// addOf notes a handle that is part of another object, and of its device.
func (t *handleTable) addOf(k hip.HandleKind, h uint64, of hip.HandleKind, owner uint64, device int32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	o, ok := t.have[of][owner]
	if ok {
		device = o.device
		if _, twice := t.have[k][h]; !twice {
			o.parts = append(o.parts, object{k, h})
			t.have[of][owner] = o
		}
	}
	t.insert(k, h, device)
}

// remove forgets a handle that the runtime has destroyed, and with it its parts. One that is counted goes with its last owner.
func (t *handleTable) remove(k hip.HandleKind, h uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	x, ok := t.have[k][h]
	if !ok {
		return
	}
	if k.Counted() && x.owners > 1 {
		x.owners--
		t.have[k][h] = x
		return
	}
	for _, p := range x.parts {
		delete(t.have[p.kind], p.handle)
	}
	delete(t.have[k], h)
}

// check answers Success if h is a handle of this kind. The null stream is every device's own and needs none.
func (t *handleTable) check(k hip.HandleKind, h uint64) hip.Error {
	if t.own || k == hip.HandleStream && h <= uint64(hip.StreamLegacy) {
		return hip.Success
	}
	t.mu.RLock()
	_, ok := t.have[k][h]
	t.mu.RUnlock()
	if !ok {
		return k.Wrong()
	}
	return hip.Success
}

// ever says whether the session has ever had an object of a kind: a destroyed stream may still have work.
func (t *handleTable) ever(k hip.HandleKind) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.made[k] != 0
}

// full says that the session holds as many objects of a kind as it may.
func (t *handleTable) full(k hip.HandleKind) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.have[k]) >= maxHandles
}

// device is the one that a handle belongs to, fallback if it is none.
func (t *handleTable) device(k hip.HandleKind, h uint64, fallback int32) int32 {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if x, ok := t.have[k][h]; ok {
		return x.device
	}
	return fallback
}

// clear forgets the handles of a device that was reset.
func (t *handleTable) clear(device int32) {
	t.mu.Lock()
	for k, have := range t.have {
		if hip.HandleKind(k).SurvivesReset() {
			continue
		}
		for h, x := range have {
			if x.device == device {
				delete(have, h)
			}
		}
	}
	t.mu.Unlock()
}
