//go:build linux && amd64

package exec

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// TestTranscendentalTranslated compares the bits that the functions of the instructions and machine code make of
// numbers of all magnitudes, and of those near which their steps change. NaNs are alike.
func TestTranscendentalTranslated(t *testing.T) {
	if !translates(t) {
		return
	}
	defer func() { useNative = true }()
	n := 3000
	if testing.Short() {
		n = 300
	}
	near := []float32{0, 1, 0.5, 2, 0.25, 0.75, 0.125, 0.375, math.Sqrt2, math.Sqrt2 / 2, 256, 255.75, 1024, -126, -149, 128, 1.0 / 3, math.MaxFloat32, float32(math.Inf(1))}
	for _, name := range []string{"exp", "log", "sin", "cos", "sqrt", "rsq", "rcp", "fract", "frexp_mant"} {
		m := newMachine(t, gcn.GFX90A)
		m.blind = true
		_, mem := m.alloc(page)
		words := assemble(t, gcn.GFX90A, "v_"+name+"_f32 v6, v0")
		r := rand.New(rand.NewPCG(1, uint64(len(name))))
		m.setMode(0xf0)
		m.setS64(regEXEC, ^uint64(0))
		if returns, err := m.translated(t, words); returns != 0 || err != nil {
			t.Fatalf("%s: %d exits, %v", name, returns, err)
		}
		for range n {
			for l := range WaveSize {
				switch x := r.Uint32(); r.IntN(4) {
				case 0:
					m.V[0][l] = x
				case 1:
					m.V[0][l] = math.Float32bits(near[r.IntN(len(near))]) + uint32(r.IntN(9)) - 4 ^ x&(1<<31)
				case 2:
					m.V[0][l] = math.Float32bits(float32(r.IntN(4096)-2048) / 8)
				default:
					m.V[0][l] = math.Float32bits(float32(r.NormFloat64()))
				}
			}
			m.setS64(regEXEC, ^uint64(0))
			if err := m.runCode(); err != nil {
				t.Fatal(err)
			}
			got := m.save(mem)
			useNative = false
			err := m.runCode()
			useNative = true
			if err != nil {
				t.Fatal(err)
			}
			want := m.save(mem)
			for l := range WaveSize {
				if x, y := got.V[6][l], want.V[6][l]; x != y && !(isNaN32(x) && isNaN32(y)) {
					t.Fatalf("v_%s_f32 of %#x: %#x, translated %#x", name, m.V[0][l], y, x)
				}
			}
		}
	}
}
