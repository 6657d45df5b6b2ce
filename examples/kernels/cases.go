package kernels

import (
	"math/rand/v2"
	"strings"
)

// family makes the cases of one source, under the name of any of its objects.
type family struct {
	source string
	cases  func(in input, object string) []*Case
}

var families = []family{
	{"vector_add", vectorAddCases},
	{"saxpy", saxpyCases},
	{"reduce", reduceCases},
	{"matmul", matmulCases},
	{"matrix", matrixCases},
	{"mandelbrot", mandelbrotCases},
	{"spin", spinCases},
	{"histogram", histogramCases},
	{"arith_float", arithFloatCases},
	{"arith_int", arithIntCases},
	{"control", controlCases},
	{"scratch", scratchCases},
	{"calls", callsCases},
	{"memory", memoryCases},
	{"variables", variablesCases},
	{"dynamic_lds", dynamicLDSCases},
	{"lanes", lanesCases},
	{"random", randomCases},
}

// Cases makes launches of every kernel of every object, with inputs that
// follow from the seed. No case depends on another.
func Cases(seed uint64) []*Case {
	var all []*Case
	for _, object := range Objects() {
		all = append(all, CasesOf(object, seed)...)
	}
	return all
}

// CasesOf makes the launches of one object; nil if it has none ("fault").
func CasesOf(object string, seed uint64) []*Case {
	source := object
	if base, level, ok := cutLast(object, "_O"); ok && len(level) == 1 {
		source = base
	}
	for _, f := range families {
		if f.source == source {
			in := input{rand.New(rand.NewPCG(seed, uint64(len(source))))}
			return f.cases(in, object)
		}
	}
	return nil
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// sizes are numbers of elements: one, a part of a wave, waves and a bit, many.
var sizes = []int{1, 37, 64, 200, 1000}

func vectorAddCases(in input, object string) []*Case {
	var cs []*Case
	for _, n := range append(sizes, 100_000) {
		c := Case{Buffers: []Buffer{in.f32s(n), in.f32s(n), blank(4 * n).as(F32)},
			Args: []Arg{buf(0), buf(1), buf(2), val(int32(n))}}
		cs = append(cs, line(c, n, 256).named(object, "vector_add", "n=%d", n))
	}
	return cs
}

func saxpyCases(in input, object string) []*Case {
	var cs []*Case
	for _, n := range sizes {
		for _, k := range []string{"saxpy", "saxpy_unfused"} {
			c := Case{Buffers: []Buffer{in.wild32(n), in.wild32(n)},
				Args: []Arg{val(uint32(n)), val(float32(2.71828)), buf(0), buf(1)}}
			cs = append(cs, line(c, n, 128).named(object, k, "n=%d", n))
		}
		c := Case{Buffers: []Buffer{in.wild64(n), in.wild64(n)},
			Args: []Arg{val(uint64(n)), val(-1.1), buf(0), buf(1)}}
		cs = append(cs, line(c, min(n, 300), 64).named(object, "daxpy_strided", "n=%d", n))
	}
	return cs
}

func reduceCases(in input, object string) []*Case {
	var cs []*Case
	for _, n := range []int{1, 255, 256, 1000} {
		blocks := (n + 255) / 256
		args := []Arg{buf(0), buf(1), val(uint32(n))}
		cs = append(cs,
			line(Case{Buffers: []Buffer{in.f32s(n), blank(4 * blocks).as(F32)}, Args: args}, n, 256).
				named(object, "reduce_sum_f32", "n=%d", n),
			line(Case{Buffers: []Buffer{in.u32s(n), in.u64s(1)}, Args: args}, min(n, 512), 256).
				named(object, "reduce_sum_u64", "n=%d", n),
			line(Case{Buffers: []Buffer{in.u32s(n), blank(4 * n)}, Args: args}, n, 256).
				named(object, "scan_u32", "n=%d", n))
	}
	return cs
}

func matmulCases(in input, object string) []*Case {
	var cs []*Case
	for _, s := range [][3]int{{16, 16, 16}, {1, 1, 1}, {20, 33, 47}, {64, 48, 32}} {
		m, n, k := s[0], s[1], s[2]
		c := Case{Grid: [3]uint32{uint32(n+15) / 16, uint32(m+15) / 16, 1}, Block: [3]uint32{16, 16, 1},
			Args: []Arg{buf(0), buf(1), buf(2), val(int32(m)), val(int32(n)), val(int32(k))}}
		c.Buffers = []Buffer{in.f32s(m * k), in.f32s(k * n), blank(4 * m * n).as(F32)}
		cs = append(cs, c.named(object, "matmul_f32", "%dx%dx%d", m, n, k))
		c.Buffers = []Buffer{in.f64s(m * k), in.f64s(k * n), blank(8 * m * n).as(F64)}
		cs = append(cs, c.named(object, "matmul_f64", "%dx%dx%d", m, n, k))
	}
	return cs
}

// matrixCases have 16-bit numbers that are not denormal, as gfx90a takes those for zero.
func matrixCases(in input, object string) []*Case {
	f16 := func(n int) Buffer {
		return fill(n, func(int) uint16 { return uint16(in.Uint32())&0x83ff | uint16(9+in.IntN(12))<<10 })
	}
	bf16 := func(n int) Buffer {
		return fill(n, func(int) uint16 { return uint16(in.Uint32())&0x807f | uint16(120+in.IntN(12))<<7 })
	}
	f32 := func(n int) Buffer { return fill(n, func(int) float32 { return float32(in.NormFloat64()) }) }
	f64 := func(n int) Buffer { return fill(n, func(int) float64 { return in.NormFloat64() }) }
	var cs []*Case
	for _, k := range []struct {
		name   string
		source func(n int) Buffer
		tile   int
		c      Type
		size   int
	}{{"f32", f32, 64, F32, 4}, {"f16", f16, 64, F32, 4}, {"bf16", bf16, 64, F32, 4}, {"i8", in.u8s, 64, Bits, 4}, {"f64", f64, 32, F64, 8}} {
		m, n, depth := 2*k.tile, k.tile, 48
		c := Case{Grid: [3]uint32{uint32(n / k.tile), uint32(m / k.tile), 1}, Block: [3]uint32{64, 1, 1},
			Buffers: []Buffer{k.source(m * depth), k.source(n * depth), blank(k.size * m * n).as(k.c)},
			Args:    []Arg{buf(0), buf(1), buf(2), val(int32(n)), val(int32(depth))}}
		cs = append(cs, c.named(object, "matrix_"+k.name, "%dx%dx%d", m, n, depth))
	}
	return cs
}

func mandelbrotCases(_ input, object string) []*Case {
	const w, h = 50, 30
	c := Case{Grid: [3]uint32{4, 4, 1}, Block: [3]uint32{16, 8, 1}}
	size := []Arg{buf(0), val(int32(w)), val(int32(h))}
	f := c
	f.Buffers = []Buffer{blank(4 * w * h)}
	f.Args = append(size, val(float32(-2.2)), val(float32(-1.2)), val(float32(0.06)), val(uint32(200)))
	d := c
	d.Buffers = []Buffer{blank(2 * w * h)}
	d.Args = append(size[:3:3], val(-0.75), val(0.1), val(0.0005), val(uint32(300)))
	return []*Case{f.named(object, "mandelbrot_f32", ""), d.named(object, "mandelbrot_f64", "")}
}

func spinCases(in input, object string) []*Case {
	var cs []*Case
	for _, rounds := range []uint64{0, 1, 1000} {
		c := Case{Buffers: []Buffer{blank(4 * 100)}, Args: []Arg{buf(0), val(rounds), val(uint32(100))}}
		cs = append(cs, line(c, 100, 64).named(object, "spin", "rounds=%d", rounds))
	}
	c := Case{Buffers: []Buffer{fill(1, func(int) uint32 { return in.Uint32() | 1 }), blank(4 * 64)}, Args: []Arg{buf(0), buf(1)}}
	return append(cs, line(c, 64, 64).named(object, "spin_until", ""))
}

func histogramCases(in input, object string) []*Case {
	var cs []*Case
	wholes32 := fill(256, func(int) float32 { return float32(in.IntN(100)) }).as(F32)
	wholes64 := fill(64, func(int) float64 { return float64(in.IntN(100)) }).as(F64)
	for _, n := range []int{1, 100, 1000, 3000} {
		bytes, words := in.u8s(n), in.u32s(n)
		add := func(kernel string, threads int, args []Arg, buffers ...Buffer) {
			cs = append(cs, line(Case{Buffers: buffers, Args: args}, threads, 256).named(object, kernel, "n=%d", n))
		}
		plain := []Arg{buf(0), buf(1), val(uint32(n))}
		masked := append(plain[:3:3], val(uint32(63)))
		add("histogram_lds_u32", min(n, 600), plain, bytes, in.u32s(256))
		add("histogram_global_u32", n, masked, words, in.u32s(64))
		add("histogram_global_u64", n, masked, words, in.u64s(64))
		add("histogram_lds_f32", n, plain, bytes, wholes32)
		add("histogram_global_f64", n, masked, words, wholes64)
		add("atomics_u32", n, plain, words, in.u32s(12))
		add("atomics_u64", n, plain, in.u64s(n), in.u64s(10))
		add("tickets", n, []Arg{buf(0), buf(1), buf(2), val(uint32(n))},
			Buffer{Data: raw[uint32](0)}, Buffer{Data: make([]byte, 4*n)}, in.u32s(2*n))
	}
	c := Case{Buffers: []Buffer{in.u32s(512), blank(2 * 17 * 4)}, Args: []Arg{buf(0), buf(1)}}
	return append(cs, line(c, 512, 256).named(object, "atomics_lds", ""))
}

func arithFloatCases(in input, object string) []*Case {
	var cs []*Case
	const n = 3000
	add := func(kernel string, buffers ...Buffer) {
		var args []Arg
		for i := range buffers {
			args = append(args, buf(i))
		}
		args = append(args, val(uint32(n)))
		cs = append(cs, line(Case{Buffers: buffers, Args: args}, n, 256).named(object, kernel, ""))
	}
	add("arith_f32", in.wild32(n), in.wild32(n), in.wild32(n), blank(4*12*n).as(F32))
	add("arith_f64", in.wild64(n), in.wild64(n), in.wild64(n), blank(8*12*n).as(F64))
	add("round_f32", in.wild32(n), blank(4*6*n).as(F32))
	add("round_f64", in.wild64(n), blank(8*6*n).as(F64))
	add("minmax_f32", in.wild32(n), in.wild32(n), in.wild32(n), blank(4*5*n).as(F32ZerosSame))
	add("minmax_f64", in.wild64(n), in.wild64(n), in.wild64(n), blank(8*5*n).as(F64ZerosSame))
	add("compare_f32", in.wild32(n), in.wild32(n), blank(4*n))
	add("compare_f64", in.wild64(n), in.wild64(n), blank(4*n))
	add("convert", in.wild32(n), in.wild64(n), in.u64s(n), blank(8*16*n))
	add("series_f32", fill(n, func(int) float32 { return in.Float32()*3 + 0.01 }), blank(4*4*n).as(F32))
	add("series_f64", fill(n, func(int) float64 { return in.Float64()*3 + 0.01 }), blank(8*4*n).as(F64))
	return cs
}

func arithIntCases(in input, object string) []*Case {
	const n = 1500
	last := val(uint32(n))
	two := []Arg{buf(0), buf(1), buf(2), last}
	one := []Arg{buf(0), buf(1), last}
	return []*Case{
		line(Case{Buffers: []Buffer{in.u64s(n), in.u64s(n), blank(8 * 28 * n)}, Args: two}, n, 256).named(object, "arith_i64", ""),
		line(Case{Buffers: []Buffer{in.u32s(n), in.u32s(n), blank(4 * 26 * n)}, Args: two}, n, 256).named(object, "arith_i32", ""),
		line(Case{Buffers: []Buffer{in.u64s(n), blank(8 * 4 * n)}, Args: one}, n, 256).named(object, "numbers", ""),
		line(Case{Buffers: []Buffer{in.u64s(n), blank(8 * 4 * n)}, Args: one}, n, 256).named(object, "carries", ""),
	}
}

func controlCases(in input, object string) []*Case {
	var cs []*Case
	for _, n := range sizes {
		last := val(uint32(n))
		add := func(kernel string, c Case) { cs = append(cs, line(c, n, 256).named(object, kernel, "n=%d", n)) }
		add("collatz", Case{Buffers: []Buffer{in.below(n, 5000), blank(4 * n)}, Args: []Arg{buf(0), buf(1), last, val(uint32(150))}})
		add("switches", Case{Buffers: []Buffer{in.u32s(n), blank(4 * n)}, Args: []Arg{buf(0), buf(1), last}})
		add("nested", Case{Buffers: []Buffer{in.u32s(n), blank(4 * n)}, Args: []Arg{buf(0), buf(1), last}})
		add("early_return", Case{Buffers: []Buffer{in.u32s(n), in.below(n, 1000)}, Args: []Arg{buf(0), buf(1), last}})
		add("short_circuit", Case{Buffers: []Buffer{in.below(n, 120), in.below(100, 2000), blank(4 * n)},
			Args: []Arg{buf(0), buf(1), buf(2), last, val(uint32(100))}})
	}
	life := Case{Buffers: []Buffer{in.u8s(512), blank(512)}, Args: []Arg{buf(0), buf(1), val(uint32(10))}}
	grid := Case{Buffers: []Buffer{blank(4 * 30 * 12 * 8)}, Args: []Arg{buf(0)}, Grid: [3]uint32{3, 4, 2}, Block: [3]uint32{10, 3, 4}}
	return append(cs, line(life, 512, 256).named(object, "life", ""), grid.named(object, "identity3", ""))
}

func scratchCases(in input, object string) []*Case {
	var cs []*Case
	for _, n := range []int{1, 100, 700} {
		args := []Arg{buf(0), buf(1), val(uint32(n))}
		add := func(kernel string, buffers ...Buffer) {
			cs = append(cs, line(Case{Buffers: buffers, Args: args}, n, 128).named(object, kernel, "n=%d", n))
		}
		add("sort_private", in.u32s(n), blank(4*n))
		add("tables_private", in.u32s(n), blank(8*n))
		add("spills", in.u32s(n), blank(4*n))
		add("many_registers", in.u32s(n), blank(4*n))
		add("spills_f64", fill(n, func(int) float64 { return in.Float64() }), blank(8*n).as(F64))
	}
	return cs
}

func callsCases(in input, object string) []*Case {
	var cs []*Case
	for _, n := range []int{1, 100, 500} {
		args := []Arg{buf(0), buf(1), val(uint32(n))}
		add := func(kernel string, args []Arg, buffers ...Buffer) {
			cs = append(cs, line(Case{Buffers: buffers, Args: args}, n, 128).named(object, kernel, "n=%d", n))
		}
		add("calls", args, in.u32s(n), blank(8*n))
		add("recursion", args, in.u32s(n), blank(4*n))
		add("function_pointers", append(args[:3:3], val(uint32(n))), in.u32s(n), blank(4*n))
		add("frames", args, in.u32s(n), blank(4*n))
	}
	return cs
}

func memoryCases(in input, object string) []*Case {
	var cs []*Case
	for _, n := range []int{1, 100, 600} {
		last := val(uint32(n))
		add := func(kernel string, args []Arg, buffers ...Buffer) {
			cs = append(cs, line(Case{Buffers: buffers, Args: args}, n, 128).named(object, kernel, "n=%d", n))
		}
		two := []Arg{buf(0), buf(1), buf(2), last}
		add("bytes_i8", two, in.u8s(n), in.u8s(n), blank(n))
		add("bytes_u8", two, in.u8s(n), in.u8s(n), blank(n))
		add("halves_i16", two, in.u16s(n), in.u16s(n), blank(6*n))
		add("halves_u16", two, in.u16s(n), in.u16s(n), blank(6*n))
		add("vectors", []Arg{buf(0), buf(1), buf(2), buf(3), last}, in.u32s(4*n), in.u32s(3*n), in.u32s(2*n), blank(16*n))
		add("unaligned", []Arg{buf(0), buf(1), last}, in.u8s(3*n+16), blank(9*n+9))
	}
	cs = append(cs, line(Case{Buffers: []Buffer{in.u8s(256), blank(8 * 256)}, Args: []Arg{buf(0), buf(1)}}, 256, 64).
		named(object, "widths_lds", ""))
	for _, s := range [][2]int{{16, 16}, {50, 21}} {
		w, h := s[0], s[1]
		grid := Case{Grid: [3]uint32{uint32(w+15) / 16, uint32(h+15) / 16, 1}, Block: [3]uint32{16, 16, 1}}
		t, b := grid, grid
		t.Buffers, t.Args = []Buffer{in.u32s(w * h), blank(4 * w * h)}, []Arg{buf(0), buf(1), val(uint32(w)), val(uint32(h))}
		b.Buffers, b.Args = []Buffer{in.u8s(w * h), blank(w * h)}, []Arg{buf(0), buf(1), val(int32(w)), val(int32(h))}
		cs = append(cs, t.named(object, "transpose", "%dx%d", w, h), b.named(object, "blur", "%dx%d", w, h))
	}
	// struct parcel { u8 tag; f64 weight; u16 size[3]; }
	parcel := append(raw[uint8](200, 0, 0, 0, 0, 0, 0, 0), raw(12345.5)...)
	parcel = append(parcel, raw[uint16](7, 700, 60000, 0)...)
	args := Case{Buffers: []Buffer{blank(8 * 64)}, Args: []Arg{buf(0), val(uint8(250)), val(int8(-3)), val(uint16(65000)),
		val(int16(-1234)), val(in.Uint32()), val(float32(1e6)), val(in.Uint64()), val(1e15),
		{Buffer: -1, Data: parcel, Align: 8}}}
	return append(cs, line(args, 64, 64).named(object, "arguments", ""))
}

func variablesCases(in input, object string) []*Case {
	const n = 300
	poly := Case{Buffers: []Buffer{in.f32s(n), blank(4 * n).as(F32)}, Args: []Arg{buf(0), buf(1), val(uint32(n))},
		Set: []Variable{{"coefficients", raw[float32](1, -2, 3, -4, 5, -6, 7, -0.5)}}}
	constant := Case{Buffers: []Buffer{in.f32s(n), blank(4 * n).as(F32)}, Args: poly.Args,
		Set: []Variable{{"coefficients", raw[float32](1, -0.5, 0.25, -0.125, 3, 5, 7, 11)}}}
	table := in.u64s(64)
	globals := Case{Buffers: []Buffer{blank(8 * 64)}, Args: []Arg{buf(0), val(uint32(9))},
		Set:  []Variable{{"launches", raw[uint32](5)}, {"big_table", table.Data}, {"uninitialised", in.u32s(16).Data}},
		Read: []string{"launches", "big_table", "uninitialised"}}
	functions := Case{Buffers: []Buffer{in.u32s(n), blank(4 * n)}, Args: []Arg{buf(0), buf(1), val(uint32(n))}}
	return []*Case{
		line(poly, n, 64).named(object, "polynomial", "set"),
		line(constant, n, 64).named(object, "polynomial", "initial"),
		line(globals, 64, 64).named(object, "globals", ""),
		line(functions, n, 64).named(object, "function_table", ""),
	}
}

func dynamicLDSCases(in input, object string) []*Case {
	var cs []*Case
	for _, block := range []int{1, 64, 256, 1024} {
		n := 3 * block
		c := Case{Shared: uint32(4 * block), Buffers: []Buffer{in.u32s(n), blank(4 * n)}, Args: []Arg{buf(0), buf(1)}}
		cs = append(cs, line(c, n, block).named(object, "reverse", "block=%d", block))
		c.Buffers = []Buffer{in.u32s(n), blank(4 * n), blank(3 * 16)}
		c.Args = []Arg{buf(0), buf(1), buf(2)}
		if block >= 4 {
			cs = append(cs, line(c, n, block).named(object, "bitonic", "block=%d", block))
		}
	}
	return cs
}

func lanesCases(in input, object string) []*Case {
	var cs []*Case
	for _, n := range []int{64, 768} {
		for _, k := range []struct {
			name  string
			width int
		}{{"wave_sum", 4}, {"wave_scan", 4}, {"votes", 8}, {"exchanges", 4}, {"distinct", 4}} {
			c := Case{Buffers: []Buffer{in.u32s(n), blank(k.width * n)}, Args: []Arg{buf(0), buf(1)}}
			cs = append(cs, line(c, n, min(n, 256)).named(object, k.name, "n=%d", n))
		}
	}
	return cs
}

func randomCases(in input, object string) []*Case {
	const n = 500
	return []*Case{
		line(Case{Buffers: []Buffer{blank(16 * n)}, Args: []Arg{buf(0), val(in.Uint64()), val(in.Uint64()), val(uint32(n))}}, n, 256).
			named(object, "philox", ""),
		line(Case{Buffers: []Buffer{blank(4 * n).as(F32)}, Args: []Arg{buf(0), val(in.Uint64()), val(uint32(n))}}, n, 256).
			named(object, "uniform_f32", ""),
		line(Case{Buffers: []Buffer{in.u32s(16 * n), blank(32 * n)}, Args: []Arg{buf(0), buf(1), val(uint32(n))}}, n, 256).
			named(object, "sha256", ""),
	}
}
