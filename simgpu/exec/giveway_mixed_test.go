package exec

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Waves of which each does something else between two barriers: some give way, once or twice, some do not, some do what is not translated, some
// end. A table says which, by round and wave. What happens is noted in the order in which it does: the
// number of notes is in the LDS, and nobody waits for it.
const (
	mixesLDS    = 1 << iota // waits for the LDS
	mixesDevice             // waits for device memory
	mixesGo                 // does what is not translated, before that
	mixesGoNow              // and behind it
	mixesEnds               // ends
	mixesBits   = iota
	mixesAll    = 1<<mixesBits - 1
)

// What is noted, besides round and wave.
const (
	mixedLDS    = 1 + iota // the LDS was waited for
	mixedDevice            // device memory was
	mixedComes             // the wave comes to the barrier
	mixedGoesOn            // it has passed it
	mixedEnds              // it ends
)

const (
	mixedRounds  = 9
	mixedMost    = 16 // waves
	mixedTable   = 0x1000
	mixedNotes   = 0x2000
	mixedForeach = mixedRounds * mixedMost
)

// mixedProgram is the program: s9 is the round, s8 the wave, s12 what the table says of it.
var mixedProgram = func() string {
	note := func(what int) string {
		return "s_lshl_b32 s15, s9, 8; s_lshl_b32 s14, s8, 4; s_or_b32 s15, s15, s14; s_or_b32 s15, s15, " + fmt.Sprint(what) + "; ds_read_b32 v4, v3; v_mov_b32_e32 v5, s15; " +
			"v_lshlrev_b32_e32 v6, 2, v4; global_store_dword v6, v5, s[18:19]; v_add_u32_e32 v4, 1, v4; ds_write_b32 v3, v4; "
	}
	if32 := func(what int, then string) string {
		l := fmt.Sprintf("not%d", what)
		return fmt.Sprintf("s_and_b32 s14, s12, %d; s_cbranch_scc0 %s; %s%s:; ", what, l, then, l)
	}
	return "s_load_dword s16, s[0:1], 0x0; v_lshrrev_b32_e32 v1, 6, v0; v_readfirstlane_b32 s8, v1; v_mov_b32_e32 v3, 0; s_mov_b32 s9, 0; s_lshl_b32 s18, s2, 14; " +
		"s_add_u32 s18, s18, s0; s_addc_u32 s19, s1, 0; s_add_u32 s18, s18, 0x2000; s_addc_u32 s19, s19, 0; " +
		"s_lshl_b32 s13, s8, 3; s_add_u32 s13, s13, 0x1000; s_load_dwordx2 s[12:13], s[0:1], s13; s_waitcnt lgkmcnt(0); round:; " +
		if32(mixesGo, "s_getreg_b32 s14, hwreg(HW_REG_MODE); ") +
		if32(mixesLDS, "ds_read_b32 v7, v3; s_waitcnt lgkmcnt(0); "+note(mixedLDS)) +
		if32(mixesDevice, "global_load_dword v7, v3, s[0:1]; s_waitcnt vmcnt(0); "+note(mixedDevice)) +
		if32(mixesGoNow, "s_getreg_b32 s14, hwreg(HW_REG_MODE); ") +
		if32(mixesEnds, note(mixedEnds)+"s_endpgm; ") +
		note(mixedComes) + "s_barrier; " + note(mixedGoesOn) + "s_lshr_b64 s[12:13], s[12:13], 5; s_add_i32 s9, s9, 1; s_cmp_lt_u32 s9, s16; s_cbranch_scc1 round; s_endpgm"
}()

// mixedDispatch prepares it for workgroups of as many waves.
func mixedDispatch(t *testing.T, table *[mixedForeach]uint32, after, waves, groups int) (x *Dispatch, data []byte) {
	t.Helper()
	d := newDevice(t, gcn.GFX90A, 1<<20)
	d.prog = NewProgram(gcn.GFX90A, d.mem, Options{TranslateAfter: after})
	buf, data := d.alloc(mixedNotes + groups<<14)
	x = d.assemble(buf, uint32(groups), uint32(waves*WaveSize), assemble(t, gcn.GFX90A, mixedProgram))
	x.DynamicLDS = 64
	binary.LittleEndian.PutUint32(data, mixedRounds)
	for wave := range mixedMost {
		does := uint64(0)
		for r := range mixedRounds {
			does |= uint64(table[r*mixedMost+wave]) << (mixesBits * r)
		}
		binary.LittleEndian.PutUint64(data[mixedTable+8*wave:], does)
	}
	return x, data
}

// mixedRun executes it, and returns what each workgroup noted.
func mixedRun(t *testing.T, table *[mixedForeach]uint32, after, waves, groups int) (notes [][]uint32) {
	t.Helper()
	x, data := mixedDispatch(t, table, after, waves, groups)
	if _, err := x.Run(context.Background(), 1); err != nil {
		t.Fatal(err)
	}
	for g := range groups {
		of := []uint32{}
		for at := mixedNotes + g<<14; ; at += 4 {
			v := binary.LittleEndian.Uint32(data[at:])
			if v == 0 {
				break
			}
			of = append(of, v)
		}
		notes = append(notes, of)
	}
	return notes
}

// mixedWrong says what is wrong with notes: all that a wave does is noted, in its order, and no wave passes a barrier
// before all that have not ended have come to it.
func mixedWrong(table *[mixedForeach]uint32, waves int, notes []uint32) string {
	want, got := make([][]uint32, waves), make([][]uint32, waves)
	comes := [mixedRounds]int{} // how many do
	for wave := range uint32(waves) {
		for r := range uint32(mixedRounds) {
			does := table[r*mixedMost+wave]
			note := func(what uint32) { want[wave] = append(want[wave], r<<8|wave<<4|what) }
			if does&mixesLDS != 0 {
				note(mixedLDS)
			}
			if does&mixesDevice != 0 {
				note(mixedDevice)
			}
			if does&mixesEnds != 0 {
				note(mixedEnds)
				break
			}
			comes[r]++
			note(mixedComes)
			note(mixedGoesOn)
		}
	}
	come := [mixedRounds]int{}
	for i, v := range notes {
		r, wave, what := v>>8, v>>4&15, v&15
		if int(wave) >= waves || r >= mixedRounds {
			return fmt.Sprintf("note %d is %#x", i, v)
		}
		got[wave] = append(got[wave], v)
		switch what {
		case mixedComes:
			come[r]++
		case mixedGoesOn:
			if come[r] != comes[r] {
				return fmt.Sprintf("wave %d passes the barrier of round %d when %d of %d waves have come", wave, r, come[r], comes[r])
			}
		}
	}
	for wave := range want {
		if !slices.Equal(got[wave], want[wave]) {
			return fmt.Sprintf("wave %d: %x, want %x", wave, got[wave], want[wave])
		}
	}
	return ""
}

// TestMixedWaves: whatever each wave does between two barriers, none passes one before all have come, none is lost, and what happens happens in
// the same order by functions and in machine code.
func TestMixedWaves(t *testing.T) {
	r := rand.New(rand.NewPCG(14, 2))
	defer func(n uint64) { ringInsts = n }(ringInsts)
	ringInsts = 1 << 20 // all but the first are a chain
	for n := range 60 {
		waves := []int{2, 3, 4, 7, mixedMost}[n%5]
		table := [mixedForeach]uint32{}
		for i := range table {
			switch n / 5 % 4 {
			case 0: // the ring goes on all the time
				table[i] = r.Uint32() & (mixesLDS | mixesDevice)
			case 1: // as a tree: the first waves, ever fewer
				if i%mixedMost <= waves>>(i/mixedMost) {
					table[i] = mixesLDS
				}
			case 2: // Go now and then
				table[i] = r.Uint32() & (mixesLDS | mixesDevice)
				if r.IntN(8) == 0 {
					table[i] |= r.Uint32() & mixesAll &^ mixesEnds
				}
			case 3: // waves end
				table[i] = r.Uint32() & (mixesLDS | mixesDevice)
				if r.IntN(9) == 0 {
					table[i] |= r.Uint32() & mixesAll
				}
			}
		}
		var first [][]uint32
		for _, after := range []int{-1, 1, 2, 5, 0} {
			notes := mixedRun(t, &table, after, waves, 4)
			for g, of := range notes {
				if wrong := mixedWrong(&table, waves, of); wrong != "" {
					t.Fatalf("program %d, %d waves, translated after %d, workgroup %d: %s", n, waves, after, g, wrong)
				}
			}
			if first == nil {
				first = notes
			}
			for g := range notes {
				if !slices.Equal(notes[g], first[g]) {
					t.Fatalf("program %d, %d waves, translated after %d, workgroup %d:\n%s by functions\n%s", n, waves, after, g, mixedText(first[g]), mixedText(notes[g]))
				}
			}
		}
	}
}

// mixedText is notes for people: round, wave, what.
func mixedText(notes []uint32) string {
	var b strings.Builder
	for _, v := range notes {
		fmt.Fprintf(&b, "%d/%d%s ", v>>8, v>>4&15, [...]string{"", "l", "d", "|", ">", "."}[v&15])
	}
	return b.String()
}
