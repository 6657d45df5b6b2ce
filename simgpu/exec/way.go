package exec

import "github.com/rocwire/rocwire/simgpu/gcn"

// What instructions mean depends on two things in MODE beside the way floats
// are rounded: relative vector registers (s_set_gpr_idx_on) and whether vector
// instructions are skipped (s_setvskip). Compilers switch both within a block,
// so a block is bound for the way it begins in, and one that begins or ends in
// any but the usual way looks at its end which comes next. Such blocks are not
// translated.

// way is how a wave executes vector instructions: bits 3:0 are M0[15:12], the
// operands whose registers are relative, if wayIndexed is set. The usual one is 0.
type way uint8

const (
	wayIndexed way = 1 << 4 // MODE.GPR_IDX_EN
	waySkips   way = 1 << 5 // MODE.VSKIP
)

// Bits of MODE that are not about floating-point numbers.
const (
	modeIndexed  = 1 << 27
	modeSkips    = 1 << 28
	modeStackAt  = 29 // depth of the stack of s_cbranch_fork, 3 bits
	modeWayMask  = modeIndexed | modeSkips
	indexModeAt  = 12 // in M0
	indexModeAll = 15 << indexModeAt
)

func (w *wave) way() (y way) {
	if w.mode&modeWayMask == 0 {
		return 0
	}
	if w.mode&modeIndexed != 0 {
		y = wayIndexed | way(w.S[regM0]>>indexModeAt&15)
	}
	if w.mode&modeSkips != 0 {
		y |= waySkips
	}
	return y
}

// wayKey names a block that begins in another way than the usual.
type wayKey struct {
	pc uint64
	y  way
}

// blockIn is the block at pc for a wave that executes this way.
func (p *Program) blockIn(pc uint64, y way) *block {
	if y == 0 {
		return p.block(pc)
	}
	key := wayKey{pc, y}
	if b, ok := p.blocks.Load(key); ok {
		return b.(*block)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if b, ok := p.blocks.Load(key); ok {
		return b.(*block)
	}
	p.makeRoom()
	return p.keep(key, p.decode(pc, y))
}

// begin puts the binder into the way in which its block begins.
func (b *binder) begin(y way) {
	b.idxOn, b.skips = y&wayIndexed != 0, y&waySkips != 0
	if b.idxOn {
		b.indexed = uint8(y & 15)
	}
	b.blk.unusual = y != 0
}

// finish makes the end of the block look at the wave's way where that may not
// be the usual one.
func (b *binder) finish() {
	if b.idxOn || b.skips || b.changes {
		b.blk.unusual = true
	}
	term := b.blk.term
	if !b.blk.unusual || term == nil {
		return
	}
	b.blk.term = func(w *wave, blk *block) *block {
		next := term(w, blk)
		switch {
		case next != nil:
			return w.d.Program.blockIn(next.pc, w.way())
		case w.status != ended: // it goes on later
			w.blk = w.d.Program.blockIn(w.blk.pc, w.way())
		}
		return nil
	}
}

// isVector reports whether an instruction is one that s_setvskip skips.
func isVector(in *gcn.Inst) bool { return isVALU(in) || isVMEM(in) }

func isVALU(in *gcn.Inst) bool {
	switch in.Enc {
	case gcn.VOP1, gcn.VOP2, gcn.VOPC, gcn.VOP3, gcn.VOP3P, gcn.VOPD, gcn.MFMA:
		return true
	}
	return false
}

func isVMEM(in *gcn.Inst) bool {
	switch in.Enc {
	case gcn.DS, gcn.FLAT, gcn.GLOBAL, gcn.SCRATCH, gcn.MUBUF, gcn.MTBUF, gcn.MIMG:
		return true
	}
	return false
}

// writesM0 reports whether an instruction may change which operands are
// relative, other than those made for it.
func writesM0(in *gcn.Inst) bool {
	hits := func(o *gcn.Operand) bool { return o.Kind == gcn.SGPR && o.Index == regM0 }
	return hits(&in.Dst) || hits(&in.SDst)
}

var _ = define(func() {
	// s_set_gpr_idx_on: relative to M0[7:0] are from now on the registers of the
	// operands that the raw immediate names.
	on("s_set_gpr_idx_on", func(b *binder, in *gcn.Inst) (func(*wave), error) {
		s, err := scalar(&in.Src[0])
		b.idxOn, b.indexed = true, uint8(in.Simm16&15)
		imm := uint32(in.Simm16&15) << indexModeAt
		return func(w *wave) {
			w.mode |= modeIndexed
			w.S[regM0] = w.S[regM0]&^(indexModeAll|0xff) | s.get(w)&0xff | imm
		}, err
	})
	on("s_set_gpr_idx_mode", func(b *binder, in *gcn.Inst) (func(*wave), error) {
		if b.idxOn {
			b.indexed = uint8(in.Simm16 & 15)
		}
		imm := uint32(in.Simm16&15) << indexModeAt
		return func(w *wave) { w.S[regM0] = w.S[regM0]&^indexModeAll | imm }, nil
	})
	on("s_set_gpr_idx_idx", func(b *binder, in *gcn.Inst) (func(*wave), error) {
		s, err := scalar(&in.Src[0])
		return func(w *wave) { w.S[regM0] = w.S[regM0]&^0xff | s.get(w)&0xff }, err
	})
	on("s_set_gpr_idx_off", func(b *binder, in *gcn.Inst) (func(*wave), error) {
		b.idxOn, b.indexed = false, 0
		return func(w *wave) { w.mode &^= modeIndexed }, nil
	})
	// s_setvskip: which way is known when it is executed.
	on("s_setvskip", func(b *binder, in *gcn.Inst) (func(*wave), error) {
		s, err := scalar(&in.Src[0])
		if err != nil {
			return nil, err
		}
		n, err := scalar(&in.Src[1])
		b.changes = true
		return func(w *wave) {
			w.mode &^= modeSkips
			if s.get(w)>>(n.get(w)&31)&1 != 0 {
				w.mode |= modeSkips
			}
		}, err
	})
})
