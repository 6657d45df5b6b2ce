package exec

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// FuzzExecute executes arbitrary code with arbitrary registers, some of which
// point to memory. Whatever it does, it ends, or goes on until its time slice is
// over, or faults; the simulator itself never fails and the memory around the
// allocated page stays as it is.
func FuzzExecute(f *testing.F) {
	for _, code := range [][]uint32{
		{0x7e0c0300, 0xd1130006, 0x00020500},             // v_mov_b32, v_and_b32
		{0xdc508000, 0x06040000, 0xdc708000, 0x00040600}, // global load and store
		{0xd8d80000, 0x06000000, 0xd81a0000, 0x00000600}, // LDS
		{0xd3c44020, 0x04820900},                         // MFMA
		{0xd3e28020, 0x04250900},                         // SMFMAC
		{0xe0501000, 0x80020600, 0xe0701000, 0x80020600}, // buffers
		{0xbf118601, 0x7e0c0300, 0xbf9c0000},             // register indices
	} {
		b := make([]byte, 0, 64)
		for _, c := range code {
			b = binary.LittleEndian.AppendUint32(b, c)
		}
		f.Add(uint64(1), b)
	}
	machines := map[gcn.Arch]*machine{}
	for _, arch := range arches {
		machines[arch] = newMachine(f, arch)
		machines[arch].blind = true
		machines[arch].alloc(page)
	}
	f.Fuzz(func(t *testing.T, seed uint64, code []byte) {
		if len(code) > page-8 {
			return
		}
		for _, arch := range arches {
			m := machines[arch]
			m.t = t
			m.scramble(rand.New(rand.NewPCG(seed, 0)))
			words := make([]uint32, len(code)/4)
			for i := range words {
				words[i] = binary.LittleEndian.Uint32(code[4*i:])
			}
			err := m.exec(words...)
			var fault *Fault
			if errors.As(err, &fault) && fault.Kind == InternalFault {
				t.Fatalf("%s: %v", arch, err)
			}
		}
	})
}

// scramble gives all registers values that often mean something as addresses.
func (m *machine) scramble(r *rand.Rand) {
	data := m.code + 2*page // the page allocated next
	word := func() (lo, hi uint32) {
		a := data + uint64(r.IntN(page))&^3
		switch r.IntN(6) {
		case 0:
			return uint32(r.IntN(64)), 0
		case 1:
			a = sharedBase + uint64(r.IntN(2048))
		case 2:
			a = privateBase + uint64(r.IntN(512))
		case 3:
			a = scratchWindow + uint64(r.IntN(16384)) | uint64(r.IntN(2))<<63
		case 4:
			a = r.Uint64()
		}
		return uint32(a), uint32(a >> 32)
	}
	for i := 0; i < 128; i += 2 {
		m.S[i], m.S[i+1] = word()
	}
	m.setS64(regEXEC, []uint64{^uint64(0), 0, 1, r.Uint64()}[r.IntN(4)])
	m.S[regSCC] = uint32(r.IntN(2))
	for i := 0; i+1 < len(m.V); i += 2 {
		for l := range 64 {
			m.V[i][l], m.V[i+1][l] = word()
		}
	}
	m.setMode(uint32(r.IntN(1 << 10)))
}

// TestRandomInstructions executes instructions of every encoding with random
// fields and registers, one at a time.
func TestRandomInstructions(t *testing.T) {
	// Leading bits of the encodings, and how many of them.
	encodings := []struct{ bits, n uint32 }{{0x17d, 9}, {0x2, 2}, {0x17e, 9}, {0xb, 4}, {0x30, 6}, {0x3f, 7}, {0x3e, 7}, {0, 1},
		{0x34, 6}, {0x34, 6}, {0x34, 6}, {0x1a7, 9}, {0x36, 6}, {0x37, 6}, {0x38, 6}, {0x3a, 6}}
	n := 60000
	if testing.Short() {
		n = 6000
	}
	for _, arch := range arches {
		m := newMachine(t, arch)
		m.blind = true
		m.alloc(page)
		m.V, m.A = registers(m.V, 240), registers(m.A, 240) // nearly all there are
		m.setBases()
		r := rand.New(rand.NewPCG(uint64(arch), 99))
		executed, kinds := 0, map[FaultKind]int{}
		for i := range n {
			e := encodings[i%len(encodings)]
			words := []uint32{e.bits<<(32-e.n) | r.Uint32()>>e.n, r.Uint32(), r.Uint32()}
			in, err := gcn.Decode(arch, bytesOf(words), 0)
			if err != nil || !Executable(arch, in.Info) || controls[in.Op.String()] != nil {
				continue // control is for other tests: a random jump may loop
			}
			if i%64 < 16 {
				m.scramble(r)
			}
			err = m.exec(words[:in.Len/4]...)
			var f *Fault
			switch {
			case err == nil:
				executed++
			case !errors.As(err, &f) || f.Kind == InternalFault:
				t.Fatalf("%s: %s: %v", arch, in.String(), err)
			default:
				kinds[f.Kind]++
			}
		}
		t.Logf("%s: %d executed, faults %v", arch, executed, kinds)
		if executed < n/20 || kinds[MemoryFault] == 0 || kinds[RegisterFault] == 0 || kinds[ScratchFault] == 0 {
			t.Errorf("%s: the instructions were not random enough: %d executed, faults %v", arch, executed, kinds)
		}
	}
}
