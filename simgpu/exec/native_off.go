//go:build !(linux && amd64)

package exec

// Nothing is translated to machine code of other processors.

type nativeEntry struct{}

type nativeCode struct{}

func (*Program) warm(*block, *wave) bool { return false }

func (*Program) refit(*block, *wave, *nativeEntry) bool { return false }

func (*Program) forget(*block) {}

func (*Program) reclaim() {}

func (*nativeEntry) suits(*wave) bool { return false }

func (*nativeEntry) fits(*wave) bool { return false }

func (*block) chainRegion() *region { return nil }

func (w *wave) native(*nativeEntry) *block { return nil }

func (w *wave) nativeLeft() *block { return nil }

func (*workgroup) form() {}

func (*workgroup) accessing(w *wave) *wave { return w }

func (*workgroup) part(w *wave, _ uintptr) *wave { return w }

type region struct{}

func (w *wave) again() any { return nil }
