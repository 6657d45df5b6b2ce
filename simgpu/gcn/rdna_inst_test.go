package gcn

import (
	"encoding/binary"
	"testing"
)

// What random patterns find but once in many rounds.
func TestRareForms(t *testing.T) {
	for _, c := range []struct {
		arch  Arch
		words []uint32
		text  string // empty: no instruction
	}{
		{GFX1100, []uint32{0x7e000000}, "v_nop"},
		{GFX1100, []uint32{0x7e000104}, "v_nop"}, // source 0 is ignored
		{GFX1100, []uint32{0x7e0000fa}, "v_nop"}, // and is no form
		{GFX1100, []uint32{0x7e003680}, "v_pipeflush"},
		{GFX1100, []uint32{0x7efa057d}, "v_readfirstlane_b32 m0/*Invalid register, operand has 'SReg_32_XM0' register class*/, v125"},
		{GFX90A, []uint32{0x7ef8057d}, "v_readfirstlane_b32 m0/*Invalid register, operand has 'SReg_32_XM0' register class*/, v125"},
		{GFX1100, []uint32{0xf0634df8, 0x02f2d985}, "image_msaa_load v[217:219], v[133:134], s[72:79] dmask:0xd dim:SQ_RSRC_IMG_2D_MSAA unorm glc a16 tfe lwe d16"},
		{GFX1100, []uint32{0xf0658f80, 0x00020400}, "image_bvh_intersect_ray v[4:7], v[0:7], s[8:11] a16"},
		{GFX1100, []uint32{0xf0658f84, 0x00020400}, ""}, // with a dimension
		{GFX1100, []uint32{0xf065cf80, 0x00020400}, ""}, // with glc
		{GFX950, []uint32{0x7e32b6ff, 0x3972b935}, "v_cvt_f32_bf16_e32 v25, 0x3972b935"},
		{GFX942, []uint32{0xd1ce9057, 0x02f0a66a}, "v_alignbit_b32 v87, vcc_lo, s83, 60 op_sel:[0,1,0,0] clamp"},
	} {
		var code []byte
		for _, w := range c.words {
			code = binary.LittleEndian.AppendUint32(code, w)
		}
		in, err := Decode(c.arch, code, 0)
		switch {
		case c.text == "" && err == nil:
			t.Errorf("%v %08x: %s, want none", c.arch, c.words, in.String())
		case c.text != "" && (err != nil || in.String() != c.text || int(in.Len) != len(code)):
			t.Errorf("%v %08x: %q, %v, want %q", c.arch, c.words, in.String(), err, c.text)
		}
	}
}
