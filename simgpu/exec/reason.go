package exec

// reasons are why the instructions that do not execute do not.
var reasons = map[string]string{
	"s_rfe_b64":                  "only a trap handler may execute it, which is the driver's and not the kernel's",
	"s_rfe_restore_b64":          "only a trap handler may execute it, which is the driver's and not the kernel's",
	"v_screen_partition_4se_b32": "for graphics: its table of screen regions is published for neither target",
}

// Reason says why an instruction, by its mnemonic without encoding suffix, does
// not execute; it is empty for those that do.
func Reason(name string) string { return reasons[name] }
