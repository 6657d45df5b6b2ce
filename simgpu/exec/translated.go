//go:build linux && amd64

package exec

// Translated reports whether there is a translation to machine code for
// the operation of this name. Some forms of its instructions are executed by functions
// nevertheless.
func Translated(name string) bool {
	ready()
	_, branch := nativeBranches[name]
	return branch || name == "s_branch" || nativeScalar[name] != nil || nativeVector[name] != nil || nativeMemory[name] != nil
}
