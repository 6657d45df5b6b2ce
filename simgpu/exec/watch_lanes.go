package exec

import (
	"math/bits"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Moves between lanes and scalar registers.

// undefinedLanes binds those instructions; nil for others.
func undefinedLanes(b *binder, in *gcn.Inst) before {
	switch in.Op.String() {
	case "v_readfirstlane_b32", "v_readlane_b32":
		s, err := b.dest(&in.Src[0])
		if err != nil {
			return nil
		}
		first := in.Src[1].Kind == gcn.None
		lane, _ := scalar(&in.Src[1])
		return func(w *wave) {
			x := w.watched
			l := int(lane.get(w)) & 63
			if first {
				l = bits.TrailingZeros64(w.exec) & 63
			}
			w.exchange()
			u := uint64(s.get(w)[l])
			w.exchange()
			if !first && x.scalarBits(&in.Src[1]) != 0 {
				u = all
			}
			x.setScalar(in.Dst.Index, 1, u)
		}
	case "v_writelane_b32":
		d, err := b.dest(&in.Dst)
		if err != nil {
			return nil
		}
		lane, _ := scalar(&in.Src[1])
		return func(w *wave) {
			x := w.watched
			w.exchange()
			d.get(w)[lane.get(w)&63] = uint32(x.scalarBits(&in.Src[0]))
			w.exchange()
		}
	case "v_permlane16_swap_b32", "v_permlane32_swap_b32":
		p, err1 := b.dest(&in.Dst)
		q, err2 := b.dest(&in.Src[0])
		if err1 != nil || err2 != nil {
			return nil
		}
		return func(w *wave) {
			if w.exec != all { // it will not execute
				return
			}
			w.exchange()
			swapRows(p.get(w), q.get(w), swapped(in))
			w.exchange()
		}
	case "v_swap_b32":
		p, err1 := b.dest(&in.Dst)
		q, err2 := b.dest(&in.Src[0])
		if err1 != nil || err2 != nil {
			return nil
		}
		return func(w *wave) {
			w.exchange()
			r, s := p.get(w), q.get(w)
			w.exchange()
			for m := w.exec; m != 0; m &= m - 1 {
				i := bits.TrailingZeros64(m) & 63
				r[i], s[i] = s[i], r[i]
			}
		}
	}
	return nil
}
