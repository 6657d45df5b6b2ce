package exec

import (
	"math/bits"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Moves between lanes, scalar registers and accumulation registers.

var _ = define(func() {
	on("v_readfirstlane_b32", func(b *binder, in *gcn.Inst) (func(*wave), error) {
		s, err := b.vector(&in.Src[0], 0)
		if err != nil {
			return nil, err
		}
		d, err := sdst(&in.Dst, 1)
		return func(w *wave) {
			lane := 0
			if w.exec != 0 {
				lane = bits.TrailingZeros64(w.exec)
			}
			w.S[d] = s.get(w)[lane&63]
		}, err
	})
	on("v_readlane_b32", func(b *binder, in *gcn.Inst) (func(*wave), error) {
		s, err := b.vector(&in.Src[0], 0)
		if err != nil {
			return nil, err
		}
		lane, err := scalar(&in.Src[1])
		if err != nil {
			return nil, err
		}
		d, err := sdst(&in.Dst, 1)
		last := b.lastLane()
		return func(w *wave) { w.S[d] = s.get(w)[lane.get(w)&last&63] }, err
	})
	on("v_writelane_b32", func(b *binder, in *gcn.Inst) (func(*wave), error) {
		s, err := scalar(&in.Src[0])
		if err != nil {
			return nil, err
		}
		lane, err := scalar(&in.Src[1])
		if err != nil {
			return nil, err
		}
		d, err := b.dest(&in.Dst)
		last := b.lastLane()
		return func(w *wave) { d.get(w)[lane.get(w)&last&63] = s.get(w) }, err
	})
	on("v_swap_b32", func(b *binder, in *gcn.Inst) (func(*wave), error) {
		x, err := b.dest(&in.Dst)
		if err != nil {
			return nil, err
		}
		y, err := b.dest(&in.Src[0])
		return func(w *wave) {
			w.out[0], w.out[1] = *y.get(w), *x.get(w)
			w.commit(x, 1, w.exec)
			w.merge(y.get(w), &w.out[1], w.exec)
		}, err
	})
	move := func(d, a, _, _ *Vec) { *d = *a }
	for _, n := range []string{"v_accvgpr_read_b32", "v_accvgpr_write_b32", "v_accvgpr_mov_b32"} {
		valu(n, 1, move)
	}
})

// lastLane is the number of a wave's last lane; lanes beyond it count from the first one again.
func (b *binder) lastLane() uint32 { return uint32(b.p.arch.WaveSize() - 1) }

// Bits of the GPR index mode.
const indexDst = 1 << 3

// indexedReg is the vector register base + M0[7:0], of n consecutive ones.
func (w *wave) indexedReg(base uint16, n int) *Vec {
	i := int(base) + int(w.S[regM0]&0xff)
	if i+n > len(w.V) {
		panic(&Fault{Kind: RegisterFault, Lane: -1, Detail: "vector register relative to M0"})
	}
	return &w.V[i]
}
