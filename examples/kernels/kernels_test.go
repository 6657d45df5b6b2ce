package kernels

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/rocwire/rocwire/codeobject"
)

// uncased are kernels that end in a fault or not at all, those that the runtime
// serves while they run, and those for which a CPU has nothing.
var uncased = []string{"spin_forever", "store_at", "store_one_astray", "load_at", "load_uniform_at", "atomic_at", "trap_if",
	"grid_rounds", "multi_rounds", "semaphore", "release_all", "late",
	"texture_sample", "texture_sample_layer", "texture_fetch", "reference_sample", "reference_fetch", "surface_read", "surface_write",
	"print_lines", "print_and_trap", "borrow", "give_back", "ask", "wreck", "printf_lines", "printf_much"}

// TestObjects checks that every object holds what its cases launch, with the
// arguments that they pass, and that no kernel is without a case.
func TestObjects(t *testing.T) {
	for _, arch := range Compiled {
		for _, name := range Objects() {
			image, err := Object(arch, name)
			if err != nil {
				t.Fatal(err)
			}
			o, err := codeobject.Parse(image)
			if err != nil {
				t.Fatalf("%s/%s: %v", arch, name, err)
			}
			if o.Target.Processor != arch {
				t.Errorf("%s/%s is for %s", arch, name, o.Target)
			}
			cased := map[string]bool{}
			for _, c := range CasesOf(name, 1) {
				k := o.Kernels[c.Kernel]
				if k == nil {
					t.Errorf("%s/%s: no kernel %s", arch, name, c.Kernel)
					continue
				}
				cased[c.Kernel] = true
				seg := c.Segment(func(int) uint64 { return 1 << 40 })
				if len(seg) != int(k.ExplicitSize) {
					t.Errorf("%s: %s: argument segment of %d bytes, the metadata says %d", arch, c.Name, len(seg), k.ExplicitSize)
				}
				if len(c.Args) != len(k.Args) {
					t.Errorf("%s: %s: %d arguments, the metadata says %d", arch, c.Name, len(c.Args), len(k.Args))
					continue
				}
				for i, a := range c.Args {
					if (a.Buffer >= 0) != k.Args[i].Kind.Pointer() {
						t.Errorf("%s: %s: argument %d is %v", arch, c.Name, i, k.Args[i].Kind)
					}
				}
				for _, v := range c.Set {
					if g := o.Globals[v.Name]; g == nil || g.Size != uint64(len(v.Data)) {
						t.Errorf("%s: %s: variable %s of %d bytes: %+v", arch, c.Name, v.Name, len(v.Data), g)
					}
				}
			}
			for k := range o.Kernels {
				if !cased[k] && !slices.Contains(uncased, k) {
					t.Errorf("%s/%s: kernel %s has no case", arch, name, k)
				}
			}
		}
	}
}

// TestCPU runs every case on the CPU and computes some results in Go as well.
func TestCPU(t *testing.T) {
	cpu, err := BuildCPU(t.TempDir(), 64)
	if err != nil {
		t.Fatal(err)
	}
	checked := map[string]int{}
	ran := map[string]*Result{}
	changed := map[string]bool{}
	for _, c := range Cases(7) {
		r, err := cpu.Run(c)
		if err != nil {
			t.Error(err)
			continue
		}
		changed[c.Kernel] = changed[c.Kernel] || !slices.EqualFunc(r.Buffers, c.Buffers,
			func(after []byte, before Buffer) bool { return string(after) == string(before.Data) })
		if err := c.Diff(r, r); err != nil {
			t.Error(err)
		}
		// The same launch for another object is the same.
		key := c.Kernel + c.Name[len(c.Object):]
		if first := ran[key]; first != nil {
			if err := c.Diff(first, r); err != nil {
				t.Errorf("not the same twice: %v", err)
			}
		}
		ran[key] = r
		if check := references[c.Kernel]; check != nil {
			check(t, cpu, c, r)
			checked[c.Kernel]++
		}
	}
	for k, c := range changed {
		if !c {
			t.Errorf("no case of %s changes anything", k)
		}
	}
	for k := range references {
		if checked[k] == 0 {
			t.Errorf("no case of %s ran", k)
		}
	}
}

func words(b []byte) []uint32 {
	v := make([]uint32, len(b)/4)
	for i := range v {
		v[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return v
}

func f32(v uint32) float32 { return math.Float32frombits(v) }

// references compute what kernels compute, independently.
var references = map[string]func(t *testing.T, cpu *CPU, c *Case, r *Result){
	"vector_add": func(t *testing.T, cpu *CPU, c *Case, r *Result) {
		a, b, got := words(r.Buffers[0]), words(r.Buffers[1]), words(r.Buffers[2])
		for i := range a {
			if f32(got[i]) != f32(a[i])+f32(b[i]) {
				t.Fatalf("%s: element %d is %v", c.Name, i, f32(got[i]))
			}
		}
	},
	"reduce_sum_u64": func(t *testing.T, cpu *CPU, c *Case, r *Result) {
		sum := binary.LittleEndian.Uint64(c.Buffers[1].Data)
		for _, v := range words(c.Buffers[0].Data) {
			sum += uint64(v)
		}
		if got := binary.LittleEndian.Uint64(r.Buffers[1]); got != sum {
			t.Errorf("%s: %d, want %d", c.Name, got, sum)
		}
	},
	"bitonic": func(t *testing.T, cpu *CPU, c *Case, r *Result) {
		in, got := words(c.Buffers[0].Data), words(r.Buffers[1])
		n := int(c.Block[0])
		for i := 0; i < len(in); i += n {
			want := slices.Sorted(slices.Values(in[i : i+n]))
			if !slices.Equal(want, got[i:i+n]) {
				t.Errorf("%s: workgroup %d is not sorted", c.Name, i/n)
			}
		}
	},
	"wave_scan": func(t *testing.T, cpu *CPU, c *Case, r *Result) {
		in, got := words(c.Buffers[0].Data), words(r.Buffers[1])
		sum := uint32(0)
		for i := range in {
			if i%64 == 0 {
				sum = 0
			}
			if sum += in[i]; got[i] != sum {
				t.Fatalf("%s: element %d is %d, want %d", c.Name, i, got[i], sum)
			}
		}
	},
	"distinct": func(t *testing.T, cpu *CPU, c *Case, r *Result) {
		in, got := words(c.Buffers[0].Data), words(r.Buffers[1])
		for i := range in {
			rank, size := uint32(0), uint32(0)
			for j := i &^ 63; j < i|63+1; j++ {
				if in[j]&7 == in[i]&7 {
					size++
					if j < i {
						rank++
					}
				}
			}
			if got[i] != rank<<8|size {
				t.Fatalf("%s: element %d is %#x, want rank %d of %d", c.Name, i, got[i], rank, size)
			}
		}
	},
	"sha256": func(t *testing.T, cpu *CPU, c *Case, r *Result) {
		// The kernel hashes one raw block. Its first block here is given padding,
		// so that the standard library can say the same.
		d := *c
		msg := []byte("rocwire")
		block := make([]byte, 64)
		copy(block, msg)
		block[len(msg)] = 0x80
		block[63] = byte(8 * len(msg))
		data := slices.Clone(c.Buffers[0].Data)
		for i := 0; i < 64; i += 4 {
			binary.LittleEndian.PutUint32(data[i:], binary.BigEndian.Uint32(block[i:]))
		}
		d.Buffers = []Buffer{{Data: data}, c.Buffers[1]}
		res, err := cpu.Run(&d)
		if err != nil {
			t.Fatal(err)
		}
		want := sha256.Sum256(msg)
		for i, v := range words(res.Buffers[1])[:8] {
			if v != binary.BigEndian.Uint32(want[4*i:]) {
				t.Fatalf("word %d of the hash is %#x", i, v)
			}
		}
	},
	"switches": func(t *testing.T, cpu *CPU, c *Case, r *Result) {
		for i, v := range words(c.Buffers[0].Data) {
			if got := words(r.Buffers[1])[i]; got != switches(v) {
				t.Fatalf("%s: element %d is %#x, want %#x", c.Name, i, got, switches(v))
			}
		}
	},
}

// switches is the kernel of that name.
func switches(v uint32) uint32 {
	acc := uint32(1)
	for round := uint32(0); round < 16; round, v = round+1, v*1664525+1013904223 {
		switch top := v >> 28; {
		case top <= 1:
			if top == 0 {
				acc += v
			}
			acc ^= round
		case top <= 3:
			continue
		case top == 4:
			acc = acc*3 + 1
		case top == 5:
			for k := v & 7; k > 0; k-- {
				acc += acc<<1 ^ k
			}
		case top <= 8:
			if top == 6 {
				acc -= 77
			}
			if top <= 7 {
				acc = ^acc
			}
			acc >>= 1
		case top == 9:
			round += 2
		case top == 15:
			if acc&1 != 0 {
				return acc
			}
		default:
			acc += v >> 5
		}
		if acc&0x1ff == 0x1ff {
			break
		}
		acc = acc<<7 | acc>>25
	}
	return acc
}

// TestDiff checks what counts as a difference.
func TestDiff(t *testing.T) {
	nan1, nan2 := raw(uint32(0x7fc00000)), raw(uint32(0xffc00001))
	zero, minus := raw(float64(0)), raw(math.Copysign(0, -1))
	for _, tt := range []struct {
		name      string
		want, got []byte
		typ       Type
		same      bool
	}{
		{"equal", []byte{1, 2, 3}, []byte{1, 2, 3}, Bits, true},
		{"tail", []byte{1, 2, 3, 4, 5}, []byte{1, 2, 3, 4, 6}, Bits, false},
		{"length", []byte{1}, []byte{1, 2}, Bits, false},
		{"NaN as bits", nan1, nan2, Bits, false},
		{"NaN as f32", nan1, nan2, F32, true},
		{"NaN and number", nan1, raw(float32(1)), F32, false},
		{"zeros", zero, minus, F64, false},
		{"zeros the same", zero, minus, F64ZerosSame, true},
	} {
		c := &Case{Name: tt.name, Buffers: []Buffer{{Data: tt.want, Type: tt.typ}}}
		err := c.Diff(&Result{Buffers: [][]byte{tt.want}}, &Result{Buffers: [][]byte{tt.got}})
		if (err == nil) != tt.same {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// TestInput checks that no input has a signalling NaN, on which the CPU and a
// device may differ.
func TestInput(t *testing.T) {
	in := input{rand.New(rand.NewPCG(1, 2))}
	nans := 0
	for _, v := range words(in.wild32(10_000).Data) {
		if math.IsNaN(float64(f32(v))) {
			nans++
			if v&0x400000 == 0 {
				t.Fatalf("signalling float %#x", v)
			}
		}
	}
	b := in.wild64(10_000).Data
	for ; len(b) > 0; b = b[8:] {
		v := binary.LittleEndian.Uint64(b)
		if math.IsNaN(math.Float64frombits(v)) {
			nans++
			if v&(1<<51) == 0 {
				t.Fatalf("signalling double %#x", v)
			}
		}
	}
	if nans < 100 {
		t.Errorf("only %d NaNs", nans)
	}
}
