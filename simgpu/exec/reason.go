package exec

import (
	"strings"
	"sync"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// reasons are why the instructions that do not execute do not.
var reasons = map[string]string{
	"s_rfe_b64":                  "only a trap handler may execute it, which is the driver's and not the kernel's",
	"s_rfe_restore_b64":          "only a trap handler may execute it, which is the driver's and not the kernel's",
	"v_screen_partition_4se_b32": "for graphics: its table of screen regions is published for no target",
}

// newest are the mnemonics that gfx950 alone has.
var newest = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{}
	for _, info := range gcn.Ops(gcn.GFX950) {
		names[info.Name] = true
	}
	for _, arch := range []gcn.Arch{gcn.GFX90A, gcn.GFX942} {
		for _, info := range gcn.Ops(arch) {
			delete(names, info.Name)
		}
	}
	return names
})

// Reason says why an instruction, by its mnemonic without encoding suffix, does
// not execute; it is empty for those that do.
func Reason(name string) string {
	if r := reasons[name]; r != "" {
		return r
	}
	if newest()[name] && !Executable(name) {
		return "new in gfx950, whose new instructions do not all execute yet"
	}
	return ""
}

// ReasonOn is Reason on a target, where that says more.
func ReasonOn(arch gcn.Arch, name string) string {
	if !arch.Has(gcn.FloatsNUZ) && (strings.Contains(name, "fp8") || strings.Contains(name, "bf8")) {
		return "its 8-bit floats are OCP's, and those of gfx942 are what executes"
	}
	return Reason(name)
}
