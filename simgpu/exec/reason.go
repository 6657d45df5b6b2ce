package exec

import (
	"github.com/rocwire/rocwire/simgpu/gcn"
)

// reasons are why the instructions that do not execute do not, by operation.
var reasons = map[string]string{
	"s_rfe_b64":                  "only a trap handler may execute it, which is the driver's and not the kernel's",
	"s_rfe_restore_b64":          "only a trap handler may execute it, which is the driver's and not the kernel's",
	"v_screen_partition_4se_b32": "for graphics: its table of screen regions is published for no target",
	"v_mfma_ld_scale_b32":        "what it does is published only as the first half of a scaled matrix instruction, and there it executes",
	"v_cvt_sr_f16_f32":           "which of the random bits it adds is published only for conversions to 8, 6 and 4 bits",
	"v_cvt_sr_bf16_f32":          "which of the random bits it adds is published only for conversions to 8, 6 and 4 bits",
	// RDNA
	"s_sendmsg_rtn_b32":         forTrapHandlers,
	"s_subvector_loop_begin":    ofLargeWaves,
	"s_subvector_loop_end":      ofLargeWaves,
	"v_illegal":                 "it is there to be illegal",
	"s_code_end":                "it stands behind the end of a program",
	"ds_ordered_count":          forGraphics,
	"ds_add_gs_reg_rtn":         forGraphics,
	"ds_sub_gs_reg_rtn":         forGraphics,
	"ds_bvh_stack_rtn_b32":      forRays,
	"image_bvh_intersect_ray":   forRays,
	"image_bvh64_intersect_ray": forRays,
}

const (
	forGraphics     = "for graphics"
	forRays         = "for ray tracing"
	forTrapHandlers = "what it asks for is a trap handler's business; the clock is asked for by s_sendmsg_rtn_b64"
	ofLargeWaves    = "for waves of 64 lanes that execute a loop half by half, which no compiler writes"
)

// Reason says why an instruction does not execute on a target; it is empty for those that do.
func Reason(arch gcn.Arch, info *gcn.OpInfo) string {
	ready()
	name := info.Op.String()
	if arch.Has(gcn.RDNA) {
		switch {
		case info.Enc == gcn.VINTERP, info.Enc == gcn.LDSDIR, info.Enc == gcn.EXPORT:
			return forGraphics
		case info.Enc == gcn.MIMG && reasons[name] == "" && handlers[name] == nil: // depths to compare with, samples, levels
			return forGraphics
		}
	}
	return reasons[name]
}

// Executable reports whether an instruction can be executed on a target.
func Executable(arch gcn.Arch, info *gcn.OpInfo) bool {
	ready()
	name := info.Op.String()
	return Reason(arch, info) == "" && (handlers[name] != nil || controls[name] != nil)
}
