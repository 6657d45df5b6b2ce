// Package handles keeps the handles that a runtime has given out, by the kinds of hip/api.json. Whoever passes handles on checks them
// here first: a client before it posts a call that cannot be answered, a worker before a number from the network comes near a runtime
// whose handles are addresses.
//
// All methods are safe for concurrent use. The number of handles is the caller's to bound, by Full.
package handles

import (
	"maps"
	"slices"
	"sync"

	"github.com/rocwire/rocwire/hip"
)

// Max bounds the objects of one kind that one session may hold.
const Max = 1 << 20

// Books account for what objects take.
type Books interface {
	Add(bytes uint64)
	Give(bytes uint64)
}

// Table holds handles. The zero value is empty.
type Table struct {
	// Books, if not nil, are told of every handle that comes or goes, at Cost bytes each and what AddSized says besides. Set before use.
	Books Books
	Cost  func(hip.HandleKind) uint64

	mu   sync.RWMutex
	have [hip.HandleKinds]map[uint64]Object
	made [hip.HandleKinds]uint64 // ever
}

// Object is what is known of one handle.
type Object struct {
	Device int32
	owners int32 // of a counted kind
	parts  []part
	size   uint64 // bytes that its owner has accounted for, and which go with it
}

// part is an object that ends with another one.
type part struct {
	kind   hip.HandleKind
	handle uint64
}

// Add notes a handle that the runtime has made for a device.
func (t *Table) Add(k hip.HandleKind, h uint64, device int32) {
	t.mu.Lock()
	t.insert(k, h, device)
	t.mu.Unlock()
}

// AddSized is Add for an object for which size bytes, beside its cost, are in the books already. They are given back with it.
func (t *Table) AddSized(k hip.HandleKind, h uint64, device int32, size uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.insert(k, h, device)
	x := t.have[k][h]
	x.size += size
	t.have[k][h] = x
}

// Grow says that size bytes more are in the books for an object. They are given back at once if it is gone.
func (t *Table) Grow(k hip.HandleKind, h uint64, size uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	x, ok := t.have[k][h]
	if ok {
		x.size += size
		t.have[k][h] = x
	} else if t.Books != nil {
		t.Books.Give(size)
	}
}

func (t *Table) insert(k hip.HandleKind, h uint64, device int32) {
	if t.have[k] == nil {
		t.have[k] = map[uint64]Object{}
	}
	was, known := t.have[k][h]
	t.have[k][h] = Object{Device: device, owners: was.owners + 1, parts: was.parts, size: was.size}
	t.made[k]++
	if t.Books != nil && !known {
		t.Books.Add(t.Cost(k))
	}
}

// remove forgets a handle.
func (t *Table) remove(k hip.HandleKind, h uint64) {
	x, ok := t.have[k][h]
	if !ok {
		return
	}
	delete(t.have[k], h)
	if t.Books != nil {
		t.Books.Give(t.Cost(k) + x.size)
	}
}

// AddOf notes a handle that is part of another object: it is on the same device, if that object is known, and ends with it.
func (t *Table) AddOf(k hip.HandleKind, h uint64, of hip.HandleKind, owner uint64, device int32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if o, ok := t.have[of][owner]; ok {
		device = o.Device
		if _, twice := t.have[k][h]; !twice {
			o.parts = append(o.parts, part{k, h})
			t.have[of][owner] = o
		}
	}
	t.insert(k, h, device)
}

// Check answers Success if h is a handle of this kind. The null stream is every device's own and needs none.
func (t *Table) Check(k hip.HandleKind, h uint64) hip.Error {
	if k == hip.HandleStream && h <= uint64(hip.StreamLegacy) {
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

// Take forgets a handle that is about to be destroyed, and its parts, so that nobody else can use it any more; false if it is none.
// Of a counted kind, one owner goes, and the handle with the last.
func (t *Table) Take(k hip.HandleKind, h uint64) (Object, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	x, ok := t.have[k][h]
	switch {
	case !ok:
	case k.Counted() && x.owners > 1:
		x.owners--
		t.have[k][h] = x
	default:
		for _, p := range x.parts {
			t.remove(p.kind, p.handle)
		}
		t.remove(k, h)
	}
	return x, ok
}

// Restore undoes a Take: the handle was not destroyed after all.
func (t *Table) Restore(k hip.HandleKind, h uint64, x Object) {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, there := t.have[k][h] // of a counted kind
	t.insert(k, h, x.Device)
	y := t.have[k][h]
	y.parts = x.parts
	if !there {
		y.size = x.size
		if t.Books != nil {
			t.Books.Add(x.size)
		}
	}
	t.have[k][h] = y
	for _, p := range x.parts {
		t.insert(p.kind, p.handle, x.Device)
	}
}

// Ever says whether there has ever been an object of a kind.
func (t *Table) Ever(k hip.HandleKind) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.made[k] != 0
}

// Lost says whether an object of a kind has ended.
func (t *Table) Lost(k hip.HandleKind) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.made[k] > uint64(len(t.have[k]))
}

// None says that there is no object of a kind.
func (t *Table) None(k hip.HandleKind) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.have[k]) == 0
}

// List is all handles of a kind, in no order.
func (t *Table) List(k hip.HandleKind) []uint64 {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return slices.Collect(maps.Keys(t.have[k]))
}

// Full says that there are as many objects of a kind as there may be.
func (t *Table) Full(k hip.HandleKind) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.have[k]) >= Max
}

// Device is the one that a handle belongs to, fallback if it is none.
func (t *Table) Device(k hip.HandleKind, h uint64, fallback int32) int32 {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if x, ok := t.have[k][h]; ok {
		return x.Device
	}
	return fallback
}

// Clear forgets what a reset of a device ends.
func (t *Table) Clear(device int32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for k, have := range t.have {
		if hip.HandleKind(k).SurvivesReset() {
			continue
		}
		for h, x := range have {
			if x.Device == device {
				t.remove(hip.HandleKind(k), h)
			}
		}
	}
}
