package exec

import (
	"context"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// All waves of a workgroup load x, the first one stores what it computes of that to x, and all use what they loaded, with no barrier
// between: on a card all of them have loaded before the first one stores. These are rounds of that, as rocSOLVER's potf2_kernel_small
// has them: with x in device memory, and in the LDS. s16 is the number of rounds. A work-item ends with the sum of what it loaded in v6.
// x starts as 1 and is doubled each round.
const (
	roundsBegin = "s_load_dwordx2 s[16:17], s[0:1], 0x0; v_lshrrev_b32_e32 v1, 6, v0; v_readfirstlane_b32 s8, v1; v_lshlrev_b32_e32 v2, 2, v0; " +
		"v_mov_b32_e32 v3, 0; v_mov_b32_e32 v6, 0; v_mov_b32_e32 v4, 1; ds_write_b32 v3, v4; s_mov_b32 s9, 0; s_waitcnt lgkmcnt(0); "
	roundsVM  = "round:; s_barrier; global_load_dword v4, v3, s[0:1] offset:32; s_waitcnt vmcnt(0); "
	roundsLDS = "round:; s_barrier; ds_read_b32 v4, v3; s_waitcnt lgkmcnt(0); "
	// Waves 1 and 2 do not load in every round: they come to the barrier at once.
	roundsSome = "round:; s_barrier; s_sub_i32 s11, s8, 1; s_cmp_lt_u32 s11, 2; s_cbranch_scc0 load; s_and_b32 s11, s9, s8; s_cbranch_scc1 all; load:; ds_read_b32 v4, v3; s_waitcnt lgkmcnt(0); "
	roundsBoth = "round:; s_barrier; ds_read_b32 v5, v3; s_waitcnt lgkmcnt(0); v_mov_b32_e32 v7, v5; global_load_dword v4, v3, s[0:1] offset:32; s_waitcnt vmcnt(0); "
	// Wave 3 does what is not translated while the others have given way, and wave 1 is the one that stores.
	roundsOut    = "round:; s_barrier; s_cmp_eq_u32 s8, 3; s_cbranch_scc0 load; s_getreg_b32 s11, hwreg(HW_REG_MODE); load:; ds_read_b32 v4, v3; s_waitcnt lgkmcnt(0); v_lshlrev_b32_e32 v5, 1, v4; s_cmp_eq_u32 s8, 1; s_cbranch_scc0 all; "
	roundsStore  = "v_lshlrev_b32_e32 v5, 1, v4; s_cmp_eq_u32 s8, 0; s_cbranch_scc0 all; "
	roundsToVM   = "global_store_dword v3, v5, s[0:1] offset:32; "
	roundsToLDS  = "ds_write_b32 v3, v5; "
	roundsAll    = "all:; v_add_u32_e32 v6, v6, v4; s_barrier; s_add_i32 s9, s9, 1; s_cmp_lt_u32 s9, s16; s_cbranch_scc1 round; "
	roundsEnd    = "v_mov_b32_e32 v7, s2; v_lshl_add_u32 v2, v7, 10, v2; global_store_dword v2, v6, s[0:1] offset:64; s_endpgm"
	roundsNoLoop = "all:; v_add_u32_e32 v6, v6, v4; s_barrier; "
)

// rounds executes a program of them, and returns what the work-items of each workgroup stored.
func rounds(t *testing.T, text string, after, groups, workers int, n uint32) (out [][256]uint32, stats Stats) {
	t.Helper()
	d := newDevice(t, gcn.GFX90A, 1<<20)
	d.prog = NewProgram(gcn.GFX90A, d.mem, Options{TranslateAfter: after})
	buf, data := d.alloc(4 * page)
	x := d.assemble(buf, uint32(groups), 256, assemble(t, gcn.GFX90A, text))
	x.DynamicLDS = 1024
	binary.LittleEndian.PutUint32(data, n)
	binary.LittleEndian.PutUint32(data[32:], 1)
	stats, err := x.Run(context.Background(), workers)
	if err != nil {
		t.Fatal(err)
	}
	for g := range groups {
		var of [256]uint32
		for i := range of {
			of[i] = binary.LittleEndian.Uint32(data[64+1024*g+4*i:])
		}
		out = append(out, of)
	}
	return out, stats
}

// TestLoadsBeforeStores: what one wave stores is not what another one has loaded before, by functions as in machine code.
func TestLoadsBeforeStores(t *testing.T) {
	for name, c := range map[string]struct {
		text   string
		groups int // x in device memory is one for all of them
	}{
		"device memory":       {roundsVM + roundsStore + roundsToVM + roundsAll, 1},
		"LDS":                 {roundsLDS + roundsStore + roundsToLDS + roundsAll, 3},
		"LDS, not translated": {roundsOut + roundsToLDS + roundsAll, 3},
		"LDS, then memory":    {roundsBoth + roundsStore + roundsToVM + roundsAll, 1},
		"the first barrier":   {strings.TrimPrefix(roundsVM, "round:; s_barrier; ") + roundsStore + roundsToVM + roundsNoLoop, 1},
	} {
		for _, n := range []uint32{1, 2, 5, 31} {
			want := uint32(1<<n - 1)
			if c.text[len(c.text)-len(roundsNoLoop):] == roundsNoLoop {
				want = 1
			}
			var first Stats
			for i, after := range []int{-1, 1, 2, 5, 0} {
				out, stats := rounds(t, roundsBegin+c.text+roundsEnd, after, c.groups, 2, n)
				for g := range out {
					for k, got := range out[g] {
						if got != want {
							t.Fatalf("%s, %d rounds, translated after %d, workgroup %d: work-item %d has %#x, want %#x", name, n, after, g, k, got, want)
						}
					}
				}
				if i == 0 {
					first = stats
				}
				if stats != first {
					t.Errorf("%s, %d rounds, translated after %d: %+v, want %+v", name, n, after, stats, first)
				}
			}
		}
	}
}

// TestStoresBeforeLoads: what waves have stored before they wait for device memory is there for others that have waited likewise. In each round a work-item stores the round's number, and
// adds up that of one in another wave.
func TestStoresBeforeLoads(t *testing.T) {
	const text = "v_xor_b32_e32 v7, 0xc0, v0; v_lshlrev_b32_e32 v7, 2, v7; " +
		"round:; s_barrier; v_mov_b32_e32 v5, s9; global_store_dword v2, v5, s[0:1] offset:2048; global_load_dword v4, v3, s[0:1] offset:32; s_waitcnt vmcnt(0); " +
		"global_load_dword v4, v7, s[0:1] offset:2048; s_waitcnt vmcnt(0); " + roundsAll
	for _, n := range []uint32{1, 2, 5, 31} {
		for _, after := range []int{-1, 1, 2, 5, 0} {
			out, _ := rounds(t, roundsBegin+text+roundsEnd, after, 1, 2, n)
			for k, got := range out[0] {
				if want := n * (n - 1) / 2; got != want {
					t.Fatalf("%d rounds, translated after %d: work-item %d has %d, want %d", n, after, k, got, want)
				}
			}
		}
	}
}

// TestLoadsOfSomeWaves: waves that load nothing come to the barrier while others wait for a load, and pass it only
// when all have come.
func TestLoadsOfSomeWaves(t *testing.T) {
	for _, n := range []uint32{1, 2, 5, 31} {
		for _, after := range []int{-1, 1, 2, 5, 0} {
			out, _ := rounds(t, roundsBegin+"v_mov_b32_e32 v4, 0; "+roundsSome+roundsStore+roundsToLDS+roundsAll+roundsEnd, after, 2, 1, n)
			var want [4]uint32
			x, v4 := uint32(1), [4]uint32{}
			for r := range n {
				for wave := range uint32(4) {
					if skips := wave == 1 || wave == 2; !skips || r&wave == 0 {
						v4[wave] = x
					}
					want[wave] += v4[wave]
				}
				x *= 2
			}
			for g := range out {
				for k, got := range out[g] {
					if got != want[k/64] {
						t.Fatalf("%d rounds, translated after %d, workgroup %d: work-item %d has %#x, want %#x", n, after, g, k, got, want[k/64])
					}
				}
			}
		}
	}
}

// TestWaitsOf: which instructions a wave may give way at.
func TestWaitsOf(t *testing.T) {
	const load = "global_load_dword v4, v3, s[0:1] offset:32; "
	const store = "global_store_dword v3, v5, s[0:1] offset:32; "
	for _, c := range []struct {
		text string
		want string // of each s_waitcnt, in order: d for what is loaded from device memory, l from the LDS, - for neither
	}{
		{load + "s_waitcnt vmcnt(0); " + store + "s_endpgm", "-"}, // no barrier
		{load + "s_waitcnt vmcnt(0); " + store + "s_barrier; s_endpgm", "d"},
		{load + "s_waitcnt vmcnt(0); s_barrier; " + store + "s_endpgm", "-"}, // others know of the barrier, too
		{load + "s_waitcnt vmcnt(0); ds_write_b32 v3, v4; s_barrier; s_endpgm", "-"},
		{load + "ds_read_b32 v5, v3; s_waitcnt vmcnt(0); ds_write_b32 v3, v4; s_barrier; s_endpgm", "l"}, // it waits, for whatever
		{"s_load_dword s4, s[0:1], 0x0; s_waitcnt lgkmcnt(0); " + load + "s_waitcnt vmcnt(0); " + store + "s_barrier; s_endpgm", "-d"},
		{load + load + "s_waitcnt vmcnt(2); s_waitcnt vmcnt(1); s_waitcnt vmcnt(0); " + store + "s_barrier; s_endpgm", "-d-"},
		{load + "s_waitcnt vmcnt(0); " + load + "s_waitcnt vmcnt(0); " + store + "s_barrier; s_endpgm", "-d"},
		{store + "s_waitcnt vmcnt(0); " + store + "s_barrier; s_endpgm", "-"},
		{load + "s_barrier; s_waitcnt vmcnt(0); " + store + "s_endpgm", "-"}, // all have loaded at the barrier
		{"s_barrier; ds_read_b32 v5, v3; s_waitcnt lgkmcnt(0); " + load + "s_waitcnt vmcnt(0); ds_write_b32 v3, v5; " + store + "s_endpgm", "ld"},
		{"s_barrier; flat_load_dword v5, v[8:9]; s_waitcnt vmcnt(0) lgkmcnt(0); ds_add_u32 v3, v5; " + store + "s_endpgm", "dl"},
		{"s_barrier; again:; " + load + "s_waitcnt vmcnt(0); s_cbranch_scc1 again; " + store + "s_endpgm", "d"},
		{"again:; s_waitcnt vmcnt(0); " + load + "s_cbranch_scc1 again; global_atomic_add v3, v4, s[0:1]; s_barrier; s_endpgm", "d"},
		{"s_barrier; " + load + "s_waitcnt vmcnt(0); s_swappc_b64 s[30:31], s[4:5]; s_endpgm", "d"},
		{store + load + "s_waitcnt vmcnt(0); " + load + "s_barrier; s_endpgm", "d"}, // others have stored, too
		{store + load + "s_waitcnt vmcnt(0); s_barrier; " + load + "s_endpgm", "-"},
		{store + "s_barrier; " + load + "s_waitcnt vmcnt(0); " + load + "s_endpgm", "-"},
		{store + load + "s_waitcnt vmcnt(0); " + load + "s_waitcnt vmcnt(0); " + load + "s_barrier; s_endpgm", "d-"},
		{store + "s_waitcnt vmcnt(0); " + load + "s_barrier; s_endpgm", "-"}, // it waits for no load
		{"ds_write_b32 v3, v4; " + load + "s_waitcnt vmcnt(0); ds_read_b32 v5, v3; s_barrier; s_endpgm", "-"},
		{"s_barrier; scratch_load_dword v5, v3, off; s_waitcnt vmcnt(0); " + store + "s_endpgm", "-"},
		// Functions: who calls them may have loaded and stored, and may afterwards.
		{"s_waitcnt vmcnt(0); " + store + "s_barrier; s_setpc_b64 s[30:31]", "d"},
		{"s_barrier; " + load + "s_waitcnt vmcnt(0); s_setpc_b64 s[30:31]", "d"},
		{"s_waitcnt vmcnt(0); s_barrier; " + store + "s_barrier; s_setpc_b64 s[30:31]", "-"},
		{load + "s_waitcnt vmcnt(0); " + store + "s_setpc_b64 s[30:31]; s_barrier; s_endpgm", "-"}, // another function's barrier
	} {
		arch := gcn.GFX90A
		if strings.Contains(c.text, "scratch_") {
			arch = gcn.GFX942
		}
		d := newDevice(t, arch, 1<<20)
		code := assemble(t, arch, c.text)
		x := d.assemble(0, 1, 64, code)
		d.prog.beginning(x.Entry, strings.Contains(c.text, "s_setpc"))
		got := ""
		for at := 0; at < len(code); {
			in, _, err := d.prog.instAt(x.Entry + uint64(at)*4)
			if err != nil {
				t.Fatal(err)
			}
			if in.Op == gcn.S_WAITCNT {
				got += []string{"-", "d", "l", "dl"}[d.prog.waits[in.PC]]
			}
			at += int(in.Len) / 4
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.text, got, c.want)
		}
		d.prog.Invalidate(x.Entry, uint64(len(code))*4)
		if len(d.prog.waits) != 0 {
			t.Errorf("%s: %v when it is no code any more", c.text, d.prog.waits)
		}
	}
}

// TestLoadsBeforeStoresIsARace: checks find it all the same, and what is checked has the same results.
func TestLoadsBeforeStoresIsARace(t *testing.T) {
	d := newDevice(t, gcn.GFX90A, 1<<20)
	d.prog.Watch(CheckRace, false)
	buf, data := d.alloc(4 * page)
	x := d.assemble(buf, 1, 256, assemble(t, gcn.GFX90A, roundsBegin+roundsLDS+roundsStore+roundsToLDS+roundsAll+roundsEnd))
	x.DynamicLDS = 1024
	x.Allocated = d.allocated
	binary.LittleEndian.PutUint32(data, 3)
	races := map[string]bool{}
	x.OnFinding = func(f *Finding) error {
		races[f.String()] = f.Check == CheckRace
		return nil
	}
	if _, err := x.Run(context.Background(), 1); err != nil {
		t.Fatal(err)
	}
	found := false
	for text, race := range races {
		found = found || race && strings.Contains(text, "wave 0 writes what wave ") && strings.Contains(text, " reads at 0x0 of the LDS, without a barrier between")
	}
	if !found {
		t.Errorf("no race: %v", races)
	}
	for i := range 256 {
		if got := binary.LittleEndian.Uint32(data[64+4*i:]); got != 7 {
			t.Fatalf("work-item %d has %#x, want 7", i, got)
		}
	}
}
