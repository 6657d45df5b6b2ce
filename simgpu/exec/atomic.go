package exec

import (
	"math"
	"math/bits"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Atomic read-modify-write operations on device memory, LDS and scratch.

// rmw computes the new value of memory from the old one, the data and, for
// compare operations, the compared value.
type rmw = func(old, data, cmp uint64) uint64

// rmwOps are the operations by the names that flat and buffer instructions use;
// w is 32 or 64.
func rmwOps(w int) map[string]rmw {
	mask := ^uint64(0) >> (64 - w)
	signed := func(x uint64) int64 { return int64(x<<(64-w)) >> (64 - w) }
	return map[string]rmw{
		"swap": func(_, d, _ uint64) uint64 { return d },
		"cmpswap": func(o, d, c uint64) uint64 {
			if o == c {
				return d
			}
			return o
		},
		"add":  func(o, d, _ uint64) uint64 { return (o + d) & mask },
		"sub":  func(o, d, _ uint64) uint64 { return (o - d) & mask },
		"rsub": func(o, d, _ uint64) uint64 { return (d - o) & mask },
		"smin": func(o, d, _ uint64) uint64 { return uint64(min(signed(o), signed(d))) & mask },
		"umin": func(o, d, _ uint64) uint64 { return min(o, d) },
		"smax": func(o, d, _ uint64) uint64 { return uint64(max(signed(o), signed(d))) & mask },
		"umax": func(o, d, _ uint64) uint64 { return max(o, d) },
		"and":  func(o, d, _ uint64) uint64 { return o & d },
		"or":   func(o, d, _ uint64) uint64 { return o | d },
		"xor":  func(o, d, _ uint64) uint64 { return o ^ d },
		"inc": func(o, d, _ uint64) uint64 {
			if o >= d {
				return 0
			}
			return o + 1
		},
		"dec": func(o, d, _ uint64) uint64 {
			if o == 0 || o > d {
				return d
			}
			return o - 1
		},
		"mskor": func(o, d, c uint64) uint64 { return o&^d | c },
		"wrap": func(o, d, c uint64) uint64 {
			if o >= d {
				return o - d
			}
			return o + c
		},
	}
}

// rmwFloats are the floating-point operations, by full name.
var rmwFloats = map[string]rmw{
	"add_f32": func(o, d, _ uint64) uint64 { return uint64(b32(f32(uint32(o)) + f32(uint32(d)))) },
	"min_f32": func(o, d, _ uint64) uint64 { return uint64(min32(uint32(o), uint32(d))) },
	"max_f32": func(o, d, _ uint64) uint64 { return uint64(max32(uint32(o), uint32(d))) },
	"cmpst_f32": func(o, d, c uint64) uint64 {
		if f32(uint32(o)) == f32(uint32(c)) {
			return d
		}
		return o
	},
	"pk_add_f16": func(o, d, _ uint64) uint64 {
		return uint64(add16(uint16(o), uint16(d))) | uint64(add16(uint16(o>>16), uint16(d>>16)))<<16
	},
	"pk_add_bf16": func(o, d, _ uint64) uint64 {
		return uint64(addBF16(uint16(o), uint16(d))) | uint64(addBF16(uint16(o>>16), uint16(d>>16)))<<16
	},
	"add_f64": func(o, d, _ uint64) uint64 {
		return math.Float64bits(math.Float64frombits(o) + math.Float64frombits(d))
	},
	"min_f64": func(o, d, _ uint64) uint64 {
		return math.Float64bits(min64(math.Float64frombits(o), math.Float64frombits(d)))
	},
	"max_f64": func(o, d, _ uint64) uint64 {
		return math.Float64bits(max64(math.Float64frombits(o), math.Float64frombits(d)))
	},
	"cmpst_f64": func(o, d, c uint64) uint64 {
		if math.Float64frombits(o) == math.Float64frombits(c) {
			return d
		}
		return o
	},
}

// addBF16 says which NaN it answers, which the order does that a compiler adds two in.
func addBF16(a, b uint16) uint16 {
	switch {
	case a&0x7fff > 0x7f80:
		return a | 0x40
	case b&0x7fff > 0x7f80:
		return b | 0x40
	}
	return f32toBF16(f32(uint32(a)<<16) + f32(uint32(b)<<16))
}

// f32toBF16 rounds to nearest even.
func f32toBF16(x float32) uint16 {
	u := b32(x)
	if x != x {
		return uint16(u>>16) | 0x40
	}
	return uint16((u + 0x7fff + u>>16&1) >> 16)
}

// atomicOp is an atomic operation on memory of 4 or 8 bytes.
type atomicOp struct {
	f    rmw
	size uint64 // 4, 8
	cmp  bool   // compares: the data holds source and compared value
	name string
}

// global does the operation on device memory and returns the old value.
func (op *atomicOp) global(p unsafe.Pointer, data, cmp uint64) uint64 {
	if op.size == 4 {
		q := (*uint32)(p)
		switch op.name {
		case "add":
			return uint64(atomic.AddUint32(q, uint32(data)) - uint32(data))
		case "swap":
			return uint64(atomic.SwapUint32(q, uint32(data)))
		}
		for {
			o := atomic.LoadUint32(q)
			n := uint32(op.f(uint64(o), data, cmp))
			// Writing what is there already is an atomic operation too.
			if atomic.CompareAndSwapUint32(q, o, n) {
				return uint64(o)
			}
		}
	}
	q := (*uint64)(p)
	switch op.name {
	case "add":
		return atomic.AddUint64(q, data) - data
	case "swap":
		return atomic.SwapUint64(q, data)
	}
	for {
		o := atomic.LoadUint64(q)
		if atomic.CompareAndSwapUint64(q, o, op.f(o, data, cmp)) {
			return o
		}
	}
}

// local does it on memory that only this goroutine uses.
func (op *atomicOp) local(p unsafe.Pointer, data, cmp uint64) uint64 {
	if op.size == 4 {
		q := (*uint32)(p)
		o := *q
		*q = uint32(op.f(uint64(o), data, cmp))
		return uint64(o)
	}
	q := (*uint64)(p)
	o := *q
	*q = op.f(o, data, cmp)
	return o
}

// operands reads the data and compared value of a lane. Where they share one
// operand, the source comes first.
func (op *atomicOp) operands(s *Vec, i int) (data, cmp uint64) {
	data = uint64(s[i])
	s1 := upper(s)
	if op.size == 4 {
		if op.cmp {
			cmp = uint64(s1[i])
		}
		return
	}
	data |= uint64(s1[i]) << 32
	if op.cmp {
		s2 := upper(s1)
		cmp = uint64(s2[i]) | uint64(upper(s2)[i])<<32
	}
	return
}

// put writes the old value to the lane of the result in w.out.
func (op *atomicOp) put(w *wave, i int, old uint64) {
	w.out[0][i] = uint32(old)
	if op.size == 8 {
		w.out[1][i] = uint32(old >> 32)
	}
}

func (op *atomicOp) regs() int { return int(op.size / 4) }

// onGlobal does the operation for lanes whose w.offs are offsets from the
// device memory's base.
func (op *atomicOp) onGlobal(w *wave, s *Vec, lanes uint64) {
	w.writable(lanes, op.size)
	for m := lanes; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		addr := w.mem.Base + w.offs[i]
		if addr&(op.size-1) != 0 {
			panic(&Fault{Kind: AlignmentFault, Addr: addr, Lane: i})
		}
		data, cmp := op.operands(s, i)
		op.put(w, i, op.global(w.mem.at(addr), data, cmp))
	}
	w.stats.Atomics += uint64(bits.OnesCount64(lanes))
}

// onLDS does it for lanes whose w.offs are LDS addresses.
func (op *atomicOp) onLDS(w *wave, operands func(i int) (data, cmp uint64), lanes uint64) {
	in := w.ldsInside(lanes, op.size)
	for m := lanes; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		if in>>i&1 == 0 {
			op.put(w, i, 0)
			continue
		}
		data, cmp := operands(i)
		op.put(w, i, op.local(unsafe.Add(w.ldsBase(), uintptr(w.offs[i])), data, cmp))
	}
}

// onScratch does it for lanes whose w.offs are offsets in their segments.
func (op *atomicOp) onScratch(w *wave, s *Vec, lanes uint64) {
	if lanes == 0 {
		return
	}
	w.scratchCheck(lanes, op.size)
	for m := lanes; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		var buf [8]byte
		for j := range op.size {
			buf[j] = w.scratch[swizzle(w.offs[i]+j, i)]
		}
		data, cmp := op.operands(s, i)
		op.put(w, i, op.local(unsafe.Pointer(&buf), data, cmp))
		for j := range op.size {
			w.scratch[swizzle(w.offs[i]+j, i)] = buf[j]
		}
	}
}

func (op *atomicOp) flat(b *binder, in *gcn.Inst) (func(*wave), error) {
	addr, err := b.globalAddress(in)
	if err != nil {
		return nil, err
	}
	s, err := b.dest(&in.Data)
	if err != nil {
		return nil, err
	}
	var d vdst
	returns := in.Returns()
	if returns {
		if d, err = b.dest(&in.Dst); err != nil {
			return nil, err
		}
	}
	flat := in.Enc == gcn.FLAT
	return func(w *wave) {
		src := s.get(w)
		if out := w.foreign(addr(w, op.size), op.size); out == 0 {
			op.onGlobal(w, src, w.exec)
		} else {
			if !flat {
				w.outside(out)
			}
			lds, scratch := w.spaces(out)
			op.onGlobal(w, src, w.exec&^out)
			op.onLDS(w, func(i int) (uint64, uint64) { return op.operands(src, i) }, lds)
			op.onScratch(w, src, scratch)
		}
		if returns {
			w.commit(d, op.regs(), w.exec)
		}
	}, nil
}

// ds binds an LDS atomic: data and compared value are operands of their own,
// and ds_cmpst has the compared value first.
func (op *atomicOp) ds(b *binder, in *gcn.Inst) (func(*wave), error) {
	addr, err := b.dsAddress(in)
	if err != nil {
		return nil, err
	}
	s0, err := b.dest(&in.Data)
	if err != nil {
		return nil, err
	}
	s1 := s0
	if op.cmp {
		if s1, err = b.dest(&in.Data1); err != nil {
			return nil, err
		}
	}
	var d vdst
	returns := in.Dst.Kind != gcn.None
	if returns {
		if d, err = b.dest(&in.Dst); err != nil {
			return nil, err
		}
	}
	imm := uint64(uint16(in.Offset))
	first := strings.HasPrefix(op.name, "cmpst")
	wide := op.size == 8
	return func(w *wave) {
		x, y := s0.get(w), s1.get(w)
		load := func(v *Vec, i int) uint64 {
			if wide {
				return uint64(v[i]) | uint64(upper(v)[i])<<32
			}
			return uint64(v[i])
		}
		addr(w, imm)
		op.onLDS(w, func(i int) (data, cmp uint64) {
			data, cmp = load(x, i), load(y, i)
			if first {
				data, cmp = cmp, data
			}
			return
		}, w.exec)
		if returns {
			w.commit(d, op.regs(), w.exec)
		}
	}, nil
}

var _ = define(func() {
	for width, suffix := range map[int]string{32: "", 64: "_x2"} {
		ops := rmwOps(width)
		bits := map[int]string{32: "32", 64: "64"}[width]
		size := uint64(width / 8)
		for _, name := range []string{"swap", "cmpswap", "add", "sub", "smin", "umin", "smax", "umax", "and", "or", "xor", "inc", "dec"} {
			onAtomic(name+suffix, &atomicOp{ops[name], size, name == "cmpswap", name})
		}
		for ds, name := range map[string]string{"add_u": "add", "sub_u": "sub", "rsub_u": "rsub", "inc_u": "inc", "dec_u": "dec",
			"min_i": "smin", "max_i": "smax", "min_u": "umin", "max_u": "umax", "and_b": "and", "or_b": "or", "xor_b": "xor",
			"mskor_b": "mskor", "wrxchg_b": "swap", "cmpst_b": "cmpswap", "wrap_b": "wrap"} {
			if name == "wrap" && width == 64 {
				continue
			}
			if name == "cmpswap" { // of RDNA: the data come first
				onDSAtomic("cmpstore_b", bits, true, &atomicOp{ops[name], size, true, name})
			}
			n := name
			if n == "cmpswap" {
				n = "cmpst"
			}
			onDSAtomic(ds, bits, name != "swap" && name != "wrap", &atomicOp{ops[name], size, name == "cmpswap" || name == "mskor" || name == "wrap", n})
		}
	}
	csub := &atomicOp{func(o, d, _ uint64) uint64 { return o - min(o, d) }, 4, false, "csub"}
	on("global_atomic_csub_u32", csub.flat)
	on("buffer_atomic_csub_u32", csub.buffer)
	for name, f := range rmwFloats {
		size := uint64(4)
		if strings.HasSuffix(name, "64") {
			size = 8
		}
		op := &atomicOp{f, size, strings.HasPrefix(name, "cmpst"), name}
		switch {
		case !op.cmp:
			onAtomic(name, op)
		case size == 4:
			onAtomic("cmpswap_f32", op)
		}
		if op.cmp {
			onDSAtomic("cmpstore_", name[len("cmpst_"):], true, &atomicOp{f, size, true, "cmpswap"})
		}
		cut := strings.LastIndex(name, "_") + 1
		onDSAtomic(name[:cut], name[cut:], true, op)
	}
})

// onAtomic defines the operation for flat, global and buffer instructions.
func onAtomic(name string, op *atomicOp) {
	on("flat_atomic_"+name, op.flat)
	on("global_atomic_"+name, op.flat)
	on("buffer_atomic_"+name, op.buffer)
}

// onDSAtomic defines it for the LDS, with and, where there is one, without result.
func onDSAtomic(name, suffix string, both bool, op *atomicOp) {
	name = "ds_" + name
	i := strings.LastIndex(name, "_") + 1
	on(name[:i]+"rtn_"+name[i:]+suffix, op.ds)
	if both {
		on(name+suffix, op.ds)
	}
}
