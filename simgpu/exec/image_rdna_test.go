package exec

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// sampler puts an S# in s[8:11].
func (m *machine) sampler(clamp uint32, linear, unorm bool) {
	m.S[8], m.S[9], m.S[10], m.S[11] = clamp|clamp<<3|clamp<<6, 4095<<12, 0, 0
	if unorm {
		m.S[8] |= 1 << 15
	}
	if linear {
		m.S[10] = 1<<20 | 1<<22
	}
}

// sampleForm is an instruction of RDNA that samples, as its name says.
type sampleForm struct {
	op       string
	dims     int
	layered  bool
	offset   bool
	before   int // addresses before the coordinates
	register int // that the first coordinate is in
	addr     string
}

// form has the addresses from v0 on, or in registers that lie apart.
func form(op string, dims int, layered, apart bool) (f sampleForm) {
	f = sampleForm{op: op, dims: dims, layered: layered}
	n := dims
	if layered {
		n++
	}
	parts := strings.Split(op, "_")[2:]
	for _, p := range parts {
		switch p {
		case "o":
			f.offset = true
			f.before++
		case "b":
			f.before++
		case "d":
			if slices.Contains(parts, "g16") {
				f.before += 2 * ((dims + 1) / 2)
			} else {
				f.before += 2 * dims
			}
		case "l", "cl":
			n++
		}
	}
	all := f.before + n
	f.register = f.before
	f.addr = fmt.Sprintf("v[0:%d]", all-1)
	if all == 1 {
		f.addr = "v0"
	}
	if apart && all > 1 && all <= 5 {
		var list []string
		for i := range all {
			list = append(list, fmt.Sprintf("v%d", i))
		}
		f.addr = "[" + strings.Join(list, ", ") + "]"
	}
	return f
}

func (f *sampleForm) dim() string {
	d := fmt.Sprintf("%dD", f.dims)
	if f.layered {
		d += "_ARRAY"
	}
	return d
}

// spaced is how LLVM prints an instruction: with one more space before registers that lie apart.
func spaced(text string) string {
	if strings.Contains(text, ", [") {
		return strings.Replace(text, " ", "  ", 1)
	}
	return text
}

// TestImageSampleRDNA: every form of sampling, in the ways that their addresses can be given, is what sampling is, with numbers of texels added.
func TestImageSampleRDNA(t *testing.T) {
	arch := gcn.GFX1100.Wave64()
	m := newMachine(t, arch)
	r := rand.New(rand.NewPCG(21, 1))
	forms, gathers := 0, 0
	for _, info := range gcn.Ops(arch) {
		op := info.Op.String()
		kind, ok := samplingOf(op)
		if !ok {
			continue
		}
		for _, k := range []struct {
			kind    uint32
			w, h, d int
			dims    int
		}{{8, 16, 1, 1, 1}, {9, 9, 7, 1, 2}, {10, 5, 4, 3, 3}, {13, 6, 5, 4, 2}} {
			if kind.gather && k.dims != 2 {
				continue
			}
			p := m.picture(k.kind, k.w, k.h, k.d, 4, 8, numUnorm)
			p.fillRandom(r)
			for _, apart := range []bool{false, true} {
				f := form(op, k.dims, k.kind >= 12, apart)
				if strings.HasPrefix(op, "image_sample_d") && f.before+f.dims > 9 {
					continue // of three dimensions there are more, but not in one group for this assembler
				}
				for _, clamp := range []uint32{2, 6} {
					linear, unorm := r.IntN(2) == 0, r.IntN(2) == 0
					m.describe(p)
					m.sampler(clamp, linear, unorm)
					var at, shifted [64][3]float64
					var layer [64]int
					size := [3]int{k.w, k.h, k.d}
					for i := range 64 {
						for v := range 16 {
							m.V[v][i] = r.Uint32()
						}
						var off [3]int
						if f.offset {
							off = [3]int{r.IntN(9) - 4, r.IntN(9) - 4, r.IntN(9) - 4}
							m.V[0][i] = m.V[0][i]&0xffc0c0c0 | uint32(off[0]&63) | uint32(off[1]&63)<<8 | uint32(off[2]&63)<<16
						}
						for d := range k.dims {
							x := float32(r.IntN(3*256*size[d])-256*size[d]) / 256 // of texels, so that an offset adds to it exactly
							shifted[i][d] = float64(x) + float64(off[d])
							if !unorm {
								x /= float32(size[d])
							}
							at[i][d] = float64(x)
							m.V[f.register+d][i] = math.Float32bits(x)
						}
						if f.layered {
							layer[i] = r.IntN(k.d)
							m.V[f.register+k.dims][i] = math.Float32bits(float32(layer[i]))
						}
					}
					text := fmt.Sprintf("%s v[16:19], %s, s[0:7], s[8:11] dmask:0xf dim:SQ_RSRC_IMG_%s", op, f.addr, f.dim())
					if kind.gather {
						text = strings.Replace(text, "0xf", "0x4", 1)
						gathers++
					}
					m.inst(spaced(text), assemble(t, arch, text)...)
					for i := range 64 {
						var want [4]float64
						if kind.gather {
							x, y := math.Floor(shifted[i][0]-0.5), math.Floor(shifted[i][1]-0.5)
							for j, c := range [4][2]float64{{0, 1}, {1, 1}, {1, 0}, {0, 0}} {
								want[j] = reference(p, [3]float64{x + c[0] + 0.5, y + c[1] + 0.5}, 2, layer[i], clamp, false, true)[2]
							}
						} else {
							want = reference(p, shifted[i], k.dims, layer[i], clamp, linear, true)
						}
						for c := range 4 {
							if got := float64(math.Float32frombits(m.V[16+c][i])); math.Abs(got-want[c]) > 1e-5 {
								t.Fatalf("%s, address mode %d, linear %v: lane %d at %v, layer %d: component %d is %v, want %v", text, clamp, linear, i, shifted[i], layer[i], c, got, want[c])
							}
						}
					}
					forms++
				}
			}
		}
	}
	if forms < 150 || gathers < 40 {
		t.Errorf("%d forms, %d of them of four texels", forms, gathers)
	}
}

// TestImageApart: the fifth address and those behind it are one group; coordinates of 16 bits share registers, whatever lies before them.
func TestImageApart(t *testing.T) {
	arch := gcn.GFX1100.Wave64()
	m := newMachine(t, arch)
	p := m.picture(9, 8, 4, 1, 1, 32, numUint)
	p.fillRandom(rand.New(rand.NewPCG(4, 4)))
	for _, c := range []struct {
		text    string
		x, y, s int // registers, and how far up in them y is
		half    bool
	}{
		{"image_sample_d v6, [v20, v22, v24, v26, v[30:31]], s[0:7], s[8:11] dmask:0x1 dim:SQ_RSRC_IMG_2D", 30, 31, 0, false},
		{"image_sample_b_o v6, [v20, v22, v3, v1], s[0:7], s[8:11] dmask:0x1 dim:SQ_RSRC_IMG_2D", 3, 1, 0, false},
		{"image_sample_l v6, [v2, v30], s[0:7], s[8:11] dmask:0x1 dim:SQ_RSRC_IMG_2D a16", 2, 2, 16, true},
		{"image_sample_b v6, v[2:3], s[0:7], s[8:11] dmask:0x1 dim:SQ_RSRC_IMG_2D a16", 3, 3, 16, true},
		{"image_sample_d_g16 v6, [v20, v22, v3, v1], s[0:7], s[8:11] dmask:0x1 dim:SQ_RSRC_IMG_2D", 3, 1, 0, false},
	} {
		m.describe(p)
		m.sampler(2, false, true)
		for i := range 64 {
			for v := range 32 {
				m.V[v][i] = 0
			}
			x, y := float32(i%8)+0.5, float32(i/8%4)+0.5
			if c.half {
				m.V[c.x][i] = uint32(f32to16(x)) | uint32(f32to16(y))<<16
			} else {
				m.V[c.x][i], m.V[c.y][i] = math.Float32bits(x), math.Float32bits(y)
			}
		}
		m.inst(spaced(c.text), assemble(t, arch, c.text)...)
		for i := range 64 {
			if want := p.raw(i%8, i/8%4, 0, 0); m.V[6][i] != want {
				t.Errorf("%s: lane %d is %#x, want %#x", c.text, i, m.V[6][i], want)
				break
			}
		}
	}
}

// TestImageRefused: what an image of the card cannot be, and what of instructions is not simulated, is a fault.
func TestImageRefused(t *testing.T) {
	arch := gcn.GFX1100.Wave64()
	load := "image_load v6, v[0:1], s[0:7] dmask:0x1 dim:SQ_RSRC_IMG_2D unorm"
	for what, c := range map[string]struct {
		text   string
		change func(m *machine)
	}{
		"levels":           {load, func(m *machine) { m.S[3] |= 1 << 16 }},
		"a first level":    {load, func(m *machine) { m.S[3] |= 1 << 12 }},
		"more levels":      {load, func(m *machine) { m.S[1] |= 1 << 16 }},
		"tiles":            {load, func(m *machine) { m.S[3] |= 5 << 20 }},
		"no format":        {load, func(m *machine) { m.S[1] &^= 0xff << 20 }},
		"a graphics one":   {load, func(m *machine) { m.S[1] |= 0xff << 20 }},
		"rows of 12 bytes": {load, func(m *machine) { m.S[1], m.S[3] = m.S[1]&^(0xff<<20)|58<<20, m.S[3]&^(15<<28)|13<<28 }},
		"status":           {"image_load v[6:7], v[0:1], s[0:7] dmask:0x1 dim:SQ_RSRC_IMG_2D unorm tfe", func(*machine) {}},
		"samples":          {"image_load v6, v[0:2], s[0:7] dmask:0x1 dim:SQ_RSRC_IMG_2D_MSAA unorm", func(*machine) {}},
		"two filters":      {"image_sample v6, v[0:1], s[0:7], s[8:11] dmask:0x1 dim:SQ_RSRC_IMG_2D", func(m *machine) { m.S[10] = 1 << 20 }},
		"depths":           {"image_sample_c v6, v[0:2], s[0:7], s[8:11] dmask:0x1 dim:SQ_RSRC_IMG_2D", func(*machine) {}},
		"a cube":           {"image_sample v6, v[0:2], s[0:7], s[8:11] dmask:0x1 dim:SQ_RSRC_IMG_CUBE", func(*machine) {}},
	} {
		m := newMachine(t, arch)
		p := m.picture(9, 8, 4, 1, 1, 32, numFloat)
		m.describe(p)
		m.sampler(2, false, true)
		for i := range 64 {
			m.V[0][i], m.V[1][i] = 1, 1
		}
		c.change(m)
		var f *Fault
		if err := m.exec(assemble(t, arch, c.text)...); !errors.As(err, &f) || f.Kind != InstructionFault {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestImageApartUsed: whoever looks at what an instruction reads finds all registers with its addresses.
func TestImageApartUsed(t *testing.T) {
	arch := gcn.GFX1100.Wave64()
	text := "image_sample_d v6, [v20, v22, v24, v26, v[30:31]], s[0:7], s[8:11] dmask:0x1 dim:SQ_RSRC_IMG_2D"
	in, err := gcn.Decode(arch, bytesOf(assemble(t, arch, text)), 0)
	if err != nil {
		t.Fatal(err)
	}
	used := map[int]bool{}
	for _, o := range registersUsed(&in) {
		if o.Kind == gcn.VGPR {
			for r := range max(1, int(o.Width)) {
				used[int(o.Index)+r] = true
			}
		}
	}
	if want := []int{6, 20, 22, 24, 26, 30, 31}; !slices.Equal(slices.Sorted(maps.Keys(used)), want) {
		t.Errorf("%s uses %v, want %v", text, used, want)
	}
}
