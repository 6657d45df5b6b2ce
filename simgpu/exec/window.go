package exec

import (
	"cmp"
	"math/bits"
	"slices"
)

// Window is memory of this process outside the device's range that kernels may
// use nevertheless: what a program registered (hipHostRegister), or mapped for
// this device alone (hipMemSetAccess).
type Window struct {
	Base, Size uint64
	ReadOnly   bool // stores and atomics fault
}

// windows are all of a Memory's, by address.
type windows struct {
	list     []Window
	readOnly bool // one of them is
}

// find is the window that the n bytes at addr lie inside of, nil for none.
func (ws *windows) find(addr, n uint64) *Window {
	lo, hi := 0, len(ws.list) // those before lo begin at or below addr, those from hi on above
	for lo < hi {
		if mid := int(uint(lo+hi) >> 1); ws.list[mid].Base <= addr {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == 0 {
		return nil
	}
	if w := &ws.list[lo-1]; n <= w.Size && addr-w.Base <= w.Size-n {
		return w
	}
	return nil
}

// SetWindows makes these, which do not overlap, all the windows there are. A kernel that runs takes
// note at its next access outside the range.
func (m *Memory) SetWindows(list []Window) {
	if len(list) == 0 {
		m.windows.Store(nil)
		return
	}
	ws := &windows{list: append([]Window(nil), list...)}
	slices.SortFunc(ws.list, func(a, b Window) int { return cmp.Compare(a.Base, b.Base) })
	for _, w := range list {
		ws.readOnly = ws.readOnly || w.ReadOnly
	}
	m.windows.Store(ws)
}

// inReadOnly reports whether the n bytes at addr lie inside a window that may
// not be written.
func (m *Memory) inReadOnly(addr, n uint64) bool {
	ws := m.windows.Load()
	if ws == nil || !ws.readOnly {
		return false
	}
	w := ws.find(addr, n)
	return w != nil && w.ReadOnly
}

// writable stops the wave if one of the lanes, whose addresses are in w.offs, is
// about to write where it may only read.
func (w *wave) writable(lanes, n uint64) {
	ws := w.mem.windows.Load()
	if ws == nil || !ws.readOnly {
		return
	}
	for m := lanes; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		if addr := w.mem.Base + w.offs[i]; w.mem.inReadOnly(addr, n) {
			panic(&Fault{Kind: MemoryFault, Addr: addr, Lane: i, Detail: "memory is read-only for this device"})
		}
	}
}

// inWindow reports whether the n bytes at addr lie inside one window.
func (m *Memory) inWindow(addr, n uint64) bool {
	ws := m.windows.Load()
	return ws != nil && ws.find(addr, n) != nil
}

// foreign takes lanes whose addresses, in w.offs, are not inside the device's
// range, and returns those that are in no window either.
func (w *wave) foreign(lanes, n uint64) uint64 {
	if lanes == 0 || w.mem.windows.Load() == nil {
		return lanes
	}
	for m := lanes; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		if w.mem.inWindow(w.mem.Base+w.offs[i], n) {
			lanes &^= 1 << i
		}
	}
	return lanes
}
