package exec

import "github.com/rocwire/rocwire/simgpu/gcn"

// Two operations in one instruction (VOPD of RDNA): both read their sources before either writes.

// together is first and second, of which the second one has the other's destination as it was before. That the
// first one is not disturbed by the second follows from their order.
func together(in *gcn.Inst, first, second func(*wave)) func(*wave) {
	d := in.Dst.Index
	if !readsVGPR(in.Dual, d) {
		return func(w *wave) { first(w); second(w) }
	}
	return func(w *wave) {
		old := w.V[d]
		if w.watched == nil || w.watched.v == nil {
			first(w)
			w.V[d], old = old, w.V[d]
			second(w)
			w.V[d] = old
			return
		}
		undef := w.watched.v[d] // which is as old
		first(w)
		w.V[d], old = old, w.V[d]
		w.watched.v[d], undef = undef, w.watched.v[d]
		second(w)
		w.V[d], w.watched.v[d] = old, undef
	}
}

// readsVGPR reports whether one of an operation's sources is a vector register.
func readsVGPR(in *gcn.Inst, reg uint16) bool {
	for i := range in.Src {
		if o := &in.Src[i]; o.Kind == gcn.VGPR && o.Index == reg {
			return true
		}
	}
	return false
}
