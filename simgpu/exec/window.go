package exec

import "math/bits"

// Window is memory of this process outside the device's range that kernels may
// use nevertheless: what a program registered (hipHostRegister), or mapped for
// this device alone (hipMemSetAccess).
type Window struct {
	Base, Size uint64
	ReadOnly   bool // stores and atomics fault
}

// windows are all of a Memory's.
type windows struct {
	list     []Window
	readOnly bool // one of them is
}

// SetWindows makes these all the windows there are. A kernel that runs takes
// note at its next access outside the range.
func (m *Memory) SetWindows(list []Window) {
	if len(list) == 0 {
		m.windows.Store(nil)
		return
	}
	ws := &windows{list: append([]Window(nil), list...)}
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
	for _, w := range ws.list {
		if off := addr - w.Base; n <= w.Size && off <= w.Size-n {
			return w.ReadOnly
		}
	}
	return false
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
	if ws == nil {
		return false
	}
	for _, w := range ws.list {
		if off := addr - w.Base; n <= w.Size && off <= w.Size-n {
			return true
		}
	}
	return false
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
