package exec

import (
	"math"
	"strings"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Vector comparisons. A comparison is a function of two registers to a lane
// mask; all conditions are made of few of them.

type relation = func(a, b *Vec) uint64

// ordering is what a type's conditions are made of.
type ordering struct {
	lt, eq relation
	le, un relation // floats: ordered and less or equal; unordered
	flush  format   // floats: the format, for modes that flush denormals
}

// top collects the top bits of 64 values, one at a time from lane 0 up.
func top(m, bit63 uint64) uint64 { return m>>1 | bit63&(1<<63) }

func ltU32(a, b *Vec) (m uint64) {
	_, _ = a[0], b[0]
	for i := range a {
		m = top(m, uint64(a[i])-uint64(b[i]))
	}
	return m
}

func ltI32(a, b *Vec) (m uint64) {
	_, _ = a[0], b[0]
	for i := range a {
		m = top(m, uint64(int64(int32(a[i]))-int64(int32(b[i]))))
	}
	return m
}

func eq32(a, b *Vec) (m uint64) {
	_, _ = a[0], b[0]
	for i := range a {
		m = top(m, uint64(a[i]^b[i])-1)
	}
	return m
}

// lanewise2 makes a relation of a predicate; bit63 is for where it holds.
func bit63(b bool) uint64 {
	if b {
		return 1 << 63
	}
	return 0
}

//go:noinline
func wideRelation(f func(a, b uint64) bool) relation {
	return func(a, b *Vec) (m uint64) {
		ah, bh := upper(a), upper(b)
		for i := range a {
			m = top(m, bit63(f(uint64(a[i])|uint64(ah[i])<<32, uint64(b[i])|uint64(bh[i])<<32)))
		}
		return m
	}
}

//go:noinline
func relation16(f func(a, b uint16) bool) relation {
	return func(a, b *Vec) (m uint64) {
		_, _ = a[0], b[0]
		for i := range a {
			m = top(m, bit63(f(uint16(a[i]), uint16(b[i]))))
		}
		return m
	}
}

func relationF64(f func(a, b float64) bool) relation {
	return wideRelation(func(a, b uint64) bool { return f(math.Float64frombits(a), math.Float64frombits(b)) })
}

func relationF16(f func(a, b float32) bool) relation {
	return relation16(func(a, b uint16) bool { return f(f16to32(a), f16to32(b)) })
}

var orderings = map[string]ordering{
	"u32": {lt: ltU32, eq: eq32},
	"i32": {lt: ltI32, eq: eq32},
	"u64": {lt: wideRelation(func(a, b uint64) bool { return a < b }), eq: wideRelation(func(a, b uint64) bool { return a == b })},
	"i64": {lt: wideRelation(func(a, b uint64) bool { return int64(a) < int64(b) }), eq: wideRelation(func(a, b uint64) bool { return a == b })},
	"u16": {lt: relation16(func(a, b uint16) bool { return a < b }), eq: relation16(func(a, b uint16) bool { return a == b })},
	"i16": {lt: relation16(func(a, b uint16) bool { return int16(a) < int16(b) }), eq: relation16(func(a, b uint16) bool { return a == b })},
	"f32": {
		lt: func(a, b *Vec) (m uint64) {
			_, _ = a[0], b[0]
			x, y := singles(a), singles(b)
			for i := range x {
				m = top(m, bit63(x[i] < y[i]))
			}
			return m
		},
		le: func(a, b *Vec) (m uint64) {
			_, _ = a[0], b[0]
			x, y := singles(a), singles(b)
			for i := range x {
				m = top(m, bit63(x[i] <= y[i]))
			}
			return m
		},
		eq: func(a, b *Vec) (m uint64) {
			_, _ = a[0], b[0]
			x, y := singles(a), singles(b)
			for i := range x {
				m = top(m, bit63(x[i] == y[i]))
			}
			return m
		},
		un: func(a, b *Vec) (m uint64) {
			_, _ = a[0], b[0]
			for i := range a {
				m = top(m, bit63(isNaN32(a[i]) || isNaN32(b[i])))
			}
			return m
		},
		flush: fmt32,
	},
	"f64": {
		lt: relationF64(func(a, b float64) bool { return a < b }), le: relationF64(func(a, b float64) bool { return a <= b }),
		eq: relationF64(func(a, b float64) bool { return a == b }), un: relationF64(func(a, b float64) bool { return a != a || b != b }),
		flush: fmt64,
	},
	"f16": {
		lt: relationF16(func(a, b float32) bool { return a < b }), le: relationF16(func(a, b float32) bool { return a <= b }),
		eq: relationF16(func(a, b float32) bool { return a == b }), un: relationF16(func(a, b float32) bool { return a != a || b != b }),
		flush: fmt16,
	},
}

// conditions gives the relation of every condition name of an ordering.
func (o *ordering) conditions() map[string]relation {
	not := func(r relation) relation { return func(a, b *Vec) uint64 { return ^r(a, b) } }
	swap := func(r relation) relation { return func(a, b *Vec) uint64 { return r(b, a) } }
	or := func(r, s relation) relation { return func(a, b *Vec) uint64 { return r(a, b) | s(a, b) } }
	never := func(a, b *Vec) uint64 { return 0 }
	c := map[string]relation{"f": never, "lt": o.lt, "eq": o.eq, "gt": swap(o.lt)}
	if o.un == nil {
		c["le"], c["ge"], c["ne"], c["t"] = not(c["gt"]), not(o.lt), not(o.eq), not(never)
		return c
	}
	c["le"], c["ge"], c["lg"] = o.le, swap(o.le), or(o.lt, c["gt"])
	c["u"], c["o"] = o.un, not(o.un)
	for _, n := range []string{"lt", "eq", "le", "gt", "lg", "ge"} {
		c["n"+n] = not(c[n])
	}
	c["tru"] = not(never)
	return c
}

// onCompare defines v_cmp_… and v_cmpx_…. A comparison writes the lanes' bits
// to a lane mask, zero for inactive ones; v_cmpx_… to EXEC as well, from RDNA on to EXEC alone.
//
//go:noinline
func onCompare(name string, r relation, o *ordering) {
	for _, prefix := range []string{"v_cmp_", "v_cmpx_"} {
		on(prefix+name, func(b *binder, in *gcn.Inst) (func(*wave), error) {
			s, err := b.sources(in, 2)
			if err != nil {
				return nil, err
			}
			out, err := mask(&in.Dst)
			if err != nil {
				return nil, err
			}
			p, ok := plainOperands(vdst{}, &s)
			s0, s1 := s[0], s[1]
			if o.un != nil {
				s0, s1 = flushed(s0, o.flush), flushed(s1, o.flush)
			}
			if prefix == "v_cmpx_" {
				exec := mdst{regEXEC, b.p.arch.WaveSize() == 64}
				return func(w *wave) {
					m := r(s0.get(w), s1.get(w)) & w.exec
					out.set(w, m)
					exec.set(w, m)
				}, nil
			}
			if ok {
				return p.compare(r, o, out, func(w *wave) { out.set(w, r(s0.get(w), s1.get(w))&w.exec) }), nil
			}
			return func(w *wave) { out.set(w, r(s0.get(w), s1.get(w))&w.exec) }, nil
		})
	}
}

// flushed makes denormal sources zero when MODE says so.
func flushed(s vsrc, f format) vsrc {
	inner := s.prep
	s.prep = func(w *wave, d, v *Vec) *Vec {
		if inner != nil {
			v = inner(w, d, v)
		}
		if _, in, _ := f.env(&w.fp); !in {
			return v
		}
		for i := range d {
			x := uint64(v[i])
			if f.bits == 64 {
				x |= uint64(upper(v)[i]) << 32
			}
			x = f.flush(x)
			d[i] = uint32(x)
			if f.bits == 64 {
				upper(d)[i] = uint32(x >> 32)
			}
		}
		return d
	}
	return s
}

// classBit is the bit of v_cmp_class's mask that a value belongs to.
func (f format) classBit(b uint64) uint32 {
	sign := b&f.sign() != 0
	frac := b & (1<<(f.prec-1) - 1)
	exp := b &^ f.sign() >> (f.prec - 1)
	maxExp := f.sign()>>(f.prec-1) - 1
	side := func(neg, pos uint32) uint32 {
		if sign {
			return 1 << neg
		}
		return 1 << pos
	}
	switch {
	case exp == maxExp && frac == 0:
		return side(2, 9)
	case exp == maxExp && frac>>(f.prec-2) == 0:
		return 1 // signalling
	case exp == maxExp:
		return 2
	case exp == 0 && frac == 0:
		return side(5, 6)
	case exp == 0:
		return side(4, 7)
	}
	return side(3, 8)
}

var _ = define(func() {
	for t, o := range orderings {
		for cond, r := range o.conditions() {
			onCompare(cond+"_"+t, r, &o)
		}
	}
	for t, f := range map[string]format{"f16": fmt16, "f32": fmt32, "f64": fmt64} {
		mask := ^uint64(0) >> (64 - f.bits)
		onCompare("class_"+t, func(a, b *Vec) (m uint64) {
			_, _ = a[0], b[0]
			for i := range a {
				x := uint64(a[i])
				if strings.HasSuffix(t, "64") {
					x |= uint64(upper(a)[i]) << 32
				}
				m = top(m, bit63(f.classBit(x&mask)&b[i] != 0))
			}
			return m
		}, &ordering{})
	}
})
