package gcn

import (
	"encoding/binary"
	"testing"
)

func mustDecode(t *testing.T, arch Arch, words ...uint32) Inst {
	t.Helper()
	var code []byte
	for _, w := range words {
		code = binary.LittleEndian.AppendUint32(code, w)
	}
	in, err := Decode(arch, code, 0)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func operandIs(t *testing.T, what string, o Operand, k OperandKind, index uint16, width uint8) {
	t.Helper()
	if o.Kind != k || o.Index != index || o.Width != width {
		t.Errorf("%s: kind %d index %d width %d, want %d %d %d", what, o.Kind, o.Index, o.Width, k, index, width)
	}
}

// All forms of an operation are the same Op, on both targets.
func TestOpIdentity(t *testing.T) {
	e32 := mustDecode(t, GFX90A, 0x68040702)                 // v_add_u32_e32 v2, s2, v3
	e64 := mustDecode(t, GFX942, 0xd1340002, 0x00020702)     // v_add_u32_e64
	sdwa := mustDecode(t, GFX90A, 0x680406f9, 0x06060602)    // v_add_u32_sdwa
	dpp := mustDecode(t, GFX942, 0x680406fa, 0xff00e402)     // v_add_u32_dpp
	old := mustDecode(t, GFX90A, 0xd3c00005, 0x04020904)     // v_mfma_f32_32x32x1f32
	renamed := mustDecode(t, GFX942, 0xd3c00005, 0x04020904) // v_mfma_f32_32x32x1_2b_f32
	for _, c := range []struct {
		in   Inst
		op   Op
		form Form
	}{{e32, V_ADD_U32, FormE32}, {e64, V_ADD_U32, FormE64}, {sdwa, V_ADD_U32, FormSDWA}, {dpp, V_ADD_U32, FormDPP},
		{old, V_MFMA_F32_32X32X1_2B_F32, FormNone}, {renamed, V_MFMA_F32_32X32X1_2B_F32, FormNone}} {
		if c.in.Op != c.op || c.in.Form != c.form {
			t.Errorf("%s: op %s form %d, want %s %d", c.in.String(), c.in.Op, c.in.Form, c.op, c.form)
		}
	}
	if V_ADD_U32.String() != "v_add_u32" {
		t.Errorf("name %s", V_ADD_U32)
	}
}

// Registers that are used without being encoded are filled in.
func TestImplicitOperands(t *testing.T) {
	in := mustDecode(t, GFX90A, 0x38040702) // v_addc_co_u32_e32 v2, vcc, s2, v3, vcc
	operandIs(t, "addc carry out", in.SDst, SGPR, RegVCC, 2)
	operandIs(t, "addc carry in", in.Src[2], SGPR, RegVCC, 2)
	in = mustDecode(t, GFX90A, 0x76040702) // v_fmac_f32_e32 v2, s2, v3
	operandIs(t, "fmac accumulator", in.Src[2], VGPR, 2, 1)
	in = mustDecode(t, GFX942, 0x2e040702, 0x3f800000) // v_fmamk_f32 v2, s2, 1.0, v3
	if in.Src[1].Kind != Literal || in.Src[1].Value != 0x3f800000 || in.Len != 8 {
		t.Errorf("fmamk constant %+v, length %d", in.Src[1], in.Len)
	}
	operandIs(t, "fmamk addend", in.Src[2], VGPR, 3, 1)
	in = mustDecode(t, GFX90A, 0x7c820702) // v_cmp_lt_f32_e32 vcc, s2, v3
	operandIs(t, "compare destination", in.Dst, SGPR, RegVCC, 2)
	in = mustDecode(t, GFX90A, 0xb7040005) // s_addk_i32 s4, 0x5
	operandIs(t, "addk source", in.Src[0], SGPR, 4, 1)
	if in.Info.Flags&WritesSCC == 0 || in.Simm16 != 5 {
		t.Errorf("addk: flags %x immediate %d", in.Info.Flags, in.Simm16)
	}
}

func TestConstants(t *testing.T) {
	for _, c := range []struct {
		words []uint32
		kind  OperandKind
		value uint64
	}{
		{[]uint32{0x7e0402f0}, Inline, 0x3f000000},                // v_mov_b32 0.5
		{[]uint32{0x7e0402c1}, Inline, 0xffffffff},                // v_mov_b32 -1
		{[]uint32{0x7e042ef0}, Inline, 0x3fe0000000000000},        // v_trunc_f64 0.5
		{[]uint32{0x7e042eff, 0x3ff00000}, Literal, 0x3ff0 << 48}, // v_trunc_f64 literal: high half
		{[]uint32{0xbe8401ff, 0xffffffff}, Literal, 0xffffffff},   // s_mov_b64 literal: zero extended
		{[]uint32{0xbe8401c1}, Inline, 0xffffffffffffffff},        // s_mov_b64 -1
		{[]uint32{0x3e0406f0}, Inline, 0x3800},                    // v_add_f16 0.5
	} {
		in := mustDecode(t, GFX942, c.words...)
		if in.Src[0].Kind != c.kind || in.Src[0].Value != c.value {
			t.Errorf("%s: %+v, want %#x", in.String(), in.Src[0], c.value)
		}
	}
	in := mustDecode(t, GFX942, 0xd3ee0008, 0x03ca010c|256<<9)
	if in.Src[2].Kind != Inline || in.Src[2].Value != 0x3ff0000000000000 {
		t.Errorf("%s: accumulator %+v", in.String(), in.Src[2])
	}
}

func TestMemoryOperands(t *testing.T) {
	in := mustDecode(t, GFX90A, 0xdd098ff8, 0x05020304) // global_atomic_add with glc
	operandIs(t, "returned value", in.Dst, VGPR, 5, 1)
	operandIs(t, "vector offset", in.Addr, VGPR, 4, 1)
	operandIs(t, "data", in.Data, VGPR, 3, 1)
	operandIs(t, "scalar base", in.Base, SGPR, 2, 2)
	if in.Offset != 0xff8 || !in.Returns() {
		t.Errorf("%s: offset %d returns %v", in.String(), in.Offset, in.Returns())
	}
	in = mustDecode(t, GFX90A, 0xdd089ff8, 0x057f0304) // without, offset -8, no base
	operandIs(t, "no returned value", in.Dst, None, 0, 0)
	operandIs(t, "vector address", in.Addr, VGPR, 4, 2)
	if in.Offset != -8 || in.Base.Kind != Off {
		t.Errorf("%s: offset %d", in.String(), in.Offset)
	}
	in = mustDecode(t, GFX942, 0xc0060083, 0x00000010) // s_load_dwordx2 s[2:3], s[6:7], 0x10
	operandIs(t, "loaded", in.Dst, SGPR, 2, 2)
	operandIs(t, "base", in.Base, SGPR, 6, 2)
	if in.Offset != 16 || !in.HasSImm || in.SOffset.Kind != None {
		t.Errorf("%s: offset %d", in.String(), in.Offset)
	}
	in = mustDecode(t, GFX942, 0xc0060083, 0x001ffffc) // offset -4
	if in.Offset != -4 {
		t.Errorf("%s: offset %d", in.String(), in.Offset)
	}
	in = mustDecode(t, GFX90A, 0xe0501010, 0x05020304) // buffer_load_dword v3, v4, s[8:11], s5 offen offset:16
	operandIs(t, "descriptor", in.Base, SGPR, 8, 4)
	operandIs(t, "offset register", in.SOffset, SGPR, 5, 1)
	if !in.OffEn || in.IdxEn || in.Offset != 16 {
		t.Errorf("%s: %+v", in.String(), in)
	}
	in = mustDecode(t, GFX90A, 0xd86e0201, 0x08000004) // ds_read2_b32
	if in.Offset0 != 1 || in.Offset1 != 2 || in.Info.Flags&TwoAddr == 0 {
		t.Errorf("%s: offsets %d %d", in.String(), in.Offset0, in.Offset1)
	}
}

func TestModifiers(t *testing.T) {
	in := mustDecode(t, GFX90A, 0xd1cb8205, 0x4c120d04|1<<8|1<<17|1<<26) // v_fma_f32 with abs, neg, clamp, omod
	if in.Abs != 2 || in.Neg != 2 || !in.Clamp || in.Omod != 1 {
		t.Errorf("%s: abs %b neg %b clamp %v omod %d", in.String(), in.Abs, in.Neg, in.Clamp, in.Omod)
	}
	in = mustDecode(t, GFX90A, 0x020804fa, 0xa1151104|1<<20) // v_add_f32_dpp row_shr:1
	if in.DPP.Ctrl != DPPRowShr|1 || in.DPP.RowMask != 10 || in.DPP.BankMask != 1 || in.DPP.BoundCtrl || in.Neg != 1 {
		t.Errorf("%s: %+v", in.String(), in.DPP)
	}
	in = mustDecode(t, GFX90A, 0x680804f9, 0x850c1104|1<<27) // v_add_u32_sdwa
	want := SDWA{DstSel: Byte1, DstUnused: UnusedPreserve, Src0Sel: Word0, Src1Sel: Word1, Sext: 3}
	if in.SDWA != want {
		t.Errorf("%s: %+v, want %+v", in.String(), in.SDWA, want)
	}
	operandIs(t, "SDWA scalar source", in.Src[1], SGPR, 2, 1)
}

func TestBranches(t *testing.T) {
	code := make([]byte, 64)
	binary.LittleEndian.PutUint32(code[32:], 0xbf84fffd) // s_cbranch_scc0 -3
	in, err := Decode(GFX90A, code, 32)
	if err != nil {
		t.Fatal(err)
	}
	if in.Target() != 32+4-12 || in.Info.Flags&(IsBranch|ReadsSCC|IsTerm) != IsBranch|ReadsSCC {
		t.Errorf("%s: target %d flags %x", in.String(), in.Target(), in.Info.Flags)
	}
	in = mustDecode(t, GFX90A, 0xbf810000)
	if in.Info.Flags&IsTerm == 0 {
		t.Error("s_endpgm goes on")
	}
}
