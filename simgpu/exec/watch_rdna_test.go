package exec

import (
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// watched makes a machine look for what is undefined, and everything defined.
func (m *machine) watchUndefined() *undefined {
	m.prog.Watch(CheckUninit, false)
	m.wave.wg.watched = m.prog.watch.group(len(m.wg.lds), 1)
	m.wave.watched = m.prog.watch.wave(m.wave, 102, 64)
	x := &m.wave.watched.undefined
	for _, file := range [][]Vec{x.v, x.a} {
		clear(file)
	}
	clear(x.s[:])
	return x
}

// TestUndefinedRDNA: what is undefined of registers after instructions that only RDNA has, or has otherwise.
func TestUndefinedRDNA(t *testing.T) {
	const none, every = 0, ^uint32(0)
	type at struct {
		reg, lane int
		bits      uint32
	}
	for _, c := range []struct {
		text string
		set  func(m *machine, x *undefined)
		v    []at
		s    map[int]uint32
	}{
		{"v_dual_mov_b32 v1, v2 :: v_dual_mov_b32 v2, v1", func(_ *machine, x *undefined) { x.v[1][3], x.v[2][4] = 0xff, 0xf00 }, []at{{1, 3, none}, {1, 4, 0xf00}, {2, 3, 0xff}, {2, 4, none}}, nil},
		{"v_dual_add_f32 v1, v2, v3 :: v_dual_mul_f32 v2, v1, v4", func(_ *machine, x *undefined) { x.v[3][5] = 1 }, []at{{1, 5, every}, {2, 5, none}, {1, 6, none}}, nil},
		{"v_dual_cndmask_b32 v1, v2, v3 :: v_dual_mov_b32 v4, v5", func(m *machine, x *undefined) { x.v[2][1], m.S[regVCC] = 7, 0 }, []at{{1, 1, 7}, {4, 1, none}}, nil},
		{"v_add_nc_u32_e32 v1, v2, v3", func(_ *machine, x *undefined) { x.v[2][0] = 0x100 }, []at{{1, 0, 0xffffff00}}, nil},
		{"v_sub_nc_u32_e32 v1, v2, v2", func(_ *machine, x *undefined) { x.v[2][0] = every }, []at{{1, 0, none}}, nil},
		{"v_xor3_b32 v1, v2, v3, v4", func(_ *machine, x *undefined) { x.v[4][0] = 6 }, []at{{1, 0, 6}}, nil},
		{"v_mad_u16 v1, v2, v3, v4 op_sel:[1,0,0,1]", func(_ *machine, x *undefined) { x.v[2][0], x.v[2][1], x.v[1][2] = 0xffff, 0xffff0000, 0xff }, []at{{1, 0, none}, {1, 1, 0xffff0000}, {1, 2, 0xff}}, nil},
		{"v_add_f16_e32 v1, v2, v3", func(_ *machine, x *undefined) { x.v[2][0], x.v[1][0], x.v[1][1] = 1, 0xf0000, 0xffffffff }, []at{{1, 0, 0xfffff}, {1, 1, 0xffff0000}}, nil},
		{"v_permlanex16_b32 v1, v2, s4, s5", func(m *machine, x *undefined) { m.S[4], m.S[5], x.v[2][17] = 0x76543210, 0xfedcba98, 9 }, []at{{1, 1, 9}, {1, 17, none}}, nil},
		{"v_cmp_lt_i32_e32 vcc_lo, v1, v2", func(_ *machine, x *undefined) { x.v[2][7], x.s[regVCC+1] = 1, 3 }, nil, map[int]uint32{regVCC: 1 << 7, regVCC + 1: 3}},
		{"v_cndmask_b32_e32 v1, v2, v3, vcc_lo", func(m *machine, x *undefined) { x.s[regVCC], m.V[2][7], m.V[3][7] = 1<<7, 12, 10 }, []at{{1, 7, 6}, {1, 8, none}}, nil},
		{"v_add_co_u32 v1, s4, v2, v3", func(_ *machine, x *undefined) { x.v[2][9], x.s[5] = 0x80000000, 3 }, []at{{1, 9, 0x80000000}}, map[int]uint32{4: 1 << 9, 5: 3}},
		{"s_and_not1_b32 s4, s5, s6", func(m *machine, x *undefined) { m.S[5], m.S[6], x.s[6] = 0xf0, 0, 0xff }, nil, map[int]uint32{4: 0xf0}},
		{"s_or_not1_b32 s4, s5, s6", func(m *machine, x *undefined) { m.S[5], m.S[6], x.s[6] = 0xf0, 0, 0xff }, nil, map[int]uint32{4: 0xf}},
		{"s_pack_hl_b32_b16 s4, s5, s6", func(_ *machine, x *undefined) { x.s[5], x.s[6] = 0x10002, 3 }, nil, map[int]uint32{4: 0x30001}},
		{"s_sendmsg_rtn_b64 s[4:5], sendmsg(MSG_RTN_GET_REALTIME)", func(_ *machine, x *undefined) { x.s[4], x.s[5] = every, every }, nil, map[int]uint32{4: 0, 5: 0}},
		{"v_cvt_pk_rtz_f16_f32_e32 v1, v2, v3", func(_ *machine, x *undefined) { x.v[3][2] = 1 }, []at{{1, 2, 0xffff0000}}, nil},
		{"v_wmma_f32_16x16x16_f16 v[8:15], v[16:23], v[24:31], v[8:15]", func(_ *machine, x *undefined) { x.v[16][2], x.v[16][18] = 1, 1 },
			[]at{{9, 0, every}, {9, 15, every}, {8, 0, none}, {8, 18, none}, {10, 1, none}}, nil}, // row 2 of A: row 2 of D, in lanes 0 to 15 of its second register
		{"v_wmma_i32_16x16x16_iu8 v[8:15], v[16:19], v[20:23], v[8:15]", func(m *machine, x *undefined) { x.v[20][3], x.v[20][19] = 1, 1; m.fillBytes(16, 8) },
			[]at{{8, 3, every}, {15, 19, every}, {8, 2, none}, {15, 20, none}}, nil}, // column 3 of B: of D, too
		{"v_wmma_f16_16x16x16_f16 v[8:15], v[16:23], v[24:31], v[8:15] op_sel:[0,0,1]", func(_ *machine, x *undefined) { x.v[16][2], x.v[16][18], x.v[9][1] = 1, 1, 3 }, []at{{9, 1, 0xffff0003}, {9, 2, 0xffff0000}}, nil},
		{"v_wmma_f16_16x16x16_f16 v[8:15], v[16:23], v[24:31], v[8:15]", func(_ *machine, x *undefined) { x.v[7][2] = 1 }, []at{{9, 1, none}, {7, 2, 1}}, nil},
	} {
		m := newMachine(t, gcn.GFX1100)
		x := m.watchUndefined()
		c.set(m, x)
		m.setMask(1<<32 - 1)
		if err := m.exec(assemble(t, gcn.GFX1100, c.text)...); err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		for _, w := range c.v {
			if got := x.v[w.reg][w.lane]; got != w.bits {
				t.Errorf("%s: of v%d lane %d %#x is undefined, want %#x", c.text, w.reg, w.lane, got, w.bits)
			}
		}
		for reg, want := range c.s {
			if got := x.s[reg]; got != want {
				t.Errorf("%s: of s%d %#x is undefined, want %#x", c.text, reg, got, want)
			}
		}
	}
}

// fillBytes puts bytes that are not zero in n registers.
func (m *machine) fillBytes(reg, n int) {
	for v := reg; v < reg+n; v++ {
		for l := range m.V[v] {
			m.V[v][l] = 0x01010101
		}
	}
}
