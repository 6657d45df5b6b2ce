package hipabi

import "github.com/rocwire/rocwire/codeobject"

// kernelWith is a function whose kernel needs so much.
func kernelWith(granules, sgprs, lds uint32) *function {
	k := &codeobject.Kernel{Name: "k", SGPRs: sgprs, GroupSize: lds}
	k.Descriptor.Rsrc1 = granules
	return newFunction(1, nil, k)
}
