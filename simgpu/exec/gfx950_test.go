package exec

import (
	"errors"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// What gfx950 shares with gfx942 executes there; what it means otherwise, and of what it has alone what no
// document says exactly, is refused.
func TestGFX950(t *testing.T) {
	m := newMachine(t, gcn.GFX950)
	for i := range 64 {
		m.V[4][i], m.V[5][i] = uint32(i), 1000
	}
	m.inst("v_add_u32_e32 v6, v4, v5", 0x680c0b04)
	for i := range 64 {
		if got := m.V[6][i]; got != uint32(i)+1000 {
			t.Fatalf("lane %d: %d", i, got)
		}
	}
	for name, words := range map[string][]uint32{
		"v_cvt_sr_bf16_f32 v8, v12, v16":                        {0xd2a70008, 0x0002210c},
		"v_mfma_ld_scale_b32 v0, v4":                            {0xd3ac0000, 0x18020900},
		"v_mfma_f32_16x16x128_f8f6f4 cbsz:5":                    {0xd3ad0500, 0x04521904},
		"v_mfma_scale of an integer":                            {0xd3ac0000, 0x00023281, 0xd3ad0800, 0x04521904},
		"v_mfma_scale of a scalar register":                     {0xd3ac0000, 0x00023205, 0xd3ad0800, 0x04521904},
		"v_cvt_scalef32_pk_fp8_f16 v4, -v4, v5":                 {0xd2400004, 0x20020b04},
		"v_cvt_scalef32_pk_fp8_f16 v4, v4, v5 op_sel:[1,0,0]":   {0xd2400804, 0x00020b04},
		"v_alignbit_b32 v8, v12, v16, v20 op_sel:[1,0,0,0]":     {0xd1ce0808, 0x0452210c},
		"v_pk_fmac_f16_dpp v64, v220, v100 quad_perm:[2,1,0,3]": {0x7880c8fa, 0xff00c6dc},
	} {
		in, err := gcn.Decode(gcn.GFX950, bytesOf(words), 0)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, err := (&binder{p: NewProgram(gcn.GFX950, nil, Options{}), blk: &block{}}).bind(&in); !errors.Is(err, errNotExecutable) && !errors.Is(err, errModifier) && !errors.As(err, new(*badOperand)) {
			t.Errorf("%s: %v, want that it does not execute", in.String(), err)
		}
	}
}
