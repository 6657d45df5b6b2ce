package exec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// picture is an image in a test's memory, with what a reference needs of it.
type picture struct {
	kind       uint32
	w, h, d    int
	pitch      int
	components int
	bits       int
	num        uint32 // number format
	data       uint32 // data format
	addr       uint64
	bytes      []byte
}

// imageArches have image instructions. Waves of 64 lanes are of both.
var imageArches = []gcn.Arch{gcn.GFX90A, gcn.GFX1100.Wave64()}

// imageInst executes an image instruction: of gfx90a, whose code is given, or of RDNA.
func (m *machine) imageInst(text string, code [2]uint32, rdna string) {
	m.t.Helper()
	if m.prog.arch.Has(gcn.RDNA) {
		m.inst(rdna, assemble(m.t, m.prog.arch, rdna)...)
	} else {
		m.inst(text, code[:]...)
	}
}

// imageDim is what RDNA calls a kind of image, and the registers of its coordinates from v0 on.
func imageDim(kind uint32) (dim, addr string) {
	switch kind {
	case 8:
		return "1D", "v0"
	case 9:
		return "2D", "v[0:1]"
	case 10:
		return "3D", "v[0:2]"
	case 12:
		return "1D_ARRAY", "v[0:1]"
	default:
		return "2D_ARRAY", "v[0:2]"
	}
}

var dataFormats = map[[2]int]uint32{{1, 8}: 1, {1, 16}: 2, {2, 8}: 3, {1, 32}: 4, {2, 16}: 5, {4, 8}: 10, {2, 32}: 11, {4, 16}: 12, {4, 32}: 14}

func (m *machine) picture(kind uint32, w, h, d, components, bits int, num uint32) *picture {
	p := &picture{kind: kind, w: w, h: h, d: d, pitch: w + 3, components: components, bits: bits, num: num, data: dataFormats[[2]int{components, bits}]}
	if m.prog.arch.Has(gcn.RDNA) && kind >= 10 { // rows with slices or layers are of 256 bytes
		row := 256 * 8 / (components * bits)
		p.pitch = (w + row - 1) / row * row
	}
	p.addr, p.bytes = m.alloc(p.pitch * h * d * components * bits / 8)
	return p
}

// describe puts the T# in s[0:7].
func (m *machine) describe(p *picture) {
	sel := [5]uint32{1: 4 | 1<<9, 2: 4 | 5<<3 | 1<<9, 4: 4 | 5<<3 | 6<<6 | 7<<9}[p.components]
	if m.prog.arch.Has(gcn.RDNA) {
		format := p.bufferFormat(m.prog.arch) >> 12
		if p.num == numSRGB {
			format = 66 // 8_8_8_8_SRGB
		}
		last := uint32(p.d - 1)
		if p.kind <= 9 {
			last = uint32(p.pitch - 1)
		}
		copy(m.S[0:8], []uint32{
			uint32(p.addr >> 8), uint32(p.addr>>40) | format<<20 | uint32(p.w-1)&3<<30,
			uint32(p.w-1)>>2 | uint32(p.h-1)<<14, sel | p.kind<<28, last, 0, 0, 0,
		})
		return
	}
	copy(m.S[0:8], []uint32{
		uint32(p.addr >> 8), uint32(p.addr>>40) | p.data<<20 | p.num<<26,
		uint32(p.w-1) | uint32(p.h-1)<<14,
		sel | p.kind<<28,
		uint32(p.d-1) | uint32(p.pitch-1)<<13, 0, 0, 0,
	})
}

// element is where a component of a texel lies.
func (p *picture) element(x, y, z, c int) []byte {
	return p.bytes[(((z*p.h+y)*p.pitch+x)*p.components+c)*p.bits/8:]
}

// raw reads a component's bits.
func (p *picture) raw(x, y, z, c int) uint32 {
	switch b := p.element(x, y, z, c); p.bits {
	case 8:
		return uint32(b[0])
	case 16:
		return uint32(binary.LittleEndian.Uint16(b))
	default:
		return binary.LittleEndian.Uint32(b)
	}
}

// value is what the component means: a number for float formats, otherwise the
// integer.
func (p *picture) value(x, y, z, c int) float64 {
	if c >= p.components {
		return map[bool]float64{false: 0, true: 1}[c == 3]
	}
	v := p.raw(x, y, z, c)
	s := float64(int32(v<<(32-p.bits)) >> (32 - p.bits))
	switch p.num {
	case numUnorm:
		return float64(v) / (math.Pow(2, float64(p.bits)) - 1)
	case numSnorm:
		return math.Max(-1, s/(math.Pow(2, float64(p.bits-1))-1))
	case numUscaled, numUint:
		return float64(v)
	case numSscaled, numSint:
		return s
	case numFloat:
		if p.bits == 16 {
			return float64(f16to32(uint16(v)))
		}
		return float64(math.Float32frombits(v))
	case numSRGB:
		l := float64(v) / 255
		switch {
		case c == 3:
			return l
		case l <= 0.04045:
			return l / 12.92
		}
		return math.Pow((l+0.055)/1.055, 2.4)
	}
	panic("number format")
}

// fillRandom gives every component a value; floats are small numbers.
func (p *picture) fillRandom(r *rand.Rand) {
	for i := range p.bytes {
		p.bytes[i] = byte(r.Uint32())
	}
	if p.num != numFloat {
		return
	}
	for i := 0; i < len(p.bytes); i += p.bits / 8 {
		v := float32(r.NormFloat64() * 10)
		if p.bits == 16 {
			binary.LittleEndian.PutUint16(p.bytes[i:], f32to16(v))
		} else {
			binary.LittleEndian.PutUint32(p.bytes[i:], math.Float32bits(v))
		}
	}
}

// pictures calls f for every format that HIP's textures can have.
func pictures(m *machine, kind uint32, w, h, d int, f func(name string, p *picture)) {
	r := rand.New(rand.NewPCG(7, 8))
	nums := map[uint32]string{numUnorm: "unorm", numSnorm: "snorm", numUint: "uint", numSint: "sint", numFloat: "float", numSRGB: "srgb"}
	for _, components := range []int{1, 2, 4} {
		for _, bits := range []int{8, 16, 32} {
			for num, name := range nums {
				if num == numFloat && bits == 8 || bits == 32 && num < numUint || num == numSRGB && (bits != 8 || components != 4) {
					continue
				}
				p := m.picture(kind, w, h, d, components, bits, num)
				p.fillRandom(r)
				m.describe(p)
				f(fmt.Sprintf("%d components of %d bits, %s", components, bits, name), p)
			}
		}
	}
}

// want compares the four registers from v6 on with values.
func (p *picture) check(t *testing.T, m *machine, what string, lane int, want [4]float64, tolerance float64) {
	t.Helper()
	for c, x := range want {
		got := float64(math.Float32frombits(m.V[6+c][lane]))
		switch p.num {
		case numUint:
			got = float64(m.V[6+c][lane])
		case numSint:
			got = float64(int32(m.V[6+c][lane]))
		}
		if d := math.Abs(got - x); !(d <= tolerance*math.Max(1, math.Abs(x))) {
			t.Fatalf("%s: lane %d, component %d is %v, want %v", what, lane, c, got, x)
		}
	}
}

func (p *picture) texel(x, y, z int) (c [4]float64) {
	for i := range c {
		c[i] = p.value(x, y, z, i)
	}
	return c
}

// Every format by integer coordinates, inside and outside of images of every
// kind, read and written.
func TestImageLoadStore(t *testing.T) {
	for _, arch := range imageArches {
		imageLoadStore(t, arch)
	}
}

func imageLoadStore(t *testing.T, arch gcn.Arch) {
	for _, k := range []struct {
		kind    uint32
		w, h, d int
		da      bool
	}{{8, 40, 1, 1, false}, {9, 9, 7, 1, false}, {10, 5, 4, 3, false}, {12, 11, 1, 5, true}, {13, 6, 5, 4, true}} {
		m := newMachine(t, arch)
		dim, addr := imageDim(k.kind)
		r := rand.New(rand.NewPCG(1, uint64(k.kind)))
		pictures(m, k.kind, k.w, k.h, k.d, func(name string, p *picture) {
			at := func(i int) (x, y, z int, inside bool) {
				x, y, z = i%(k.w+1), i/2%(k.h+1), i/3%(k.d+1)
				switch k.kind {
				case 8:
					y, z = 0, 0
				case 9:
					z = 0
				case 12:
					y = 0
				}
				return x, y, z, x < k.w && y < k.h && z < k.d
			}
			for i := range 64 {
				x, y, z, _ := at(i)
				m.V[0][i], m.V[1][i], m.V[2][i] = uint32(x), uint32(y), uint32(z)
				if k.kind == 12 {
					m.V[1][i] = uint32(z)
				}
			}
			mask := r.Uint64() | 1
			m.setMask(mask)
			for c := range 4 {
				for i := range 64 {
					m.V[6+c][i] = 0xabcdef01
				}
			}
			da := uint32(0)
			text := ""
			if k.da {
				da, text = 1<<14, " da"
			}
			m.imageInst("image_load v[6:9], v0, s[0:7] dmask:0xf unorm"+text, [2]uint32{0xf0001f00 | da, 0x00000600},
				"image_load v[6:9], "+addr+", s[0:7] dmask:0xf dim:SQ_RSRC_IMG_"+dim+" unorm")
			for i := range 64 {
				x, y, z, inside := at(i)
				switch {
				case mask>>i&1 == 0:
					if m.V[6][i] != 0xabcdef01 || m.V[9][i] != 0xabcdef01 {
						t.Fatalf("%s: lane %d is not active and has changed", name, i)
					}
				case inside:
					p.check(t, m, name, i, p.texel(x, y, z), 1e-6)
				default:
					p.check(t, m, name+", outside", i, [4]float64{}, 0)
				}
			}
			if p.num == numSRGB {
				return
			}
			// What was read is written back where it came from, after the memory was overwritten.
			before := append([]byte(nil), p.bytes...)
			for i := range 64 {
				if x, y, z, inside := at(i); inside && mask>>i&1 != 0 {
					clear(p.element(x, y, z, 0)[:p.components*p.bits/8])
				}
			}
			m.imageInst("image_store v[6:9], v0, s[0:7] dmask:0xf unorm"+text, [2]uint32{0xf0201f00 | da, 0x00000600},
				"image_store v[6:9], "+addr+", s[0:7] dmask:0xf dim:SQ_RSRC_IMG_"+dim+" unorm")
			for i := range before {
				if before[i] == p.bytes[i] || p.num == numSnorm && before[i]^p.bytes[i] == 1 {
					continue // -128 and -127 are the same number
				}
				t.Fatalf("%s: byte %d was %#x and is %#x", name, i, before[i], p.bytes[i])
			}
		})
	}
}

// reference is how AMD's tests of textures say what sampling is: texels with 8
// bits of fraction, address modes by number of texel.
func reference(p *picture, c [3]float64, dims int, layer int, clamp uint32, linear, unorm bool) [4]float64 {
	size := [3]int{p.w, p.h, p.d}
	address := func(i, n int) (int, bool) {
		switch clamp {
		case 0:
			if !unorm {
				return ((i % n) + n) % n, true
			}
		case 1:
			if !unorm {
				turn := int(math.Floor(float64(i) / float64(n)))
				i -= turn * n
				if turn&1 != 0 {
					i = n - 1 - i
				}
				return i, true
			}
		case 6:
			return i, i >= 0 && i < n
		}
		return min(max(i, 0), n-1), true
	}
	at := func(i [3]int) (r [4]float64) {
		var q [3]int
		for k := range dims {
			j, ok := address(i[k], size[k])
			if !ok {
				return
			}
			q[k] = j
		}
		if dims < 3 {
			q[2] = layer
		}
		return p.texel(q[0], q[1], q[2])
	}
	var base [3]int
	var frac [3]float64
	for k := range dims {
		u := c[k]
		if !unorm {
			u *= float64(size[k])
		}
		if !linear {
			base[k] = int(math.Floor(math.Floor(u*256+0.5) / 256))
			continue
		}
		u = math.Floor(u*256+0.5)/256 - 0.5
		base[k] = int(math.Floor(u))
		frac[k] = u - math.Floor(u)
	}
	var sum [4]float64
	for corner := range 1 << dims {
		weight, i := 1.0, base
		for k := range dims {
			if corner>>k&1 != 0 {
				i[k]++
				weight *= frac[k]
			} else {
				weight *= 1 - frac[k]
			}
		}
		if weight == 0 {
			continue
		}
		for c, v := range at(i) {
			sum[c] += weight * v
		}
	}
	return sum
}

// Every format, filter and address mode, with coordinates of both kinds, in
// one, two and three dimensions and layers.
func TestImageSample(t *testing.T) {
	for _, arch := range imageArches {
		imageSamples(t, arch)
	}
}

func imageSamples(t *testing.T, arch gcn.Arch) {
	for _, k := range []struct {
		kind    uint32
		w, h, d int
		dims    int
		instr   string
		code    uint32
	}{
		{8, 16, 1, 1, 1, "", 0},
		{9, 9, 7, 1, 2, "", 0},
		{10, 5, 4, 3, 3, "", 0},
		{12, 8, 1, 5, 1, " da", 1 << 14},
		{13, 6, 5, 4, 2, " da", 1 << 14},
	} {
		m := newMachine(t, arch)
		dim, addr := imageDim(k.kind)
		r := rand.New(rand.NewPCG(3, uint64(k.kind)))
		pictures(m, k.kind, k.w, k.h, k.d, func(name string, p *picture) {
			for _, clamp := range []uint32{0, 1, 2, 6} {
				for _, linear := range []bool{false, true} {
					if linear && (p.num == numUint || p.num == numSint) {
						continue
					}
					for _, unorm := range []bool{false, true} {
						m.S[8], m.S[9], m.S[10], m.S[11] = clamp|clamp<<3|clamp<<6, 4095<<12, 0, 0
						if unorm {
							m.S[8] |= 1 << 15
						}
						if linear {
							m.S[10] = 1<<20 | 1<<22 | 2<<24
							if arch.Has(gcn.RDNA) {
								m.S[10] &^= 3 << 24 // slices are filtered as the plane is
							}
						}
						var at [64][3]float64
						layer := [64]int{}
						size := [3]int{k.w, k.h, k.d}
						for i := range 64 {
							for d := range k.dims {
								x := float32(r.Float64()*6 - 2.5)
								if unorm {
									x = float32(r.Float64()*float64(3*size[d])) - float32(size[d])
								}
								at[i][d] = float64(x)
								m.V[d][i] = math.Float32bits(x)
							}
							if k.kind >= 12 {
								l := r.Float64()*float64(k.d+3) - 2
								m.V[k.dims][i] = math.Float32bits(float32(l))
								layer[i] = min(max(int(math.RoundToEven(float64(float32(l)))), 0), k.d-1)
							}
						}
						what := fmt.Sprintf("kind %d, %s, address mode %d, linear %v, texel coordinates %v", k.kind, name, clamp, linear, unorm)
						m.imageInst("image_sample v[6:9], v0, s[0:7], s[8:11] dmask:0xf"+k.instr, [2]uint32{0xf0800f00 | k.code, 0x00400600},
							"image_sample_lz v[6:9], "+addr+", s[0:7], s[8:11] dmask:0xf dim:SQ_RSRC_IMG_"+dim)
						for i := range 64 {
							want := reference(p, at[i], k.dims, layer[i], clamp, linear, unorm)
							p.check(t, m, fmt.Sprintf("%s, at %v layer %d", what, at[i][:k.dims], layer[i]), i, want, 2e-6)
						}
					}
				}
			}
		})
	}
}

// Component masks, 16-bit data and coordinates, the border's colours, sizes.
func TestImageForms(t *testing.T) {
	for _, arch := range imageArches {
		imageForms(t, newMachine(t, arch))
		imageAtomics(t, newMachine(t, arch))
	}
}

func imageForms(t *testing.T, m *machine) {
	p := m.picture(9, 8, 4, 1, 4, 16, numSint)
	p.fillRandom(rand.New(rand.NewPCG(5, 6)))
	m.describe(p)
	for i := range 64 {
		m.V[0][i] = uint32(i%8) | uint32(i/8%4)<<16
	}
	m.imageInst("image_load v[6:7], v0, s[0:7] dmask:0xa unorm a16", [2]uint32{0xf0009a00, 0x00000600},
		"image_load v[6:7], v0, s[0:7] dmask:0xa dim:SQ_RSRC_IMG_2D unorm a16")
	m.imageInst("image_load v[10:11], v0, s[0:7] dmask:0xe unorm a16 d16", [2]uint32{0xf0009e00, 0x80000a00},
		"image_load v[10:11], v0, s[0:7] dmask:0xe dim:SQ_RSRC_IMG_2D unorm a16 d16")
	for i := range 64 {
		x, y := i%8, i/8%4
		if int32(m.V[6][i]) != int32(p.value(x, y, 0, 1)) || int32(m.V[7][i]) != int32(p.value(x, y, 0, 3)) {
			t.Fatalf("lane %d: masked components are %d %d", i, int32(m.V[6][i]), int32(m.V[7][i]))
		}
		if m.V[10][i] != p.raw(x, y, 0, 1)|p.raw(x, y, 0, 2)<<16 || m.V[11][i] != p.raw(x, y, 0, 3) {
			t.Fatalf("lane %d: halves are %#x %#x", i, m.V[10][i], m.V[11][i])
		}
		m.V[0][i] = 0
	}
	m.imageInst("image_get_resinfo v[6:9], v0, s[0:7] dmask:0xf unorm", [2]uint32{0xf0381f00, 0x00000600},
		"image_get_resinfo v[6:9], v0, s[0:7] dmask:0xf dim:SQ_RSRC_IMG_2D unorm")
	if got := [4]uint32{m.V[6][3], m.V[7][3], m.V[8][3], m.V[9][3]}; got != [4]uint32{8, 4, 1, 1} {
		t.Errorf("size is %v", got)
	}
	// A level that there is not.
	for i := range 64 {
		m.V[2][i] = uint32(i & 1)
		m.V[1][i] = 1
	}
	m.imageInst("image_load_mip v6, v0, s[0:7] dmask:0x1 unorm", [2]uint32{0xf0041100, 0x00000600},
		"image_load_mip v6, v[0:2], s[0:7] dmask:0x1 dim:SQ_RSRC_IMG_2D unorm")
	if int32(m.V[6][0]) != int32(p.value(0, 1, 0, 0)) || m.V[6][1] != 0 {
		t.Errorf("level 0 has %#x, level 1 %#x", m.V[6][0], m.V[6][1])
	}
	// The element as it lies there.
	m.imageInst("image_load_pck v[6:7], v0, s[0:7] dmask:0x3 unorm", [2]uint32{0xf0081300, 0x00000600},
		"image_load_pck v[6:7], v[0:1], s[0:7] dmask:0x3 dim:SQ_RSRC_IMG_2D unorm")
	if want := p.raw(0, 1, 0, 2) | p.raw(0, 1, 0, 3)<<16; m.V[7][5] != want {
		t.Errorf("packed element ends with %#x, want %#x", m.V[7][5], want)
	}
	// Borders.
	f := m.picture(9, 8, 4, 1, 4, 32, numFloat)
	m.describe(f)
	for kind, want := range [][4]float64{{0, 0, 0, 0}, {0, 0, 0, 1}, {1, 1, 1, 1}, {0, 0, 0, 0}} {
		m.S[8], m.S[9], m.S[10], m.S[11] = 6|6<<3|6<<6, 0, 0, uint32(kind)<<30
		for i := range 64 {
			m.V[0][i], m.V[1][i] = math.Float32bits(-2), math.Float32bits(0.5)
		}
		m.imageInst("image_sample v[6:9], v0, s[0:7], s[8:11] dmask:0xf", [2]uint32{0xf0800f00, 0x00400600},
			"image_sample v[6:9], v[0:1], s[0:7], s[8:11] dmask:0xf dim:SQ_RSRC_IMG_2D")
		f.check(t, m, fmt.Sprintf("border %d", kind), 17, want, 0)
	}
}

func imageAtomics(t *testing.T, m *machine) {
	p := m.picture(9, 8, 4, 1, 1, 32, numUint)
	m.describe(p)
	for i := range 64 {
		m.V[0][i], m.V[1][i] = uint32(i%16), uint32(i/16) // half of them outside
		m.V[2][i] = uint32(i + 1)
		m.V[6][i] = 1
	}
	m.imageInst("image_atomic_add v6, v0, s[0:7] dmask:0x1 unorm glc", [2]uint32{0xf0483100, 0x00000600},
		"image_atomic_add v6, v[0:1], s[0:7] dmask:0x1 dim:SQ_RSRC_IMG_2D unorm glc")
	for i := range 64 {
		if m.V[6][i] != 0 {
			t.Fatalf("lane %d: old value is %d", i, m.V[6][i])
		}
		if x, y := i%16, i/16; x < 8 && p.raw(x, y, 0, 0) != 1 {
			t.Fatalf("texel %d,%d is %d", x, y, p.raw(x, y, 0, 0))
		}
	}
	for i := range 64 {
		m.V[6][i], m.V[7][i] = 9, uint32(i&1)
	}
	m.imageInst("image_atomic_cmpswap v[6:7], v0, s[0:7] dmask:0x3 unorm glc", [2]uint32{0xf0443300, 0x00000600},
		"image_atomic_cmpswap v[6:7], v[0:1], s[0:7] dmask:0x3 dim:SQ_RSRC_IMG_2D unorm glc")
	for i := range 64 {
		if x, y := i%16, i/16; x < 8 && (p.raw(x, y, 0, 0) == 9) != (i&1 == 1) {
			t.Fatalf("texel %d,%d is %d", x, y, p.raw(x, y, 0, 0))
		}
	}
}

// Typed buffers of every format, with fewer components, halves, and bounds.
func TestTypedBuffer(t *testing.T) {
	for _, arch := range []gcn.Arch{gcn.GFX90A, gcn.GFX1100} {
		m := newMachine(t, arch)
		const load, store = "buffer_load_format_xyzw v[6:9], v0, s[0:3], 0 idxen", "buffer_store_format_xyzw v[6:9], v0, s[0:3], 0 idxen"
		lanes := arch.WaveSize()
		n := lanes * 5 / 8 // elements
		pictures(m, 8, n, 1, 1, func(name string, p *picture) {
			if p.num == numSRGB {
				return
			}
			stride := p.components * p.bits / 8
			m.S[0], m.S[1] = uint32(p.addr), uint32(p.addr>>32)|uint32(stride)<<16
			m.S[2], m.S[3] = uint32(n), m.S[3]&0xfff|p.bufferFormat(arch)
			for i := range lanes {
				m.V[0][i] = uint32(i)
			}
			m.inst(load, assemble(t, arch, load)...)
			for i := range lanes {
				want := p.texel(min(i, n-1), 0, 0)
				if i >= n { // 0, but for the components that are selected to be 1
					clear(want[:p.components])
				}
				p.check(t, m, name, i, want, 1e-6)
			}
			before := append([]byte(nil), p.bytes...)
			clear(p.bytes[:n*stride])
			m.inst(store, assemble(t, arch, store)...)
			for i := range before {
				if before[i] != p.bytes[i] && !(p.num == numSnorm && before[i]^p.bytes[i] == 1) {
					t.Fatalf("%v, %s: byte %d was %#x and is %#x", arch, name, i, before[i], p.bytes[i])
				}
			}
		})
	}
}

// bufferFormat is the picture's format where a buffer's descriptor has it. RDNA's numbers are those of LLVM's UfmtGFX11.
func (p *picture) bufferFormat(arch gcn.Arch) uint32 {
	if !arch.Has(gcn.RDNA) {
		return p.num<<12 | p.data<<15
	}
	first := map[[2]int]uint32{{1, 8}: 1, {1, 16}: 7, {2, 8}: 14, {1, 32}: 20, {2, 16}: 23, {4, 8}: 42, {2, 32}: 48, {4, 16}: 51, {4, 32}: 61}[[2]int{p.components, p.bits}]
	switch {
	case p.bits == 32: // uint, sint, float
		return (first + map[uint32]uint32{numUint: 0, numSint: 1, numFloat: 2}[p.num]) << 12
	case p.num == numFloat:
		return (first + 6) << 12
	}
	return (first + p.num) << 12
}

// TestUnifiedFormats: formats of RDNA that pictures have none of, from components of all ones, zeros and one.
func TestUnifiedFormats(t *testing.T) {
	m := newMachine(t, gcn.GFX1100)
	data, mem := m.alloc(page)
	ones := math.Float32bits(1)
	for format, want := range map[uint32]struct {
		name  string
		bytes uint64
		c     [4]uint32
	}{
		30: {"10_11_11_FLOAT", 0x3c0 | 0x3c0<<11 | 0x1e0<<22, [4]uint32{ones, ones, ones, ones}}, // x and y of 11 bits, z of 10
		31: {"11_11_10_FLOAT", 0x1e0 | 0x3c0<<10 | 0x3c0<<21, [4]uint32{ones, ones, ones, ones}},
		32: {"10_10_10_2_UNORM", 2 | 0x3ff<<2 | 5<<12 | 0x155<<22, [4]uint32{math.Float32bits(2. / 3), ones, math.Float32bits(5. / 1023), math.Float32bits(341. / 1023)}},
		40: {"2_10_10_10_UINT", 1 | 2<<10 | 3<<20 | 3<<30, [4]uint32{1, 2, 3, 3}},
		41: {"2_10_10_10_SINT", 0x3ff | 0x200<<10 | 3<<20 | 2<<30, [4]uint32{^uint32(0), ^uint32(0x1ff), 3, ^uint32(1)}},
		60: {"32_32_32_FLOAT", 0x3f80000040000000, [4]uint32{0x40000000, ones, 0x12345678, ones}},
	} {
		binary.LittleEndian.PutUint64(mem, want.bytes)
		binary.LittleEndian.PutUint32(mem[8:], 0x12345678)
		m.S[0], m.S[1], m.S[2], m.S[3] = uint32(data), uint32(data>>32)|16<<16, 32, 4|5<<3|6<<6|7<<9|format<<12
		clear(m.V[0][:])
		for _, text := range []string{
			"buffer_load_format_xyzw v[6:9], v0, s[0:3], 0 idxen",
			fmt.Sprintf("tbuffer_load_format_xyzw v[6:9], v0, s[0:3], 0 format:[BUF_FMT_%s] idxen", want.name),
		} {
			m.inst(text, assemble(t, gcn.GFX1100, text)...)
			c := want.c
			if text[0] == 't' && len(texelBits[unifiedFormat(uint8(format)).data]) == 3 {
				c[3] = 0 // of what has no descriptor's selection
			}
			if got := [4]uint32{m.V[6][3], m.V[7][3], m.V[8][3], m.V[9][3]}; got != c {
				t.Errorf("%s, %d: %#x, want %#x", text, format, got, c)
			}
		}
	}
}

// TestTypedHalvesRDNA: what a load of one or three components of 16 bits does not write stays as it is.
func TestTypedHalvesRDNA(t *testing.T) {
	m := newMachine(t, gcn.GFX1100)
	data, mem := m.alloc(page)
	copy(mem, []byte{1, 0, 2, 0, 3, 0, 4, 0})
	m.S[0], m.S[1], m.S[2], m.S[3] = uint32(data), uint32(data>>32)|8<<16, 1, 4|5<<3|6<<6|7<<9|55<<12
	for text, want := range map[string][2]uint32{
		"buffer_load_d16_format_x v6, v0, s[0:3], 0 idxen":                                          {0xdead0001, 0xdeadbeef},
		"buffer_load_d16_format_xy v6, v0, s[0:3], 0 idxen":                                         {0x00020001, 0xdeadbeef},
		"buffer_load_d16_format_xyz v[6:7], v0, s[0:3], 0 idxen":                                    {0x00020001, 0xdead0003},
		"buffer_load_d16_format_xyzw v[6:7], v0, s[0:3], 0 idxen":                                   {0x00020001, 0x00040003},
		"buffer_load_d16_hi_format_x v6, v0, s[0:3], 0 idxen":                                       {0x0001beef, 0xdeadbeef},
		"tbuffer_load_d16_format_xyz v[6:7], v0, s[0:3], 0 format:[BUF_FMT_16_16_16_16_UINT] idxen": {0x00020001, 0xdead0003},
	} {
		for i := range m.V[0] {
			m.V[0][i], m.V[6][i], m.V[7][i] = 0, 0xdeadbeef, 0xdeadbeef
		}
		m.inst(text, assemble(t, gcn.GFX1100, text)...)
		if got := [2]uint32{m.V[6][5], m.V[7][5]}; got != want {
			t.Errorf("%s: %#x, want %#x", text, got, want)
		}
	}
	m.S[3] = 4 | 5<<3 | 6<<6 | 7<<9 | 11<<12 // 16_UINT
	m.V[6][0] = 0x00070008
	for text, want := range map[string]byte{"buffer_store_d16_format_x v6, v0, s[0:3], 0 idxen": 8, "buffer_store_d16_hi_format_x v6, v0, s[0:3], 0 idxen": 7} {
		m.setS64(regEXEC, 1)
		m.inst(text, assemble(t, gcn.GFX1100, text)...)
		if mem[0] != want || mem[2] != 2 {
			t.Errorf("%s: %v", text, mem[:4])
		}
	}
}

// The forms of typed buffer instructions with 16-bit registers: the format may
// be the buffer's or the instruction's, and a half that is not loaded is 0.
func TestTypedBufferHalves(t *testing.T) {
	m := newMachine(t, gcn.GFX90A)
	p := m.picture(8, 64, 1, 1, 4, 16, numSint)
	p.fillRandom(rand.New(rand.NewPCG(11, 12)))
	m.S[0], m.S[1] = uint32(p.addr), uint32(p.addr>>32)|8<<16
	m.S[2], m.S[3] = 64, 4|5<<3|6<<6|7<<9|p.num<<12|p.data<<15
	for i := range 64 {
		m.V[0][i] = uint32(i)
	}
	for n, forms := range [][2][]uint32{
		{words("buffer_load_format_d16_x v6, v0, s[0:3], 0 idxen", 0xe0202000, 0x80000600),
			words("tbuffer_load_format_d16_x v6, v0, s[0:3], 0 format:[BUF_DATA_FORMAT_16_16_16_16,BUF_NUM_FORMAT_SINT] idxen", 0xeae42000, 0x80000600)},
		{words("buffer_load_format_d16_xy v6, v0, s[0:3], 0 idxen", 0xe0242000, 0x80000600),
			words("tbuffer_load_format_d16_xy v6, v0, s[0:3], 0 format:[BUF_DATA_FORMAT_16_16_16_16,BUF_NUM_FORMAT_SINT] idxen", 0xeae4a000, 0x80000600)},
		{words("buffer_load_format_d16_xyz v[6:7], v0, s[0:3], 0 idxen", 0xe0282000, 0x80000600),
			words("tbuffer_load_format_d16_xyz v[6:7], v0, s[0:3], 0 format:[BUF_DATA_FORMAT_16_16_16_16,BUF_NUM_FORMAT_SINT] idxen", 0xeae52000, 0x80000600)},
		{words("buffer_load_format_d16_xyzw v[6:7], v0, s[0:3], 0 idxen", 0xe02c2000, 0x80000600),
			words("tbuffer_load_format_d16_xyzw v[6:7], v0, s[0:3], 0 format:[BUF_DATA_FORMAT_16_16_16_16,BUF_NUM_FORMAT_SINT] idxen", 0xeae5a000, 0x80000600)},
	} {
		for _, code := range forms {
			for i := range 64 {
				m.V[6][i], m.V[7][i] = 0xdeadbeef, 0xdeadbeef
			}
			if err := m.exec(code...); err != nil {
				t.Fatal(err)
			}
			for i := range 64 {
				var want [4]uint32
				for c := range n + 1 {
					want[c] = p.raw(i, 0, 0, c)
				}
				if m.V[6][i] != want[0]|want[1]<<16 || n > 1 && m.V[7][i] != want[2]|want[3]<<16 {
					t.Fatalf("%d components, lane %d: %#x %#x, want %#x", n+1, i, m.V[6][i], m.V[7][i], want)
				}
			}
		}
	}
	m.inst("buffer_load_format_d16_hi_x v6, v0, s[0:3], 0 idxen", 0xe0982000, 0x80000600)
	before := append([]byte(nil), p.bytes...)
	for i := range 64 {
		if m.V[6][i] != p.raw(i, 0, 0, 0)<<16 {
			t.Fatalf("lane %d: the upper half is %#x", i, m.V[6][i])
		}
	}
	m.S[2] = 32 // the rest is beyond the buffer
	m.inst("buffer_store_format_d16_hi_x v6, v0, s[0:3], 0 idxen", 0xe09c2000, 0x80000600)
	for i := range 64 {
		want := binary.LittleEndian.Uint64(before[8*i:])
		if i < 32 {
			want &= 0xffff // a store of one component writes the element: the others are 0
		}
		if got := binary.LittleEndian.Uint64(p.bytes[8*i:]); got != want {
			t.Fatalf("element %d is %#x, want %#x", i, got, want)
		}
	}
}

// A descriptor comes from the program: whatever it says, nothing outside of
// device memory is touched, and what makes no sense is a fault.
func TestImageTrust(t *testing.T) {
	for _, arch := range imageArches {
		imageTrust(t, arch)
	}
}

func imageTrust(t *testing.T, arch gcn.Arch) {
	r := rand.New(rand.NewPCG(9, 10))
	m := newMachine(t, arch)
	codes := [][]uint32{{0xf0001f00, 0x00000600}, {0xf0201f00, 0x00000600}, {0xf0800f00, 0x00400600}, {0xf0805f00, 0x00400600},
		{0xf0483100, 0x00000600}, {0xf0389f00, 0x00000600}, {0xe00c2000, 0x80000600}, {0xe01c2000, 0x80000600}}
	if arch.Has(gcn.RDNA) {
		codes = nil
		for _, dim := range []string{"1D v0", "2D v[0:1]", "3D v[0:2]", "CUBE v[0:2]", "1D_ARRAY v[0:1]", "2D_ARRAY v[0:2]"} {
			dim, addr, _ := strings.Cut(dim, " ")
			for _, text := range []string{"image_load v[6:9], %s, s[0:7] dmask:0xf", "image_store v[6:9], %s, s[0:7] dmask:0xf", "image_sample_lz v[6:9], %s, s[0:7], s[8:11] dmask:0xf",
				"image_gather4_lz v[6:9], %s, s[0:7], s[8:11] dmask:0x2", "image_atomic_add v6, %s, s[0:7] dmask:0x1"} {
				codes = append(codes, assemble(t, arch, fmt.Sprintf(text, addr)+" dim:SQ_RSRC_IMG_"+dim))
			}
		}
	}
	addr, _ := m.alloc(1 << 16)
	for range 3000 {
		for i := range 12 {
			m.S[i] = r.Uint32()
		}
		if r.IntN(3) > 0 { // one that means something
			m.S[0], m.S[1] = uint32(addr>>8), uint32(addr>>40)|m.S[1]&^0xff
			m.S[3] &^= 31 << 20
			m.S[3] = m.S[3]&^(15<<28) | uint32(8+r.IntN(6))<<28
			if arch.Has(gcn.RDNA) { // one level, a format
				m.S[1], m.S[3] = m.S[1]&^(0xfff<<16)|(1+r.Uint32N(71))<<20, m.S[3]&^(0xff<<12)
			}
		}
		for i := range 64 {
			m.V[0][i], m.V[1][i], m.V[2][i] = wild32(r), wild32(r), wild32(r)
		}
		for _, code := range codes {
			err := m.exec(code...)
			var f *Fault
			if err != nil && (!errors.As(err, &f) || f.Kind == InternalFault) {
				t.Fatalf("%#x with %#x: %v", code, m.S[:12], err)
			}
		}
	}
	if arch.Has(gcn.RDNA) {
		return
	}
	// Coordinates beyond the kernel's registers.
	p := m.picture(10, 2, 2, 2, 1, 32, numUint)
	m.describe(p)
	var f *Fault
	if err := m.exec(0xf0001100, 0x0000067e); !errors.As(err, &f) || f.Kind != RegisterFault {
		t.Errorf("coordinates in v[126:128] of 128: %v", err)
	}
}
