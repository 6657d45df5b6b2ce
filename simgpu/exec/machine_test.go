package exec

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"runtime/debug"
	"sync/atomic"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

const endpgm = 0xbf810000

// endOf is s_endpgm.
func endOf(arch gcn.Arch) uint32 {
	if arch.Has(gcn.RDNA) {
		return 0xbfb00000
	}
	return endpgm
}

// machine executes instructions in one wave whose registers a test sets.
type machine struct {
	t testing.TB
	*device
	*wave
	code         uint64 // a page for it
	codeData     []byte
	translations int  // so far
	blind        bool // the test knows no results but those of the same instructions executed in another way
}

// newMachine makes a wave with 128 vector and 64 accumulation registers, 1 KiB
// of LDS and 256 bytes of scratch a lane.
func newMachine(t testing.TB, arch gcn.Arch) *machine {
	t.Helper()
	endsLive = true
	t.Cleanup(func() { endsLive = false })
	m := &machine{t: t, device: newDevice(t, arch, 4<<20)}
	lanes := uint32(arch.WaveSize())
	d := &Dispatch{
		Program: m.prog, Kernel: "test", Grid: [3]uint32{lanes, 1, 1}, Group: [3]uint32{lanes, 1, 1},
		DynamicLDS: 1024, ScratchPerLane: 256,
		// (23+1)*8 = 192 registers, accumulation registers from (31+1)*4 on; denormals on, DX10_CLAMP, IEEE
		Desc: Descriptor{Rsrc1: 23 | 0xaf0000, Rsrc3: 31},
	}
	s := &scheduler{d: d, groups: d.groups()}
	var err error
	if s.init, err = d.prepare(); err != nil {
		t.Fatal(err)
	}
	m.wave = newWorkgroup(s, 0, 0).waves[0]
	for i := range m.wave.V { // waves are reused
		m.wave.V[i] = Vec{}
	}
	clear(m.wave.scratch)
	m.code, m.codeData = m.alloc(page)
	return m
}

// exec executes code up to its end.
func (m *machine) exec(code ...uint32) error {
	m.t.Helper()
	if !m.blind {
		covers(m.prog.arch, code)
	}
	m.prog.Invalidate(m.code, page)
	for i, c := range append(code[:len(code):len(code)], endOf(m.prog.arch)) {
		binary.LittleEndian.PutUint32(m.codeData[4*i:], c)
	}
	m.wave.d.Entry = m.code
	m.wave.wg.s.first.Store(nil)
	m.wave.blk, m.wave.status = nil, running
	m.wave.wg.live = 1
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	var stop atomic.Bool
	fault, done := m.wave.wg.turn(&stop)
	if fault != nil {
		return fault
	}
	if !done {
		return errors.New("not finished")
	}
	return nil
}

// inst executes one instruction and checks that it is the one it says.
func (m *machine) inst(asm string, code ...uint32) {
	m.t.Helper()
	m.check(asm, code)
	if err := m.exec(code...); err != nil {
		m.t.Fatalf("%s: %v", asm, err)
	}
}

// check compares the disassembler's text.
func (m *machine) check(asm string, code []uint32) {
	m.t.Helper()
	b := make([]byte, 0, 16)
	for _, c := range code {
		b = binary.LittleEndian.AppendUint32(b, c)
	}
	in, err := gcn.Decode(m.prog.arch, b, 0)
	if err != nil {
		m.t.Fatalf("%s: %v", asm, err)
	}
	if got := in.String(); got != asm {
		m.t.Fatalf("the instruction is %q, not %q", got, asm)
	}
}

// set64 and get64 access a lane of a register pair.
func (m *machine) set64(r, lane int, v uint64) {
	m.V[r][lane], m.V[r+1][lane] = uint32(v), uint32(v>>32)
}

func (m *machine) get64(r, lane int) uint64 {
	return uint64(m.V[r][lane]) | uint64(m.V[r+1][lane])<<32
}

// setMask sets EXEC.
func (m *machine) setMask(e uint64) { m.setS64(regEXEC, e) }

// masks are the EXEC patterns that everything is tried with.
func masks(r *rand.Rand) []uint64 {
	return []uint64{^uint64(0), 0, 1, 1 << 63, 0x5555555555555555, 0xffffffff, r.Uint64(), r.Uint64() & r.Uint64() & r.Uint64()}
}

var edges32 = []uint32{0, 1, 2, 31, 32, 63, 64, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffff, 0x800000, 0xffffff, 0x7fffffff, 0x80000000, 0x80000001, 0xffffffff, 0xfffffffe,
	0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 0xffc01234, 0x7f7fffff, 0xff7fffff, 0x33800000, 0x4b800000, 0x3f7fffff, 0x00800001, 0x807fffff, 0x40490fdb,
	0x3c00, 0x7c00, 0xfc00, 0x7bff, 0x03ff, 0x0400, 0x8001, 0x7e01, 0x3c003c00}

func wild32(r *rand.Rand) uint32 {
	switch r.IntN(4) {
	case 0:
		return edges32[r.IntN(len(edges32))]
	case 1: // floats of similar size
		return math32(r.Float64()*4 - 2)
	}
	return r.Uint32()
}

func math32(x float64) uint32 { return b32(float32(x)) }

var edges64 = []uint64{0, 1, 2, 63, 64, 1 << 31, 1<<32 - 1, 1 << 32, 1<<53 - 1, 1 << 53, 1<<63 - 1, 1 << 63, 1<<63 | 1, ^uint64(0),
	0x3ff0000000000000, 0xbff0000000000000, 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0x7ff0000000000001, 0xfff8000000001234,
	0x7fefffffffffffff, 0xffefffffffffffff, 0x0010000000000000, 0x000fffffffffffff, 0x3fefffffffffffff, 0x3ca0000000000000, 0x41e0000000000000, 0x41dfffffffc00000, 0xc1e0000000200000}

func wild64(r *rand.Rand) uint64 {
	switch r.IntN(4) {
	case 0:
		return edges64[r.IntN(len(edges64))]
	case 1:
		return bits64(r.Float64()*4 - 2)
	}
	return r.Uint64()
}
