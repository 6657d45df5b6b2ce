//go:build linux && amd64

package exec

import (
	"encoding/binary"
	"errors"
	flags "flag"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Programs of many blocks, executed by the instructions' functions and as
// machine code, translated at once or after some of it was executed.

var randomFor = flags.Duration("random-for", 0, "how long TestRandomPrograms tries new programs")

// programMachine is a machine whose memory and registers are those of random programs.
type programMachine struct {
	*machine
	data     uint64
	mem      []byte
	at, size uint64 // of code
	code     []byte
}

func newProgramMachine(t *testing.T, arch gcn.Arch) *programMachine {
	m := &programMachine{machine: newMachine(t, arch), size: 16 * page}
	m.blind = true
	m.V, m.A = registers(m.V, randVectors), registers(m.A, randVectors)
	m.setBases()
	m.data, m.mem = m.alloc(page)
	m.at, m.code = m.alloc(int(m.size))
	return m
}

// start gives registers and memory random contents.
func (m *programMachine) start(r *rand.Rand) {
	m.setMode(0xf0)
	m.fill(r, m.data)
	m.setMode(0xf0)
	for i := range m.mem {
		m.mem[i] = byte(r.Uint32())
	}
	m.setS64(randData, m.data)
	words := uint32(page)
	for i, v := range []uint32{uint32(m.data), uint32(m.data >> 32), words, 0x00027fac, uint32(m.data), uint32(m.data>>32) | 16<<16, words / 16, 0x00027fac} {
		m.S[randBuffer+i] = v
	}
	m.setS64(randShared, sharedBase)
	for l := range 64 {
		m.V[randLane][l] = uint32(16 * l)
	}
	for i := randFree; i < 100; i++ {
		if r.IntN(2) == 0 {
			m.S[i] = wild32(r)
		}
	}
	for _, file := range [][]Vec{m.V[3:], m.A} {
		for i := range file {
			if r.IntN(3) == 0 {
				for l := range file[i] {
					file[i][l] = wild32(r)
				}
			}
		}
	}
	m.S[regM0] = uint32(r.IntN(64))
}

// load puts a program into memory.
func (m *programMachine) load(words []uint32) {
	for i, w := range words {
		binary.LittleEndian.PutUint32(m.code[4*i:], w)
	}
	m.prog.Invalidate(m.at, m.size)
}

var errTooLong = errors.New("not finished")

func (m *programMachine) run() error {
	m.wave.d.Entry = m.at
	m.wave.wg.s.first.Store(nil)
	m.wave.blk, m.wave.status = nil, running
	m.wave.wg.live = 1
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	var stop atomic.Bool
	switch f, done := m.wave.wg.turn(&stop); {
	case f != nil:
		return f
	case !done:
		return errTooLong
	}
	return nil
}

// compare executes a program both ways and says how they differ.
func (m *programMachine) compare(words []uint32, before *state, heats []int32) (diff string, err error) {
	after := &m.prog.options.TranslateAfter
	defer func(h int) { useNative, *after, endsLive = true, h, true }(*after)
	scratch := slices.Clone(m.scratch)
	reset := func() {
		m.restore(before, m.mem)
		copy(m.scratch, scratch)
		m.setMode(0xf0)
	}
	useNative = false
	m.load(words)
	reset()
	err = m.run()
	if err == errTooLong {
		reset()
		return "", err
	}
	wanted, wantMode, wantScratch := m.save(m.mem), m.mode, slices.Clone(m.scratch)
	useNative = true
	for i := range 2 * len(heats) {
		*after = int(heats[i/2])
		endsLive = i%2 == 0 // otherwise only memory has to be alike
		m.load(words)
		for range 3 { // what is translated is executed again
			reset()
			err2 := m.run()
			got, want := m.save(m.mem), wanted
			want.V, want.A = slices.Clone(wanted.V), slices.Clone(wanted.A)
			if !endsLive {
				got.V, got.A, got.S = slices.Clone(wanted.V), slices.Clone(wanted.A), wanted.S
			}
			switch d := programsDiffer(&got, &want); {
			case (err == nil) != (err2 == nil) || err != nil && err.Error() != err2.Error():
				diff = "ends with " + errText(err2) + ", not " + errText(err)
			case d != "":
				diff = d
			case m.mode != wantMode:
				diff = "MODE"
			case !slices.Equal(m.scratch, wantScratch):
				diff = "scratch"
			default:
				continue
			}
			reset()
			return diff, err
		}
	}
	reset()
	return "", err
}

// programsDiffer says where two states differ; NaNs of the type that a register is of are alike.
func programsDiffer(got, want *state) string {
	for i, f := range [][2][]Vec{{got.V, want.V}, {got.A, want.A}} {
		for r := range f[0] {
			for l := range f[0][r] {
				x, y := f[0][r][l], f[1][r][l]
				if x == y {
					continue
				}
				alike := false
				switch {
				case r >= randF64:
					p := r &^ 1
					alike = isNaN64(f[0][p][l], f[0][p+1][l]) && isNaN64(f[1][p][l], f[1][p+1][l])
				case r >= randF32:
					alike = isNaN32(x) && isNaN32(y)
				case r >= randF16:
					alike = sameF16(uint64(x), uint64(y))
				}
				if !alike {
					return fmt.Sprintf("register %c%d lane %d: %#x, want %#x", "va"[i], r, l, x, y)
				}
			}
		}
	}
	clear(got.V)
	clear(want.V)
	clear(got.A)
	clear(want.A)
	return got.differs(want)
}

func isNaN64(lo, hi uint32) bool {
	f := f64(lo, hi)
	return f != f
}

func errText(err error) string {
	if err == nil {
		return "success"
	}
	return err.Error()
}

// smaller replaces instructions that the difference does not need by s_nop.
func (m *programMachine) smaller(p *randProgram, before *state, heats []int32) {
	for again := true; again; {
		again = false
		for n := len(p.at) / 2; n > 0; n /= 2 {
			for i := 0; i+n <= len(p.at)-1; i += n {
				from, to := p.at[i], p.at[i+n]
				old := slices.Clone(p.words[from:to])
				changed := false
				for _, at := range p.at[i : i+n] {
					in, err := gcn.Decode(p.arch, bytesOf(p.words), 4*at)
					if err != nil || in.Dst.Kind == gcn.VGPR && in.Dst.Index < randLane {
						continue // without its address an access means something else
					}
					for j := at; j < at+int(in.Len/4); j++ {
						changed = changed || p.words[j] != asmSOPP(0, 0)
						p.words[j] = asmSOPP(0, 0)
					}
				}
				if !changed {
					continue
				}
				if d, err := m.compare(p.words, before, heats); d == "" || err == errTooLong {
					copy(p.words[from:to], old)
				} else {
					again = true
				}
			}
		}
	}
}

func TestRandomPrograms(t *testing.T) {
	if !translates(t) {
		return
	}
	n := 100
	if testing.Short() {
		n = 30
	}
	names := map[string]bool{}
	for _, arch := range gcn.Archs() {
		if arch.WaveSize() != WaveSize { // nothing is translated
			continue
		}
		if arch == gcn.GFX950 {
			n /= 3 // it executes what gfx942 does
		}
		ops := randomOps(arch)
		m := newProgramMachine(t, arch)
		faults, long := 0, 0
		began := time.Now()
		seed := uint64(0)
		if *randomFor > 0 {
			seed = uint64(began.UnixNano())
		}
		i := 0
		for ; i < n || time.Since(began) < *randomFor; i++ {
			r := rand.New(rand.NewPCG(seed+uint64(i), uint64(arch)))
			p := newRandProgram(r, arch, ops, 20+r.IntN(150))
			if 4*len(p.words) > int(m.size) {
				continue
			}
			m.start(r)
			before := m.save(m.mem)
			heats := []int32{1, 2 + int32(r.IntN(3))}
			diff, err := m.compare(p.words, &before, heats)
			switch {
			case diff != "":
				m.smaller(p, &before, heats)
				diff, _ = m.compare(p.words, &before, heats)
				t.Fatalf("%s: program %d of seed %d: %s; EXEC %#x\n%s", arch, i, seed, diff, before.S[regEXEC:regEXEC+2], p)
			case err == errTooLong:
				long++
			case err != nil:
				faults++
				if testing.Verbose() && faults < 6 {
					t.Logf("%v", err)
				}
			}
			for n := range p.names {
				names[n] = true
			}
		}
		t.Logf("%s: %d programs, %d ended with a fault, %d took too long", arch, i, faults, long)
		if faults+long > i/10 {
			t.Errorf("%s: %d of %d programs do not come to their end", arch, faults+long, i)
		}
	}
	t.Logf("%d mnemonics", len(names))
}
