package exec

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Registers that random instructions read and never write: the addresses of
// memory, and what the control flow of a random program counts with.
const (
	randData   = 0  // s[0:1]: a page of device memory
	randBuffer = 4  // s[4:7]: the same as a raw buffer
	randStruct = 8  // s[8:11]: as a buffer of 16-byte elements
	randShared = 12 // s[12:13]: where the LDS is among all addresses
	randKept   = 14 // s14 to s31 are written by the program's frame alone
	randFree   = 32 // s32 to s99 are free

	randAddr = 0 // v[0:1]: an address, written before each access
	randLane = 2 // v2: 16 times the lane

	// The 64 vector and 64 accumulation registers that a program uses: integers, then floats, by their type. Which NaN an operation answers is not defined, so
	// that floats are never read as anything else; floating-point operations read integers, too.
	randF16, randF32, randF64, randVectors = 36, 44, 52, 64

	randSpan = 1024 // what an address register covers
)

// randOps are the instructions of a target that random programs are made of, by how their words are filled.
type randOps struct {
	alu, memory             []*gcn.OpInfo
	commonALU, commonMemory []*gcn.OpInfo
}

// notRandom are mnemonics that a random program has no use for: what they do is not determined by registers and memory, or goes anywhere, or
// they ask for all lanes.
var notRandom = []string{"s_getreg", "s_setreg", "s_getpc", "s_setvskip", "s_set_gpr_idx", "s_movrel", "v_movrel", "s_trap", "s_sendmsg", "s_sleep", "s_rfe", "s_icache",
	"s_mem", "s_dcache", "s_atc", "s_scratch", "s_cbranch", "s_endpgm", "s_sethalt", "s_ttrace", "s_call", "s_subvector", "ds_gws", "ds_append", "ds_consume", "ds_ordered", "ds_nop", "flat_scratch", "image_",
	"v_permlane16_swap", "v_permlane32_swap", "ds_read_b64_tr", "ds_read_b96_tr"}

// randCommon are what code has most of. Half of a program is made of these, for they are what is translated.
var randCommon = strings.Fields(`
v_cndmask_b32 v_cmp_lt_u32 v_add_u32 v_mul_f32 v_add_lshl_u32 v_add_co_u32 v_cvt_f16_f32 v_or_b32 v_and_b32 v_mov_b32 v_cvt_f32_f16 v_lshlrev_b32 v_pack_b32_f16 v_mul_lo_u32 v_fma_mix_f32
v_lshrrev_b32 v_cmp_eq_u32 v_cmp_u_f32 v_fmac_f32 v_mul_f64 v_addc_co_u32 v_fma_f64 v_bfe_u32 v_add3_u32 v_xor_b32 v_pk_fma_f16 v_add_f64 v_lshlrev_b64 v_pk_fma_f32 v_and_or_b32 v_sub_u32 v_fma_f32 v_fmac_f64
v_mad_u64_u32 v_cmp_ge_i32 v_add_f32 v_cmp_lt_i32 v_lshrrev_b64 v_pk_mov_b32 v_lshl_or_b32 v_pk_add_f32 v_mul_u32_u24 v_cmp_gt_u32 v_readfirstlane_b32 v_min_i32 v_min_u32 v_cmp_eq_f32 v_mul_hi_u32 v_cmp_ne_u32
v_cmp_gt_i32 v_mad_u32_u24 v_pk_mul_f32 v_perm_b32 v_pk_add_f16 v_lshl_add_u32 v_ashrrev_i32 v_min3_f32 v_min_f32 v_mul_i32_i24 v_pk_mul_f16 v_subrev_u32 v_max_f32 v_or3_b32 v_cmp_eq_u16 v_alignbit_b32 v_mad_i64_i32
v_accvgpr_read_b32 v_accvgpr_write_b32 v_sub_f32 v_max_i32 v_max_u32 v_bfi_b32 v_ffbh_u32 v_not_b32 v_bfe_i32 v_cvt_f32_u32 v_cvt_f32_i32 v_cvt_i32_f32 v_cvt_u32_f32 v_rcp_f32 v_floor_f32 v_ldexp_f32 v_cmp_class_f32 v_cmp_nlt_f64
v_med3_f32 v_sub_co_u32 v_subb_co_u32 v_mul_lo_u16 v_lshl_add_u64 v_mov_b64 v_cmp_lt_u64 v_cmp_gt_f32 v_cmp_lt_f64 v_mbcnt_lo_u32_b32 v_mbcnt_hi_u32_b32 v_bcnt_u32_b32 v_cvt_f64_f32 v_cvt_f32_f64 v_readlane_b32 v_writelane_b32
s_and_b64 s_add_u32 s_mul_i32 s_addc_u32 s_mov_b32 s_lshl_b32 s_sub_u32 s_cmp_eq_u32 s_cselect_b32 s_mov_b64 s_mul_hi_u32 s_subb_u32 s_or_saveexec_b64 s_lshl_b64 s_or_b64 s_and_b32 s_and_saveexec_b64 s_cmp_ge_u32
s_cmpk_gt_u32 s_cmov_b32 s_sub_i32 s_add_i32 s_cmp_le_i32 s_lshr_b64 s_lshr_b32 s_xor_b64 s_cmpk_eq_u32 s_cmp_eq_i32 s_movk_i32 s_andn2_b64 s_cmp_le_u32 s_or_b32 s_cmp_lg_u32 s_ashr_i32 s_cselect_b64 s_bfe_u32 s_ff1_i32_b32 s_bcnt1_i32_b64 s_not_b64 s_cmp_eq_u64
ds_bpermute_b32 ds_read_u16 ds_read_u16_d16_hi ds_read_b64 ds_write_b64 ds_read_b128 ds_write_b128 ds_read_b32 ds_write_b32 ds_write_b16 ds_read_u8 ds_read2_b64 ds_read2_b32 ds_write2_b32 ds_write2_b64 ds_write_b8 ds_add_u32 ds_add_rtn_u32
buffer_store_dword buffer_store_short buffer_load_short_d16 buffer_store_dwordx2 buffer_load_dwordx2 buffer_load_dword buffer_load_dwordx4 buffer_store_dwordx4 s_load_dwordx2 s_load_dword s_load_dwordx4 s_load_dwordx8 s_buffer_load_dword
global_store_dword global_load_ushort global_load_dword global_load_dwordx2 global_load_dwordx4 global_store_dwordx2 global_store_dwordx4 global_store_byte global_store_short global_load_ubyte global_atomic_add flat_load_dword flat_load_dwordx2 flat_store_dword
scratch_load_dword scratch_store_dword scratch_load_dwordx4 scratch_store_dwordx2 scratch_load_ubyte`)

func randomOps(arch gcn.Arch) *randOps {
	ready()
	o := &randOps{}
	for _, info := range gcn.Ops(arch) {
		if handlers[info.Name] == nil || controls[info.Name] != nil || len(info.Operands) == 0 || info.Flags&(gcn.LDSDest|gcn.IsBranch|gcn.IsTerm|gcn.IsGWS) != 0 ||
			payload.MatchString(info.Name) || slices.ContainsFunc(notRandom, func(p string) bool { return strings.HasPrefix(info.Name, p) }) {
			continue
		}
		all, common := &o.alu, &o.commonALU
		switch info.Enc {
		case gcn.DS, gcn.FLAT, gcn.GLOBAL, gcn.SCRATCH, gcn.MUBUF, gcn.MTBUF, gcn.SMEM:
			all, common = &o.memory, &o.commonMemory
		}
		*all = append(*all, info)
		if slices.Contains(randCommon, info.Name) {
			*common = append(*common, info)
		}
	}
	return o
}

// randPick chooses from all or from what is common.
func randPick(r *rand.Rand, all, common []*gcn.OpInfo) *gcn.OpInfo {
	if r.IntN(2) == 0 {
		all = common
	}
	return all[r.IntN(len(all))]
}

// randScalar is the number of a scalar source of so many dwords.
func randScalar(r *rand.Rand, width uint32) uint32 {
	switch k := r.IntN(16); {
	case k < 3 && width < 3:
		return 128 + uint32(r.IntN(81)) // integers
	case k == 3 && width < 3:
		return 240 + uint32(r.IntN(9)) // floats
	case k == 4 && width < 3:
		return []uint32{251, 252, 253}[r.IntN(3)] // VCCZ, EXECZ, SCC
	case k == 5 && width < 3:
		return []uint32{gcn.RegVCC, gcn.RegEXEC}[r.IntN(2)]
	case k == 6 && width == 1:
		return []uint32{gcn.RegVCC + 1, gcn.RegEXEC + 1, gcn.RegM0, randKept, randKept + 2, randKept + 4, randKept + 6}[r.IntN(7)]
	}
	return randScalarReg(r, width)
}

// randScalarReg is the number of a free scalar register, of which so many follow.
func randScalarReg(r *rand.Rand, width uint32) uint32 {
	if width < 3 && r.IntN(6) == 0 {
		return gcn.RegVCC
	}
	align := min(max(width, 1), 4)
	return randFree + uint32(r.IntN(int(100-randFree-width+1)))/align*align
}

// randVector is the number of a free vector register of which so many follow, for integers.
func randVector(r *rand.Rand, width uint32) uint32 { return randRegister(r, 3, randF16, width) }

// randRegister is a number from lo to before hi; what is wider than a dword begins at an even one.
func randRegister(r *rand.Rand, lo, hi, width uint32) uint32 {
	if width < 2 {
		return lo + uint32(r.IntN(int(hi-lo)))
	}
	if lo = (lo + 1) &^ 1; lo+width > hi {
		return 255 // none; randInst will not have it
	}
	return (lo + uint32(r.IntN(int(hi-lo-width+1)))) &^ 1
}

// randFloats is where the registers of an operand lie if it is a floating-point number, 0 if not.
func randFloats(info *gcn.OpInfo, o *gcn.OperandInfo) (lo, hi uint32) {
	t := o.Type
	switch name := info.Name; {
	case strings.HasPrefix(name, "v_cvt_pkrtz"), name == "v_pack_b32_f16":
		if o.Role == gcn.RoleDst {
			t = gcn.V2F16
		}
	case o.Role != gcn.RoleDst && (strings.HasPrefix(name, "v_cndmask") || strings.Contains(name, "_mix") || strings.HasSuffix(name, "p8") || strings.Contains(name, "_sr_")):
		return 0, 0 // they look at bits, or it depends on modifiers what they look at
	}
	switch t {
	case gcn.F16, gcn.V2F16:
		return randF16, randF32
	case gcn.F32, gcn.V2F32:
		return randF32, randF64
	case gcn.F64:
		return randF64, randVectors
	}
	return 0, 0
}

// randField is the number that stands for an operand in the instruction word.
func randField(r *rand.Rand, info *gcn.OpInfo, o *gcn.OperandInfo) uint32 {
	width := uint32(o.Type.Width())
	vector := func() uint32 {
		if lo, hi := randFloats(info, o); lo != 0 && (o.Role == gcn.RoleDst || r.IntN(2) == 0) {
			return 256 | randRegister(r, lo, hi, width)
		}
		return 256 | randVector(r, width)
	}
	switch o.Class {
	case gcn.ClassV, gcn.ClassA, gcn.ClassVA:
		return vector()
	case gcn.ClassVC:
		if r.IntN(4) == 0 {
			return 128 + uint32(r.IntN(81))
		}
		return vector()
	case gcn.ClassVS, gcn.ClassVSNL:
		if r.IntN(3) != 0 {
			return vector()
		}
		if o.Class == gcn.ClassVS && width < 3 && r.IntN(8) == 0 {
			return 255
		}
		return randScalar(r, width)
	case gcn.ClassSS:
		if width < 3 && r.IntN(8) == 0 {
			return 255
		}
		return randScalar(r, width)
	}
	return randScalarReg(r, width)
}

// randALU makes the words of an instruction that touches no memory. What it may not be is seen by decoding it.
func randALU(r *rand.Rand, arch gcn.Arch, info *gcn.OpInfo) []uint32 {
	var f [gcn.RoleImm + 1]uint32 // by role
	for i := range info.Operands {
		f[info.Operands[i].Role] = randField(r, info, &info.Operands[i])
	}
	op, d, s0, s1, s2 := uint32(info.Opcode[arch]), f[gcn.RoleDst], f[gcn.RoleSrc0], f[gcn.RoleSrc1], f[gcn.RoleSrc2]
	w := []uint32{0, r.Uint32(), r.Uint32()}
	if r.IntN(2) == 0 {
		w[1] = wild32(r) // a literal
	}
	long := func(lead uint32) {
		w[0] = lead | d&0xff
		if info.Operands[min(1, len(info.Operands)-1)].Role == gcn.RoleSDst {
			w[0] |= f[gcn.RoleSDst] << 8
		} else if r.IntN(3) == 0 {
			w[0] |= r.Uint32() & 0x7f00
		}
		if r.IntN(6) == 0 {
			w[0] |= 1 << 15
		}
		w[1] = s0 | s1<<9 | s2<<18
		if r.IntN(3) == 0 {
			w[1] |= r.Uint32() & (0x1f << 27)
		}
	}
	short := func() uint32 { // VOP1, VOP2, VOPC: the first source, or a form with a second word
		switch k := r.IntN(12); {
		case k == 0 && info.SDWA.OK:
			w[1] = r.Uint32()&^(0xff|7<<8|7<<16|7<<24) | randVector(r, 1) | uint32(r.IntN(7))<<8 | uint32(r.IntN(7))<<16 | uint32(r.IntN(7))<<24
			w[1] &^= 1<<23 | 1<<31 | info.SDWA.Zero
			if s1 >= 256+randF16 {
				s1 = 256 | randVector(r, 1)
			}
			if lo, _ := randFloats(info, &info.Operands[0]); lo != 0 { // the destination: whole floats
				w[1] = w[1]&^(7<<8|3<<11) | 6<<8
				if lo == randF16 {
					w[1] ^= uint32(r.IntN(3))<<8 | uint32(r.IntN(2))<<12
				}
			}
			return 249
		case k == 1 && info.DPP.OK:
			w[1] = r.Uint32()&^0xff | randVector(r, 1)
			if r.IntN(2) == 0 {
				w[1] |= 0xff << 24
			}
			w[1] &^= info.DPP.Zero
			return 250
		}
		return s0
	}
	switch info.Enc {
	case gcn.SOP1:
		w[0] = 0x17d<<23 | d<<16 | op<<8 | s0&0xff
	case gcn.SOP2:
		w[0] = 2<<30 | op<<23 | d<<16 | s1&0xff<<8 | s0&0xff
		if s0 == 255 && s1 == 255 {
			w[0] ^= 0x80
		}
	case gcn.SOPC:
		w[0] = 0x17e<<23 | op<<16 | s1&0xff<<8 | s0&0xff
	case gcn.SOPK:
		w[0] = 0xb<<28 | op<<23 | max(d, s0)&0x7f<<16 | r.Uint32()&0xffff
	case gcn.SOPP:
		w[0] = 0x17f<<23 | op<<16 | uint32(r.IntN(16))
	case gcn.VOP1:
		w[0] = 0x3f<<25 | d&0xff<<17 | op<<9 | short()
	case gcn.VOP2:
		first := short()
		w[0] = op<<25 | d&0xff<<17 | s1&0xff<<9 | first
	case gcn.VOPC:
		first := short()
		w[0] = 0x3e<<25 | op<<17 | s1&0xff<<9 | first
	case gcn.VOP3:
		long(0x34<<26 | op<<16)
	case gcn.VOP3P, gcn.MFMA:
		long(0x1a7<<23 | op<<16)
		if info.Enc == gcn.VOP3P && r.IntN(3) != 0 {
			w[0] |= 1 << 14
			w[1] |= 3 << 27
		}
	}
	w[0] &^= uint32(info.Zero[arch])
	if info.Enc == gcn.VOP3 || info.Enc == gcn.VOP3P || info.Enc == gcn.MFMA {
		w[1] &^= uint32(info.Zero[arch] >> 32)
	}
	return w
}

// randMemory makes the words of an access whose address is in v0, or in v[0:1].
func randMemory(r *rand.Rand, arch gcn.Arch, info *gcn.OpInfo) []uint32 {
	op := uint32(info.Opcode[arch])
	var f [gcn.RoleImm + 1]uint32
	for i := range info.Operands {
		o := &info.Operands[i]
		f[o.Role] = randField(r, info, o) & 0xff
	}
	v, acc := f[gcn.RoleDst], uint32(0)
	if info.Flags&gcn.IsLoad == 0 && info.Flags&gcn.IsAtomic == 0 {
		v = f[gcn.RoleData]
	}
	if r.IntN(6) == 0 {
		acc = 1
	}
	glc := uint32(r.IntN(2))
	offset := func(n int) uint32 { // atomics are aligned
		if o := uint32(r.IntN(n)); info.Flags&gcn.IsAtomic == 0 {
			return o
		} else {
			return o &^ 7
		}
	}
	w := []uint32{0, 0, 0}
	switch info.Enc {
	case gcn.DS:
		w[0] = 0x36<<26 | acc<<25 | op<<17
		switch {
		case info.Flags&gcn.TwoAddr == 0:
			w[0] |= offset(1024)
		case strings.Contains(info.Name, "st64"):
			w[0] |= uint32(r.IntN(4)) << 8 // the second is the first, or beyond the end
		default:
			w[0] |= uint32(r.IntN(2))<<8 | uint32(r.IntN(2))
		}
		w[1] = f[gcn.RoleDst]<<24 | f[gcn.RoleData1]<<16 | f[gcn.RoleData]<<8 | randAddr
	case gcn.FLAT, gcn.GLOBAL, gcn.SCRATCH:
		w[0] = 0x37<<26 | op<<18 | glc<<16
		w[1] = f[gcn.RoleDst]<<24 | acc<<23 | 0x7f<<16 | f[gcn.RoleData]<<8 | randAddr
		switch info.Enc {
		case gcn.GLOBAL:
			w[0] |= 2<<14 | offset(page-randSpan-16)
			w[1] = w[1]&^(0x7f<<16) | randData<<16
		case gcn.SCRATCH:
			w[0] |= 1<<14 | offset(52)*4
			if arch.Has(gcn.ArchitectedScratch) {
				w[0] |= uint32(r.IntN(2)) << 13
			}
		default:
			w[0] |= offset(64)
		}
	case gcn.MUBUF, gcn.MTBUF:
		base, mode := uint32(randBuffer), uint32(1) // offen
		if r.IntN(2) == 0 {
			base, mode = randStruct, uint32(2)
		}
		if info.Enc == gcn.MUBUF {
			w[0] = 0x38<<26 | op<<18 | glc<<14
		} else {
			w[0] = 0x3a<<26 | op<<15 | glc<<14 | randFormat(r)<<19
		}
		w[0] |= mode<<12 | offset(256)*4
		w[1] = 128<<24 | acc<<23 | base/4<<16 | v<<8 | randAddr
		if mode == 2 {
			w[0] &^= 0xff4
		}
	case gcn.SMEM:
		base := uint32(randData)
		if strings.HasPrefix(info.Name, "s_buffer") {
			base = randBuffer
		}
		w[0] = 0x30<<26 | op<<18 | 1<<17 | max(f[gcn.RoleDst], f[gcn.RoleData])<<6 | base/2
		w[1] = uint32(r.IntN(page/4-16)) * 4
		if info.Flags&gcn.IsAtomic != 0 {
			w[1] &^= 4 // two dwords are aligned
		}
	}
	w[0] &^= uint32(info.Zero[arch])
	w[1] &^= uint32(info.Zero[arch] >> 32)
	return w
}

// payload are what makes bits of floats that nobody promises, and has no type to tell.
var payload = regexp.MustCompile(`^v_s?mf.*_(f32|f64|xf32)_|_(atomic|ds)_.*f|^ds_.*_(f32|f64|f16|bf16)$`)

// randFormat is a format of typed buffers: integers of every size, and floats.
func randFormat(r *rand.Rand) uint32 {
	if r.IntN(3) == 0 {
		return []uint32{2, 4, 5, 11, 12, 13, 14}[r.IntN(7)] | 7<<4
	}
	return 1 + uint32(r.IntN(5)) | uint32(r.IntN(2)*9) | uint32(4+r.IntN(2))<<4
}

// randBinds are programs without code: they say whether an instruction is executable in all it asks for.
var randBinds = map[gcn.Arch]*Program{gcn.GFX90A: NewProgram(gcn.GFX90A, nil, Options{}), gcn.GFX942: NewProgram(gcn.GFX942, nil, Options{}), gcn.GFX950: NewProgram(gcn.GFX950, nil, Options{})}

// randInst decodes words and reports whether a random program may contain the instruction: its operands are what they may be, and it writes nothing that is kept.
func randInst(arch gcn.Arch, words []uint32) (gcn.Inst, bool) {
	in, err := gcn.Decode(arch, bytesOf(words), 0)
	if err != nil || in.LDS || in.Enc == gcn.MUBUF && in.Addr.Kind == gcn.Off {
		return in, false
	}
	for _, o := range []*gcn.Operand{&in.Dst, &in.SDst, &in.Src[0], &in.Src[1], &in.Src[2], &in.Addr, &in.Data, &in.Data1, &in.Base, &in.SOffset} {
		if o.Kind == gcn.Bad || o.Kind == gcn.Special && o.Index == gcn.SrcLDSDirect || o.Kind == gcn.VGPR && o.Index+uint16(o.Width) > randVectors {
			return in, false
		}
	}
	outs := []*gcn.Operand{&in.Dst, &in.SDst}
	if in.Info.Name == "v_swap_b32" {
		outs = append(outs, &in.Src[0])
	}
	for _, o := range outs {
		n, width := o.Index, max(uint16(o.Width), 1)
		switch {
		case o.Kind == gcn.VGPR && n <= randLane:
			return in, false
		case o.Kind == gcn.SGPR && n < randFree, o.Kind == gcn.SGPR && n < gcn.RegVCC && n+width > 100:
			return in, false
		case o.Kind == gcn.SGPR && n >= gcn.RegVCC+2 && n != gcn.RegM0 && n != gcn.RegEXEC:
			return in, false
		}
	}
	_, err = (&binder{p: randBinds[arch], blk: &block{}}).bind(&in)
	return in, err == nil
}
