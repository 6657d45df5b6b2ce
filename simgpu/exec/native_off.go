//go:build !goexperiment.simd || !amd64

package exec

// Without the vector tiers nothing is translated.

type nativeEntry struct{}

type nativeCode struct{}

func (*Program) warm(*block) {}

func (*nativeEntry) suits(*wave) bool { return false }

func (w *wave) native(*nativeEntry) *block { return nil }

type region struct{}

func (w *wave) again() any { return nil }
