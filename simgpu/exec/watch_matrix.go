package exec

import "github.com/rocwire/rocwire/simgpu/gcn"

// Registers that stand for what is undefined of matrices.

func grown(r []Vec, n int) []Vec {
	if len(r) < n {
		return make([]Vec, n)
	}
	return r
}

// registersOf is the register file of an operand, and where it begins there; nil for a constant.
func (u *undefined) registersOf(o *gcn.Operand) []Vec {
	switch o.Kind {
	case gcn.VGPR:
		return u.v[o.Index : int(o.Index)+int(o.Width)]
	case gcn.AccVGPR:
		return u.a[o.Index : int(o.Index)+int(o.Width)]
	}
	return nil
}

func (u *undefined) standIns(o *gcn.Operand) []Vec {
	switch o.Kind {
	case gcn.VGPR:
		return u.file[0][o.Index : int(o.Index)+int(o.Width)]
	case gcn.AccVGPR:
		return u.file[1][o.Index : int(o.Index)+int(o.Width)]
	}
	return nil
}

// someUndefined reports whether anything of an operand is undefined, in any lane.
func (u *undefined) someUndefined(o *gcn.Operand) bool {
	for _, v := range u.registersOf(o) {
		if v != (Vec{}) {
			return true
		}
	}
	return false
}

// standIn writes mark to the elements, of some bytes each, of an operand that are
// undefined, and 0 to the others; or, if not where, mark to all.
func (u *undefined) standIn(o *gcn.Operand, mark uint32, size int, where bool) {
	from, to := u.registersOf(o), u.standIns(o)
	for k := range to {
		for l := range to[k] {
			x := from[k][l]
			switch {
			case !where:
				to[k][l] = mark
			case size == 8: // the high dword says what the two are
				to[k][l] = 0
				if k&1 == 1 && x|from[k-1][l] != 0 {
					to[k][l] = mark
				}
			default:
				var r uint32
				for s := 0; s < 32; s += size * 8 {
					if x>>s&uint32(1<<(size*8)-1) != 0 {
						r |= mark << s
					}
				}
				to[k][l] = r
			}
		}
	}
}

// collect makes undefined what the result says is.
func (u *undefined) collect(o *gcn.Operand, size int, is func(lo, hi uint32) bool, _ bool) {
	to, from := u.registersOf(o), u.standIns(o)
	step := size / 4
	for k := 0; k+step <= len(to); k += step {
		for l := range to[k] {
			var x uint32
			if is(from[k][l], from[k+step-1][l]) {
				x = ^uint32(0)
			}
			for s := range step {
				to[k+s][l] = x
			}
		}
	}
}

func (u *undefined) results(o *gcn.Operand) []Vec { return append([]Vec(nil), u.standIns(o)...) }
func (u *undefined) copyOf(o *gcn.Operand) []Vec  { return append([]Vec(nil), u.registersOf(o)...) }

// or adds to what is undefined of an operand what is not zero elsewhere.
func (u *undefined) or(o *gcn.Operand, list ...[]Vec) {
	to := u.registersOf(o)
	for _, from := range list {
		for k := range min(len(to), len(from)) {
			for l := range to[k] {
				if from[k][l] != 0 {
					to[k][l] = ^uint32(0)
				}
			}
		}
	}
}

// undefinedFormats is for matrices whose elements may have no NaN: of D is undefined what C is, and all of a row or
// column of which anything is in A, B or their scales.
func undefinedFormats(in *gcn.Inst) before {
	s, ok := matrixShape(in)
	if !ok {
		return nil
	}
	places := s.result()
	return func(w *wave) {
		x := w.watched
		var lines [2][WaveSize]bool
		for i, o := range []*gcn.Operand{&in.Src[0], &in.Src[1], &in.Scale[0], &in.Scale[1]} {
			for _, v := range x.registersOf(o) {
				for l := range v {
					if v[l] != 0 {
						lines[i&1][l%s.m] = true
					}
				}
			}
		}
		sum := x.copyOf(&in.Src[2])
		w.setDefined(&in.Dst, all)
		to := x.registersOf(&in.Dst)
		for n, p := range places {
			if lines[0][n/s.n%s.m] || lines[1][n%s.n] {
				to[p.reg][p.lane] = ^uint32(0)
			}
		}
		x.or(&in.Dst, sum)
	}
}
