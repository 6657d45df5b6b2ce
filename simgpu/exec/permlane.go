package exec

import "github.com/rocwire/rocwire/simgpu/gcn"

// Moves between rows of 16 lanes, of RDNA.

// permlane16 is v_permlane16 and, from the other row of two, v_permlanex16: the two scalar sources are 16
// numbers of lanes in a row. op_sel says, bit 0, that lanes that are off are read as well and, bit 1, that
// what cannot be read is 0; else the destination stays.
func permlane16(other int) handler {
	return func(b *binder, in *gcn.Inst) (func(*wave), error) {
		d, err := b.dest(&in.Dst)
		if err != nil {
			return nil, err
		}
		s, err := b.dest(&in.Src[0])
		if err != nil {
			return nil, err
		}
		low, err := scalar(&in.Src[1])
		if err != nil {
			return nil, err
		}
		high, err := scalar(&in.Src[2])
		fetch, zero := in.OpSel&1 != 0, in.OpSel&2 != 0
		return func(w *wave) {
			from, v, out := uint64(low.get(w))|uint64(high.get(w))<<32, s.get(w), &w.out[0]
			written := w.exec
			for i := range out {
				j := (i&^15 ^ other) | int(from>>(4*(i&15))&15)
				switch {
				case fetch || w.exec>>j&1 != 0:
					out[i] = v[j&63]
				case zero:
					out[i] = 0
				default:
					written &^= 1 << i
				}
			}
			w.commit(d, 1, written)
		}, err
	}
}

var _ = define(func() {
	on("v_permlane16_b32", permlane16(0))
	on("v_permlanex16_b32", permlane16(16))
	// The halves of a wave are exchanged, what lanes that are off have as well. A wave of 32 lanes has no other half.
	on("v_permlane64_b32", func(b *binder, in *gcn.Inst) (func(*wave), error) {
		d, err := b.dest(&in.Dst)
		if b.p.arch.WaveSize() == 32 || err != nil {
			return func(*wave) {}, err
		}
		s, err := b.dest(&in.Src[0])
		return func(w *wave) {
			v, out := s.get(w), &w.out[0]
			for i := range out {
				out[i] = v[i^32]
			}
			w.commit(d, 1, w.exec)
		}, err
	})
})
