//go:build linux && amd64

package exec

import (
	"encoding/binary"
	"errors"
	"maps"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Translated code against the functions that execute the same instructions.

// state is what an instruction may change.
type state struct {
	V, A []Vec
	S    [256]uint32
	lds  []byte
	mem  []byte
	priv []byte // scratch
}

func (m *machine) save(mem []byte) state {
	if n := m.prog.arch.WaveSize(); n < WaveSize { // nobody says what is in lanes that there are not
		for _, file := range [][]Vec{m.V, m.A} {
			for i := range file {
				clear(file[i][n:])
			}
		}
	}
	return state{slices.Clone(m.V), slices.Clone(m.A), m.S, slices.Clone(m.wg.lds), slices.Clone(mem), slices.Clone(m.scratch)}
}

// bothWays executes instructions that do not fail with their functions and as machine code, and says where the results differ and
// how often the code came back to Go.
func (m *machine) bothWays(t *testing.T, words []uint32, mem []byte) (differs string, returns int) {
	t.Helper()
	w := m.eachWay(t, words, mem)
	for _, err := range []error{w.err, w.translatedErr} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return w.differs(), w.returns
}

// ways is what instructions leave: with their functions, and as machine code.
type ways struct {
	before, want, got  state
	err, translatedErr error
	returns            int       // of the code to Go
	wantBytes          [2]uint64 // of device memory that it counts as read and written
	gotBytes           [2]uint64
	nans               nans // of what the instructions compute
}

// differs says where what they leave differs.
func (w *ways) differs() string { return w.got.differsFor(&w.want, w.nans) }

// nans are the formats whose NaNs are all alike.
type nans struct{ f16, f32, f64 bool }

// nansOf are those that instructions compute. All else is compared bit by bit.
func nansOf(arch gcn.Arch, words []uint32) (n nans) {
	for len(words) > 0 {
		in, err := gcn.Decode(arch, bytesOf(append(slices.Clone(words), 0, 0)), 0) // it looks at what a literal may be
		if err != nil {
			return nans{true, true, true}
		}
		for one := &in; one != nil; one = one.Dual {
			name, v := one.Op.String(), vops[one.Op.String()]
			n.f16 = n.f16 || strings.Contains(name, "f16") || v != nil && v.fl == isF16
			n.f32 = n.f32 || strings.Contains(name, "f32") || strings.Contains(name, "bf16")
			n.f64 = n.f64 || strings.Contains(name, "f64")
		}
		words = words[min(int(in.Len)/4, len(words)):]
	}
	return n
}

// eachWay executes instructions both ways from the same state.
func (m *machine) eachWay(t *testing.T, words []uint32, mem []byte) (w ways) {
	t.Helper()
	defer func() { useNative = true }()
	w.before, w.nans = m.save(mem), nansOf(m.prog.arch, words)
	bytes := func() [2]uint64 { return [2]uint64{m.wave.stats.ReadBytes, m.wave.stats.WriteBytes} }
	a := bytes()
	useNative = false
	w.err = m.exec(words...)
	w.want = m.save(mem)
	b := bytes()
	m.restore(&w.before, mem)
	useNative = true
	w.returns, w.translatedErr = m.translated(t, words)
	w.got = m.save(mem)
	c := bytes()
	for i := range a {
		w.wantBytes[i], w.gotBytes[i] = b[i]-a[i], c[i]-b[i]
	}
	return w
}

func (m *machine) restore(s *state, mem []byte) {
	copy(m.V, s.V)
	copy(m.A, s.A)
	m.S = s.S
	copy(m.wg.lds, s.lds)
	copy(m.scratch, s.priv)
	copy(mem, s.mem)
	m.wave.ldsOwner = nil // what machine code knew of addresses in registers was of others
}

// differs says where two states differ; NaNs of 32 bits are alike.
func (s *state) differs(o *state) string { return s.differsFor(o, nans{f32: true}) }

// differsFor says where they differ, but for NaNs.
func (s *state) differsFor(o *state, n nans) string {
	alike := func(x, y uint32) bool {
		return n.f32 && isNaN32(x) && isNaN32(y) || n.f16 && sameF16(uint64(x), uint64(y))
	}
	alike64 := func(f [2][]Vec, r, l int) bool { // of the pair from r on
		return n.f64 && r >= 0 && r+1 < len(f[0]) && isNaN64(f[0][r][l], f[0][r+1][l]) && isNaN64(f[1][r][l], f[1][r+1][l])
	}
	for _, f := range [][2][]Vec{{s.V, o.V}, {s.A, o.A}} {
		for r := range f[0] {
			for l := range f[0][r] {
				if x, y := f[0][r][l], f[1][r][l]; x != y && !alike(x, y) && !alike64(f, r, l) && !alike64(f, r-1, l) {
					return (&laneError{r, l, x, y}).Error()
				}
			}
		}
	}
	for i := range 128 {
		if s.S[i] != o.S[i] {
			return (&laneError{i, -1, s.S[i], o.S[i]}).Error() + " (scalar)"
		}
	}
	if s.S[regSCC] != o.S[regSCC] {
		return "SCC"
	}
	if !slices.Equal(s.lds, o.lds) {
		return "LDS"
	}
	if !slices.Equal(s.priv, o.priv) {
		return "scratch"
	}
	if !slices.Equal(s.mem, o.mem) {
		return "memory"
	}
	return ""
}

// runCode executes code that lies in the machine's page.
func (m *machine) runCode() error {
	m.wave.d.Entry = m.code
	m.wave.wg.s.first.Store(nil)
	m.wave.blk, m.wave.status = nil, running
	m.wave.wg.live = 1
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	var stop atomic.Bool
	if f, _ := m.wave.wg.turn(&stop); f != nil {
		return f
	}
	return nil
}

// translated executes code as machine code and says how often it came back to
// Go in the middle of a block.
func (m *machine) translated(t *testing.T, words []uint32) (returns int, err error) {
	returns = m.translate(t, words)
	return returns, m.runCode()
}

// translate makes machine code of it, which runCode executes until there is other code.
func (m *machine) translate(t *testing.T, words []uint32) (returns int) {
	m.prog.Invalidate(m.code, page)
	defer func(strip, few int) { leastOfStrip, leastOfFew = strip, few }(leastOfStrip, leastOfFew)
	m.translations++
	leastOfStrip, leastOfFew = 1+m.translations%2, 1+m.translations/2%2
	for i, c := range append(slices.Clone(words), endOf(m.prog.arch)) {
		binary.LittleEndian.PutUint32(m.codeData[4*i:], c)
	}
	b := m.prog.block(m.code)
	m.prog.mu.Lock()
	m.prog.translate(b, len(m.V), len(m.A))
	m.prog.mu.Unlock()
	e := b.entry.Load()
	if e == nil {
		t.Fatal("not translated")
	}
	for _, x := range e.r.exits {
		if x.kind == exitOps && x.to > x.from {
			returns++
		}
	}
	return returns
}

// fill gives registers values that are numbers, addresses in the LDS or in mem.
func (m *machine) fill(r *rand.Rand, mem uint64) {
	m.scramble(r)
	if r.IntN(4) != 0 {
		m.setMode(0xf0) // the usual mode
	}
	m.setS64(regEXEC, execPatterns[r.IntN(len(execPatterns))])
	if r.IntN(3) == 0 {
		m.setS64(regEXEC, r.Uint64())
	}
	for i := range m.V {
		base := uint32(r.IntN(1100)) - 40
		for l := range m.V[i] {
			switch i % 8 {
			case 0: // dwords one after the other
				m.V[i][l] = base + uint32(4*l)
			case 1:
				m.V[i][l] = uint32(r.IntN(1020))
			case 2:
				m.V[i][l] = base
			case 3, 4:
				m.V[i][l] = boundary32[r.IntN(len(boundary32))]
			case 5:
				m.V[i][l] = wild32(r)
			}
		}
	}
	for i := range 100 {
		if r.IntN(3) == 0 {
			m.S[i] = wild32(r)
		}
	}
	for i := range m.wg.lds {
		m.wg.lds[i] = byte(r.Uint32())
	}
}

// point makes the address operands of an instruction point to mem, most of the time.
func (m *machine) point(r *rand.Rand, in *gcn.Inst, mem uint64) {
	start := mem + uint64(r.IntN(page-64*16))
	kind := r.IntN(8)
	if kind < 2 && in.Data.Width > 1 {
		kind = 2 // which lane's dwords are there at last is not defined if they overlap
	}
	at := func(l int) uint64 {
		switch kind {
		case 0, 1:
			return start + uint64(4*l)
		case 2:
			return start + uint64(16*l)
		case 3:
			return start
		case 4: // over the end of the page
			return mem + page - 256 + uint64(16*l)
		case 5:
			return mem + uint64(16*((l*37+11)%64))
		case 6:
			if l == 20 {
				return r.Uint64()
			}
		}
		return mem + uint64(r.IntN(page/16-1)*16)
	}
	if in.Enc == gcn.SCRATCH { // 256 bytes of each lane
		unit := []int{4, 4, 4, 1}[r.IntN(4)]
		base := r.IntN(280/unit) * unit
		if in.Base.Kind == gcn.SGPR {
			m.S[in.Base.Index&127] = uint32(base) - uint32(in.Offset)
			base = 0
		} else {
			base -= int(in.Offset)
		}
		for l := range 64 {
			if in.Addr.Kind == gcn.VGPR {
				m.V[in.Addr.Index][l] = uint32(base + r.IntN(40)*unit)
			}
		}
		return
	}
	if in.Enc == gcn.SMEM {
		if in.Base.Kind == gcn.SGPR && in.Base.Index < 126 {
			m.setS64(uint8(in.Base.Index), at(r.IntN(64))-uint64(int64(in.Offset)))
		}
		if in.SOffset.Kind == gcn.SGPR {
			m.S[in.SOffset.Index] = uint32(r.IntN(64))
		}
		return
	}
	saddr := in.Base.Kind == gcn.SGPR && in.Base.Index < 126
	if saddr {
		m.setS64(uint8(in.Base.Index), mem-uint64(int64(in.Offset)))
	}
	if in.Addr.Kind != gcn.VGPR || in.Addr.Index > 254 {
		return
	}
	for l := range 64 {
		if saddr {
			m.V[in.Addr.Index][l] = uint32(at(l) - mem)
		} else {
			m.set64(int(in.Addr.Index), l, at(l)-uint64(int64(in.Offset)))
		}
	}
}

// pointBuffer makes the operands of an instruction describe a buffer in mem, most of
// the time.
func (m *machine) pointBuffer(r *rand.Rand, in *gcn.Inst, mem uint64) {
	last := 96
	if m.prog.arch.Has(gcn.RDNA) {
		last = 100
	}
	if in.Base.Kind != gcn.SGPR || int(in.Base.Index) > last {
		return
	}
	v := m.S[in.Base.Index:][:4]
	v[0], v[1], v[2], v[3] = uint32(mem), uint32(mem>>32), uint32(page-r.IntN(2)*1024), 0
	switch r.IntN(10) {
	case 0:
		v[1] |= 1 << 31
	case 1:
		v[3] = 1 << 23
	case 2:
		v[2] = uint32(r.IntN(64))
	case 3, 4:
		m.pointScratch(r, in, v)
		return
	}
	if in.SOffset.Kind == gcn.SGPR && in.SOffset.Index < 100 && (in.SOffset.Index < in.Base.Index || in.SOffset.Index > in.Base.Index+3) {
		m.S[in.SOffset.Index] = uint32(r.IntN(16) * 4)
	}
	if in.Addr.Kind != gcn.VGPR {
		return
	}
	stride, start := []int{1, 2, 4, 8, 12, 16}[r.IntN(6)], r.IntN(2048)&^3
	if n := int(in.Data.Width) * 4; stride < n {
		stride = n // which lane's dwords are there at last is not defined if they overlap
	}
	for l := range 64 {
		m.V[in.Addr.Index][l] = uint32(start + stride*l)
		if r.IntN(100) == 0 && in.Data.Kind == gcn.None {
			m.V[in.Addr.Index][l] = r.Uint32()
		}
	}
}

// pointScratch is pointBuffer for the descriptor of scratch, of which each lane has 256 bytes.
func (m *machine) pointScratch(r *rand.Rand, in *gcn.Inst, v []uint32) {
	v[0], v[1], v[2], v[3] = 0, 1<<15|uint32(r.IntN(2))<<31, ^uint32(0), uint32(r.IntN(2))<<23
	start := 0
	if r.IntN(2) == 0 {
		n := r.IntN(8)
		v[0], start = uint32(256*n), 4*n
	}
	if in.SOffset.Kind == gcn.SGPR && in.SOffset.Index < 100 && (in.SOffset.Index < in.Base.Index || in.SOffset.Index > in.Base.Index+3) {
		at := r.IntN(60)
		m.S[in.SOffset.Index] = uint32(WaveSize * 4 * at)
		start += 4 * at
	}
	if in.Addr.Kind != gcn.VGPR {
		return
	}
	unit := []int{4, 4, 2, 1}[r.IntN(4)]
	for l := range 64 {
		m.V[in.Addr.Index][l] = uint32(r.IntN(40)*unit - start - int(in.Offset))
	}
}

// translates reports whether anything is translated here, and says so if not.
func translates(t *testing.T) bool {
	switch {
	case !useNative:
		t.Log("nothing is translated: this processor has no AVX2")
	case *translate < 0:
		t.Log("nothing is translated: -translate")
	default:
		return true
	}
	return false
}

// TestNativeNames: nothing is defined for an instruction that no target has.
func TestNativeNames(t *testing.T) {
	there := map[string]bool{}
	for _, arch := range append(slices.Clone(arches), gcn.GFX950, gcn.GFX1100) {
		for _, info := range gcn.Ops(arch) {
			there[info.Op.String()] = true
		}
	}
	for _, names := range []map[string]emitter{nativeScalar, nativeVector, nativeMemory} {
		for name := range names {
			if !there[name] {
				t.Errorf("%s is no instruction", name)
			}
		}
	}
}

func TestNativeInstructions(t *testing.T) {
	if !translates(t) {
		return
	}
	defer func() { useNative = true }()
	relatives := map[string]bool{"s_set_gpr_idx_on": true, "s_set_gpr_idx_off": true} // a block that ends like that is not translated; see TestRelativeMoves
	encodings := []struct{ bits, n uint32 }{{0x17d, 9}, {0x2, 2}, {0x17e, 9}, {0xb, 4}, {0x3f, 7}, {0x3e, 7}, {0, 1}, {0x34, 6}, {0x34, 6}, {0x34, 6}, {0x36, 6}, {0x1a7, 9},
		{0x37, 6}, {0x37, 6}, {0x30, 6}, {0x38, 6}}
	n := 90000
	if testing.Short() {
		n = 8000
	}
	seen := map[string]int{}
	for _, arch := range arches {
		m := newMachine(t, arch)
		m.blind = true
		data, mem := m.alloc(page)
		m.V, m.A = registers(m.V, 256), registers(m.A, 256)
		m.setBases()
		r := rand.New(rand.NewPCG(uint64(arch), 7))
		for i := range n {
			e := encodings[i%len(encodings)]
			words := []uint32{e.bits<<(32-e.n) | r.Uint32()>>e.n, r.Uint32(), r.Uint32()}
			switch op := uint32(i / len(encodings)); e.bits {
			case 0x34: // every opcode; fields of modifiers are mostly zero
				words[0] = words[0]&^(0x3ff<<16|0xff00) | op&0x3ff<<16
				words[1] &= 0x07ffffff
			case 0x1a7:
				words[0] = words[0]&^(0x7f<<16|0xff00) | op&0x7f<<16
			case 0x37:
				words[0] = words[0]&^(0x7f<<18|0x3<<14) | op&0x7f<<18 | []uint32{0, 1, 2, 2}[r.IntN(4)]<<14
				if r.IntN(2) == 0 {
					words[1] |= 0x7f << 16
				}
			case 0x38:
				words[0] = words[0]&^(0x7f<<18|1<<16) | op&0x7f<<18
				switch r.IntN(8) {
				case 0, 1, 2, 3:
					words[1] = words[1]&^(0xff<<24) | 128<<24 // no scalar offset
				case 4: // no operands
					words[0], words[1] = words[0]&^0xffff, 0
				}
			case 0x30:
				words[0] = words[0]&^(0xff<<18) | op&0x3f<<18
			case 0x36:
				words[0] = words[0]&^(0x1ff<<16) | op&0xff<<17
			}
			switch e.bits { // some with modifiers
			case 0x34:
				if r.IntN(3) == 0 {
					words[0] |= r.Uint32() & (7<<8 | 1<<15)
					words[1] |= r.Uint32() & (31 << 27)
				}
			case 0x3f, 0x3e, 0:
				if r.IntN(3) == 0 {
					words[0] = words[0]&^0x1ff | 249 + uint32(r.IntN(2)) // SDWA, DPP
				}
			}
			in, err := gcn.Decode(arch, bytesOf(words), 0)
			for tries, w := 0, uint32(0); err != nil && tries < 24; tries++ { // fields that are not used have to be zero
				if tries%3 == 0 {
					w = words[1]
				}
				if e.bits == 0x34 || e.bits == 0x1a7 {
					w &^= 0x1ff<<18 | uint32(r.IntN(2))*(0x1ff<<9)
				} else {
					w &^= 0xff << (8 + 8*r.IntN(3))
				}
				if in, err = gcn.Decode(arch, bytesOf([]uint32{words[0], w, words[2]}), 0); err == nil {
					words[1] = w
				}
			}
			name := ""
			if err == nil {
				name = in.Op.String()
			}
			if v := vops[name]; in.Form == gcn.FormSDWA && v != nil && v.fl != notFloat {
				continue // parts of NaNs
			}
			if nativeScalar[name] == nil && nativeVector[name] == nil && nativeMemory[name] == nil || controls[name] != nil {
				continue
			}
			if relatives[name] {
				continue
			}
			if i%8 == 0 {
				m.fill(r, data)
			} else {
				m.setS64(regEXEC, execPatterns[r.IntN(len(execPatterns))])
			}
			switch e.bits {
			case 0x37, 0x30:
				m.point(r, &in, data)
			case 0x38:
				m.pointBuffer(r, &in, data)
			}
			if strings.HasPrefix(name, "ds_write") && !strings.HasSuffix(name, "_b32") && in.Addr.Kind == gcn.VGPR {
				// Which lane's dwords are there at last is not defined if they overlap.
				for l := range 64 {
					m.V[in.Addr.Index][l] = uint32(16*l - r.IntN(2)*16)
				}
			}
			both := m.eachWay(t, words[:in.Len/4], mem)
			err1, err2 := both.err, both.translatedErr
			if (err1 == nil) != (err2 == nil) {
				t.Fatalf("%s: %s: %v, translated %v", arch, in.String(), err1, err2)
			}
			var f1, f2 *Fault
			if errors.As(err1, &f1) && errors.As(err2, &f2) && f1.Error() != f2.Error() {
				t.Fatalf("%s: %s: %v, translated %v", arch, in.String(), err1, err2)
			}
			if d := both.differs(); err1 == nil && d != "" {
				t.Fatalf("%s: %s: %s; EXEC %#x", arch, in.String(), d, both.before.S[regEXEC:regEXEC+2])
			}
			if err1 == nil {
				seen[name]++
			}
		}
	}
	there := map[string]bool{} // the others, of gfx950, are in TestMatrixKernels
	for _, arch := range arches {
		for _, info := range gcn.Ops(arch) {
			name := info.Op.String()
			there[name] = there[name] || Translated(arch, name)
		}
	}
	for _, names := range []map[string]emitter{nativeScalar, nativeVector, nativeMemory} {
		for _, name := range slices.Sorted(maps.Keys(names)) {
			if seen[name] == 0 && !testing.Short() && there[name] && !relatives[name] {
				t.Errorf("%s was never tried", name)
			}
		}
	}
}
