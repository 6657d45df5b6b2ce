package exec

import "math/bits"

// Window is memory of this process outside the device's range that kernels may
// use nevertheless: what a program registered (hipHostRegister).
type Window struct{ Base, Size uint64 }

// SetWindows makes these all the windows there are. A kernel that runs takes
// note at its next access outside the range.
func (m *Memory) SetWindows(list []Window) {
	if len(list) == 0 {
		m.windows.Store(nil)
		return
	}
	list = append([]Window(nil), list...)
	m.windows.Store(&list)
}

// inWindow reports whether the n bytes at addr lie inside one window.
func (m *Memory) inWindow(addr, n uint64) bool {
	list := m.windows.Load()
	if list == nil {
		return false
	}
	for _, w := range *list {
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
