//go:build linux && amd64

package exec

import "github.com/rocwire/rocwire/simgpu/gcn"

// Translated reports whether there is a translation to machine code for
// the operation of this name on a target. Some forms of its instructions are executed by functions
// nevertheless.
func Translated(arch gcn.Arch, name string) bool {
	ready()
	if name == gcn.S_SENDMSG.String() && !arch.Has(gcn.RDNA) { // see freesRegisters
		return false
	}
	_, branch := nativeBranches[name]
	return branch || name == "s_branch" || nativeScalar[name] != nil || nativeVector[name] != nil || nativeMemory[name] != nil
}
