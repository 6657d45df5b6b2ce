package exec

// reasons are why the instructions that do not execute do not.
var reasons = map[string]string{
	"s_rfe_b64":                  "only a trap handler may execute it, which is the driver's and not the kernel's",
	"s_rfe_restore_b64":          "only a trap handler may execute it, which is the driver's and not the kernel's",
	"v_screen_partition_4se_b32": "for graphics: its table of screen regions is published for no target",
	"v_mfma_ld_scale_b32":        "what it does is published only as the first half of a scaled matrix instruction, and there it executes",
	"v_cvt_sr_f16_f32":           "which of the random bits it adds is published only for conversions to 8, 6 and 4 bits",
	"v_cvt_sr_bf16_f32":          "which of the random bits it adds is published only for conversions to 8, 6 and 4 bits",
}

// Reason says why an instruction, by its mnemonic without encoding suffix, does
// not execute; it is empty for those that do.
func Reason(name string) string { return reasons[name] }
