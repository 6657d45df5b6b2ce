package simgpu

import (
	"math/bits"
	"slices"

	"github.com/rocwire/rocwire/hip"
)

// cuMask has a bit for each compute unit that a stream's kernels may use; on RDNA for each pair of them, a workgroup processor.
type cuMask []uint32

// all is the mask of all compute units.
func (p *product) all() cuMask {
	n := p.multiprocessors()
	m := make(cuMask, (n+31)/32)
	for i := range n {
		m[i/32] |= 1 << (i % 32)
	}
	return m
}

// units is how many compute units a mask has.
func (m cuMask) units() int {
	n := 0
	for _, w := range m {
		n += bits.OnesCount32(w)
	}
	return n
}

// ExtStreamCreateWithCUMask makes a stream whose kernels use the compute units of
// a mask, bit 0 of the first word the first unit. Units that the card does not
// have are ignored; a mask of none is one of all.
func (r *Runtime) ExtStreamCreateWithCUMask(t hip.Thread, mask []uint32) (hip.Stream, hip.Error) {
	d, e := r.enter(t)
	if e != hip.Success {
		return 0, e
	}
	defer r.leave()
	if len(mask) == 0 {
		return 0, hip.ErrorInvalidValue
	}
	all := r.product.all()
	m := cuMask(slices.Clone(mask[:min(len(mask), len(all))]))
	for i := range m {
		m[i] &= all[i]
	}
	if m.units() == 0 {
		m = nil
	}
	h := hip.Stream(r.handle())
	r.streams.put(h, &stream{d: d, q: d.queues.NewStream(true), handle: h, mask: m, share: r.share(0)})
	return h, hip.Success
}

// ExtStreamGetCUMask is the mask of a stream, in n words at most: as many as it
// was made with, and enough for all compute units if it was made with none.
// ErrorInvalidValue: n words cannot hold a mask of the card's.
func (r *Runtime) ExtStreamGetCUMask(t hip.Thread, s hip.Stream, n uint32) ([]uint32, hip.Error) {
	if _, e := r.enter(t); e != hip.Success {
		return nil, e
	}
	defer r.leave()
	all := r.product.all()
	if uint64(n) < uint64(len(all)) {
		return nil, hip.ErrorInvalidValue
	}
	st, e := r.stream(t, s)
	if e != hip.Success {
		return nil, e
	}
	if st.mask != nil {
		return slices.Clone(st.mask), hip.Success
	}
	return all, hip.Success
}

// units is how many compute units the stream's kernels may use.
func (st *stream) units() int {
	p := st.d.r.product
	if st.mask != nil {
		return st.mask.units() * int(p.computeUnits/p.multiprocessors())
	}
	return int(p.computeUnits)
}
