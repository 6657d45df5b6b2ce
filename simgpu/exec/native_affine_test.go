//go:build linux && amd64

package exec

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// affineUnits are what TestAffine's programs are made of: what compilers compute addresses with, and what uses its registers otherwise.
// v0 is a number of elements, v[0:1], v[4:5] and v[6:7] are pairs that are computed, v[2:3] is an address to begin with.
var affineUnits = []struct {
	often int
	lines []string
}{
	// Numbers of elements.
	{1, []string{"v_add_u32_e32 v0, s4, v0", "v_add_u32_e32 v8, v0, v9", "v_sub_u32_e32 v0, v0, v9", "v_subrev_u32_e32 v0, s4, v0", "v_sub_u32_e32 v8, v9, v0",
		"v_add3_u32 v0, s4, v0, 3", "v_lshl_add_u32 v8, v0, 2, s5", "v_add_lshl_u32 v8, v0, s4, 2", "v_mov_b32_e32 v8, v0", "v_mov_b32_e32 v0, v8", "v_mov_b32_e32 v9, s4"}},
	{2, []string{"v_lshlrev_b32_e32 v8, 2, v0", "v_lshlrev_b32_e32 v8, 3, v0", "v_lshlrev_b32_e32 v8, 1, v0"}},
	// Pairs.
	{4, []string{"v_ashrrev_i32_e32 v1, 31, v0", "v_ashrrev_i32_e32 v1, 31, v0", "v_mov_b32_e32 v1, 0", "v_mov_b32_e32 v1, s6"}},
	{4, []string{"v_lshlrev_b64 v[4:5], 2, v[0:1]", "v_lshlrev_b64 v[4:5], 3, v[0:1]", "v_lshlrev_b64 v[6:7], 2, v[0:1]", "v_lshlrev_b64 v[0:1], 0, v[0:1]"}},
	{4, []string{
		"v_add_co_u32_e32 v4, vcc, s20, v4|v_mov_b32_e32 v9, s21|v_addc_co_u32_e32 v5, vcc, v9, v5, vcc",
		"v_mov_b32_e32 v9, s21|v_add_co_u32_e32 v6, vcc, s20, v4|s_add_u32 s20, s20, 4|v_addc_co_u32_e32 v7, vcc, v5, v9, vcc|s_sub_u32 s20, s20, 4",
		"v_mov_b32_e32 v9, s21|v_add_co_u32_e32 v4, vcc, s20, v8|?|v_addc_co_u32_e32 v5, vcc, 0, v9, vcc",
		"v_mov_b32_e32 v9, s21|v_add_co_u32_e64 v6, s[24:25], v8, s20|?|v_addc_co_u32_e64 v7, s[24:25], 0, v9, s[24:25]|s_mov_b64 s[24:25], 0",
	}},
	{2, []string{
		"v_add_co_u32_e32 v4, vcc, 16, v4|?|v_addc_co_u32_e32 v5, vcc, 0, v5, vcc",
		"v_add_co_u32_e32 v2, vcc, 0x100, v2|v_addc_co_u32_e32 v3, vcc, 0, v3, vcc",
		"v_add_co_u32_e32 v2, vcc, 16, v2|?|?|v_addc_co_u32_e32 v3, vcc, 0, v3, vcc",
		"v_add_co_u32_e32 v6, vcc, 4, v2|v_addc_co_u32_e32 v7, vcc, 0, v3, vcc",
		"v_mov_b32_e32 v6, v4|v_mov_b32_e32 v7, v5",
	}},
	// Accesses.
	{7, []string{"global_load_dword v10, v[4:5], off", "global_load_dword v11, v[6:7], off", "global_load_dword v10, v[2:3], off", "global_load_dwordx2 v[10:11], v[2:3], off",
		"global_load_dwordx2 v[10:11], v[4:5], off offset:8", "global_load_dword v10, v8, s[20:21]", "global_store_dword v[4:5], v10, off", "global_store_dword v[2:3], v11, off offset:4",
		"global_store_dword v8, v0, s[20:21]", "global_store_dwordx2 v[2:3], v[10:11], off", "global_load_ushort v10, v8, s[20:21]", "global_load_dword v4, v[4:5], off",
		"global_store_dword v[4:5], v4, off", "global_load_dwordx4 v[12:15], v[2:3], off", "global_load_short_d16_hi v10, v8, s[20:21]", "flat_load_dword v11, v[4:5]"}},
	// What writes addresses otherwise.
	{2, []string{"v_add_u32_sdwa v4, v10, v13 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:DWORD src1_sel:DWORD", "v_mul_lo_u32 v0, v0, v9", "v_mov_b64 v[4:5], v[2:3]",
		"v_mov_b32_e32 v1, v10", "v_and_b32_e32 v0, 63, v0", "v_swap_b32 v2, v4", "v_swap_b32 v0, v8"}},
	// What reads them, and others.
	{4, []string{"v_xor_b32_e32 v11, v10, v0", "v_xor_b32_e32 v11, v4, v5", "v_cndmask_b32_e32 v11, v10, v0, vcc", "v_cmp_lt_u32_e32 vcc, v0, v10", "s_add_u32 s4, s4, s5",
		"v_readfirstlane_b32 s5, v0", "v_mov_b32_dpp v11, v4 row_shl:1 row_mask:0xf bank_mask:0xf", "v_mov_b32_e32 v10, v5", "s_and_b64 s[26:27], vcc, exec", "ds_write_b32 v8, v10",
		"v_add_u32_e32 v10, v10, v11", "v_sub_u32_e32 v11, v3, v2", "v_med3_f32 v13, v14, v14, v14", "v_med3_f32 v10, 1.0, 1.0, 1.0"}},
}

// affineChains are whole ways to an address.
var affineChains = []string{
	"v_ashrrev_i32_e32 v1, 31, v0|v_lshlrev_b64 v[4:5], 2, v[0:1]|v_add_co_u32_e32 v4, vcc, s20, v4|v_mov_b32_e32 v9, s21|v_addc_co_u32_e32 v5, vcc, v9, v5, vcc|global_load_dword v10, v[4:5], off",
	"v_mov_b32_e32 v1, 0|?|v_lshlrev_b64 v[6:7], 3, v[0:1]|v_mov_b32_e32 v9, s21|v_add_co_u32_e32 v6, vcc, s20, v6|?|v_addc_co_u32_e32 v7, vcc, v7, v9, vcc|global_store_dwordx2 v[6:7], v[10:11], off",
	"v_ashrrev_i32_e32 v1, 31, v0|v_lshl_add_u64 v[4:5], v[0:1], 2, s[20:21]|global_load_dword v11, v[4:5], off",
	"v_lshlrev_b32_e32 v8, 2, v0|?|global_load_dword v11, v8, s[20:21]|global_store_dword v8, v10, s[20:21]",
	"v_lshl_add_u32 v8, v0, 2, s5|global_load_dword v10, v8, s[20:21]|v_mov_b32_e32 v9, s21|v_add_co_u32_e32 v6, vcc, s20, v8|?|v_addc_co_u32_e32 v7, vcc, 0, v9, vcc|global_load_dword v11, v[6:7], off",
	"global_load_dword v10, v[2:3], off|v_add_co_u32_e32 v2, vcc, 0x100, v2|v_addc_co_u32_e32 v3, vcc, 0, v3, vcc",
	"v_add_co_u32_e32 v6, vcc, 4, v2|v_addc_co_u32_e32 v7, vcc, 0, v3, vcc|global_load_dword v11, v[6:7], off",
	"v_lshlrev_b32_e32 v8, 2, v0|v_add_co_u32_e32 v8, vcc, s20, v8|v_mov_b32_e32 v9, s21|v_addc_co_u32_e32 v9, vcc, 0, v9, vcc|global_load_dword v11, v[8:9], off|v_mov_b32_e32 v8, 0",
	"v_ashrrev_i32_e32 v1, 31, v0|v_lshl_add_u32 v8, v1, 2, s5|global_load_dword v11, v8, s[20:21]",
	"v_add_u32_e32 v0, s4, v0|?",
}

// TestAffine: programs of what addresses are computed with, random ones, on registers that are affine and on those that are not, nearly or because they wrap around,
// with accesses that fault, what others read of it in between, and loops.
func TestAffine(t *testing.T) {
	if !translates(t) {
		return
	}
	defer func(cost, least int) { useNative, leaveCost, leastOfStrip, endsLive = true, cost, least, true }(leaveCost, leastOfStrip)
	n := 1500
	if testing.Short() {
		n = 300
	}
	for _, arch := range []gcn.Arch{gcn.GFX942, gcn.GFX1100} {
		t.Run(arch.String(), func(t *testing.T) { randomAffine(t, arch, n) })
	}
}

// affineRDNA is how instructions of RDNA are called, in waves of 32 lanes.
var affineRDNA = strings.NewReplacer("v_add_u32", "v_add_nc_u32", "v_sub_u32", "v_sub_nc_u32", "v_subrev_u32", "v_subrev_nc_u32", "v_add_co_u32_e32", "v_add_co_u32",
	"v_add_co_u32_e64", "v_add_co_u32", "v_addc_co_u32", "v_add_co_ci_u32", "vcc", "vcc_lo", "exec", "exec_lo", "s[24:25]", "s24", "s[26:27]", "s26", "s[72:73]", "s72", "s[74:75]", "s74",
	"_dwordx4", "_b128", "_dwordx2", "_b64", "_dword", "_b32", "load_ushort", "load_u16", "load_short_d16_hi", "load_d16_hi_b16", "ds_write_b32", "ds_store_b32",
	"s_andn2_b64", "s_and_not1_b32", "s_and_b64", "s_and_b32", "s_mov_b64", "s_mov_b32")

func randomAffine(t *testing.T, arch gcn.Arch, n int) {
	m := newMachine(t, arch)
	m.prog.options.TranslateAfter = 1 // all blocks together
	m.blind = true
	data, mem := m.alloc(2 * page)
	r := rand.New(rand.NewPCG(4, 2))
	scc1, execnz := uint32(0xbf850000), uint32(0xbf890000)
	if arch.Has(gcn.RDNA) {
		scc1, execnz = 0xbfa20000, 0xbfa60000
	}
	line := func(text string) []uint32 {
		if arch.Has(gcn.RDNA) {
			if strings.Contains(text, "sdwa") || strings.Contains(text, "lshl_add_u64") || strings.Contains(text, "v_mov_b64") { // there is no such thing
				return nil
			}
			text = affineRDNA.Replace(text)
		}
		return assemble(t, arch, text)
	}
	back := func(branch uint32, words int) uint32 { return branch | uint32(uint16(-words-1)) }
	var weights []int
	for i, u := range affineUnits {
		for range u.often {
			weights = append(weights, i)
		}
	}
	affine, faults, turns := 0, 0, 0
	for i := range n {
		var text []string
		all := func(units string) {
			for part := range strings.SplitSeq(units, "|") {
				if part == "?" {
					rest := affineUnits[len(affineUnits)-1].lines
					if part = rest[r.IntN(len(rest))]; r.IntN(4) == 0 {
						part = "global_load_dword v12, v[2:3], off"
					}
				}
				text = append(text, part)
			}
		}
		add := func(unit int) {
			u := affineUnits[unit].lines
			all(u[r.IntN(len(u))])
		}
		tame := r.IntN(3) > 0
		for range 2 + r.IntN(4)*btoi(tame) {
			all(affineChains[r.IntN(len(affineChains))])
		}
		for range (1 - btoi(tame)) * (3 + r.IntN(14)) {
			if r.IntN(3) == 0 { // in the order of compilers
				for _, u := range []int{2, 3, 4, 6} {
					add(u)
				}
				continue
			}
			add(weights[r.IntN(len(weights))])
		}
		var head, body, tail []uint32
		for _, s := range text {
			body = append(body, line(s)...)
		}
		cut := 0
		if r.IntN(2) == 0 { // what is before the loop
			for _, s := range text[:r.IntN(len(text))] {
				cut += len(line(s))
			}
		}
		head = append(line("s_mov_b32 s70, 3"), line("v_mov_b32_e32 v16, 3")...)
		loop := r.IntN(3)
		switch loop {
		case 1:
			tail = append(line("s_sub_u32 s70, s70, 1"), line("s_cmp_lg_u32 s70, 0")...)
			tail = append(tail, back(scc1, len(body)-cut+len(tail)))
		case 2: // lanes leave it
			tail = append(line("v_subrev_u32_e32 v16, s71, v16"), line("v_cmp_lt_i32_e64 s[72:73], v16, v17")...)
			tail = append(tail, line("s_andn2_b64 exec, exec, s[72:73]")...)
			tail = append(tail, back(execnz, len(body)-cut+len(tail)))
			tail = append(tail, line("s_mov_b64 exec, s[74:75]")...)
		}
		code := append(append(head, body...), tail...)
		for _, s := range []string{"global_store_dwordx4 v[30:31], v[0:3], off", "global_store_dwordx4 v[30:31], v[4:7], off offset:16", "global_store_dwordx4 v[30:31], v[8:11], off offset:32"} {
			code = append(code, line(s)...)
		}
		m.scramble(r)
		m.wave.affineNot = [affineMisses][2]uint32{}
		m.setMode(0xf0)
		for j := 4; j < 10; j++ {
			m.S[j] = uint32(4 * r.IntN(8))
		}
		m.S[6] = 0
		m.setS64(20, data)
		m.setS64(74, ^uint64(0))
		m.S[71] = 1
		m.setS64(regEXEC, []uint64{^uint64(0), ^uint64(0), ^uint64(0), r.Uint64()}[r.IntN(4)])
		first := uint32(r.IntN(100))
		if r.IntN(2+3*btoi(tame)) == 0 {
			first = []uint32{1<<31 - 40, 1<<31 - 200, -20 & (1<<32 - 1), r.Uint32(), 1000 + uint32(r.IntN(4000)), 0}[r.IntN(6)]
		}
		address := data + uint64(4*r.IntN(256))
		edge := r.IntN(16)
		if edge < 2 {
			address = data&^(1<<32-1) - 128 // not there, and over the edge of the lower half
		}
		each := uint64([]int{4, 4, 8, 16, 1}[r.IntN(5)])
		odd := r.IntN(5) == 0
		for l := range 64 {
			m.V[0][l] = first + uint32(l)
			m.V[8][l] = first + uint32(4*l)
			m.V[9][l] = m.S[4]
			m.V[17][l] = 1
			if loop == 2 && i%3 == 0 {
				m.V[17][l] = uint32(l % 3)
			}
			m.set64(2, l, address+uint64(l)*each)
			if edge == 0 { // without the upper one
				m.V[3][l] = m.V[3][0]
			}
			m.set64(4, l, address+uint64(l)*4)
			m.set64(6, l, address+uint64(l)*8)
			m.set64(30, l, data+page+uint64(l)*48)
			if odd && l == 40 {
				m.V[0][l]++
				m.set64(2, l, address)
			}
		}
		leaveCost = []int{8, 0, -1000}[i%3]
		endsLive = i%2 == 0
		w := m.eachWay(t, code, mem)
		e := m.prog.block(m.code).entry.Load()
		affine += e.r.affine
		turns += e.r.affineTurns
		if fmt.Sprint(w.err) != fmt.Sprint(w.translatedErr) {
			t.Fatalf("program %d: %v, translated %v:\n%s\nloop %d from word %d", i, w.err, w.translatedErr, strings.Join(text, "\n"), loop, cut)
		}
		var f *Fault
		if errors.As(w.err, &f) { // what it loaded before it faulted is not defined
			faults++
			in, _, _ := m.prog.instAt(f.PC)
			vectorUses(&in, func(reg, n int, write bool) {
				for r := reg; write && r < reg+n; r++ {
					w.got.V[r] = w.want.V[r]
				}
			})
			if in.Data.Kind != gcn.None {
				w.got.mem = w.want.mem
			}
		}
		if !endsLive {
			w.got.V, w.got.S = w.want.V, w.want.S
		}
		if d := w.differs(); d != "" {
			t.Fatalf("program %d, endsLive %v: %s; %v:\n%s\nloop %d from word %d", i, endsLive, d, w.err, strings.Join(text, "\n"), loop, cut)
		}
	}
	t.Logf("%d programs: %d accesses at affine addresses, %d turns to loops, %d faults", n, affine, turns, faults)
	if affine < n || turns < n/10 || faults < n/10 || faults > n*3/4 {
		t.Error("not random enough")
	}
}

// TestAffineWraps: lanes whose 32 bits wrap around, where that is an address 4 GiB away.
func TestAffineWraps(t *testing.T) {
	if !translates(t) {
		return
	}
	defer func() { useNative, endsLive = true, true }()
	const arch = gcn.GFX942
	m := newMachine(t, arch)
	m.device = newDevice(t, arch, 8<<30+8*page)
	m.wave.d.Program, m.wave.mem = m.prog, m.device.mem
	m.code, m.codeData = m.alloc(page)
	m.prog.options.TranslateAfter = 1
	m.blind = true
	low, lowData := m.alloc(8 << 30)
	edge := (low + 1<<32) &^ (1<<32 - 1) // where the upper half of addresses changes
	for i, at := range []uint64{0, 4<<30 - page, edge - low, edge - low + 4<<30 - page} {
		for j := range page / 4 {
			copy(lowData[at+uint64(4*j):], bytesOf([]uint32{uint32(i<<16 + j)}))
		}
	}
	out, outData := m.alloc(page)
	const most = 1<<32 - 4*20 // of lane 0; lane 20's is 0
	for _, c := range []struct {
		text  string
		first uint32 // of v0
		by    uint32
		base  uint64 // of s[20:21]
	}{
		{"global_load_dword v10, v[2:3], off; global_load_dword v11, v[2:3], off; v_mov_b32_e32 v10, v11", 0, 4, low}, // addresses that do not carry
		{"global_load_dword v10, v0, s[20:21]; global_load_dword v11, v0, s[20:21]", most, 4, low},
		{"v_mov_b32_e32 v1, 0; v_lshl_add_u64 v[4:5], v[0:1], 0, s[20:21]; global_load_dword v10, v[4:5], off", most, 4, low},
		{"v_mov_b32_e32 v9, s21; v_add_co_u32_e32 v4, vcc, s20, v0; v_addc_co_u32_e32 v5, vcc, 0, v9, vcc; global_load_dword v10, v[4:5], off", most, 4, low},
		{"v_mov_b32_e32 v9, s21; v_add_co_u32_e32 v0, vcc, s20, v0; s_mov_b32 s20, 0; v_addc_co_u32_e32 v1, vcc, 0, v9, vcc; global_load_dword v10, v[0:1], off", most, 4, low},
		{"v_mov_b32_e32 v9, s21; v_add_co_u32_e32 v0, vcc, s20, v0; global_load_dword v11, v8, s[22:23]; v_addc_co_u32_e32 v1, vcc, 0, v9, vcc; global_load_dword v10, v[0:1], off", most, 4, low},
		{"v_ashrrev_i32_e32 v1, 31, v0; v_lshl_add_u64 v[4:5], v[0:1], 0, s[20:21]; global_load_dword v10, v[4:5], off", 1<<31 - 4*20, 4, low + 1<<31},
		{"v_ashrrev_i32_e32 v1, 31, v0; v_lshlrev_b64 v[4:5], 2, v[0:1]; v_mov_b32_e32 v9, s21; v_add_co_u32_e32 v4, vcc, s20, v4; v_addc_co_u32_e32 v5, vcc, v9, v5, vcc; global_load_dword v10, v[4:5], off", 1<<32 - 20, 1, low + 4<<20},
	} {
		for _, endsLive = range []bool{true, false} {
			code := assemble(t, arch, c.text+"; global_store_dword v12, v10, s[24:25]")
			m.scramble(rand.New(rand.NewPCG(1, 1)))
			m.wave.affineNot = [affineMisses][2]uint32{}
			m.setMode(0xf0)
			m.setS64(20, c.base)
			m.setS64(22, out)
			m.setS64(24, out)
			m.setS64(regEXEC, ^uint64(0))
			for l := range 64 {
				m.V[0][l] = c.first + c.by*uint32(l)
				m.V[8][l], m.V[12][l] = uint32(8*l), uint32(4*l)
				m.V[2][l], m.V[3][l] = most+uint32(4*l), uint32(edge>>32)
			}
			w := m.eachWay(t, code, outData)
			if w.err != nil || w.translatedErr != nil {
				t.Fatalf("%s: %v, translated %v", c.text, w.err, w.translatedErr)
			}
			if carries := strings.Contains(c.text, "vcc"); m.prog.block(m.code).entry.Load().r.affine == 0 && !(endsLive && carries) { // VCC matters then
				t.Errorf("%s: no affine address", c.text)
			}
			if !endsLive {
				w.got.V, w.got.S = w.want.V, w.want.S
			}
			if d := w.differs(); d != "" {
				t.Errorf("%s, endsLive %v: %s", c.text, endsLive, d)
			}
		}
	}
}

// TestManyAffineAddresses: a block may begin with more addresses than there are places for affine numbers, as HeCBench's s3d does.
func TestManyAffineAddresses(t *testing.T) {
	if !translates(t) {
		return
	}
	m := newMachine(t, gcn.GFX90A)
	m.blind = true
	m.V = registers(m.V, 256)
	m.setBases()
	data, mem := m.alloc(page)
	r := rand.New(rand.NewPCG(33, 11))
	for pairs := 1; pairs < affineSlots+3; pairs++ {
		var text []string
		for i := range pairs {
			text = append(text, fmt.Sprintf("global_load_dwordx2 v[%d:%d], v[%[1]d:%[2]d], off", 20+2*i, 21+2*i))
		}
		words := assemble(t, gcn.GFX90A, strings.Join(text, "; "))
		m.fill(r, data)
		m.setS64(regEXEC, m.wave.ones)
		for i := range pairs {
			for l := range WaveSize {
				m.set64(20+2*i, l, data+uint64(64*i+8*l))
			}
		}
		if d, _ := m.bothWays(t, words, mem); d != "" {
			t.Fatalf("%d addresses: %s", pairs, d)
		}
	}
}
