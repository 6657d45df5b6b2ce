package codeobject

import "fmt"

// Hidden holds what a runtime tells a kernel besides its arguments. Fields
// that a kernel does not ask for are not used; a kernel of code object version
// 4 asks for other fields than one of version 5 or 6.
type Hidden struct {
	BlockCount   [3]uint32 // complete workgroups along each axis
	GroupSize    [3]uint16 // of a complete workgroup, in work-items
	Remainder    [3]uint16 // of the last, incomplete workgroup; 0: there is none
	GlobalOffset [3]uint64
	GridDims     uint16 // 1 to 3

	PrintfBuffer     uint64 // addresses; 0: there is none
	HostcallBuffer   uint64
	DefaultQueue     uint64
	CompletionAction uint64
	MultigridSync    uint64
	Heap             uint64
	QueuePtr         uint64
	DynamicLDSSize   uint32 // bytes of LDS the launch adds
	PrivateBase      uint32 // high halves of the aperture addresses
	SharedBase       uint32
}

// SetGrid fills in what follows from a launch of grid work-items in workgroups
// of block work-items. Both have no zero. HIP's grids always have three
// dimensions.
func (h *Hidden) SetGrid(grid, block [3]uint32) {
	h.GridDims = 3
	for i := range 3 {
		b := max(block[i], 1)
		h.BlockCount[i] = grid[i] / b
		h.GroupSize[i] = uint16(b)
		h.Remainder[i] = uint16(grid[i] % b)
	}
}

// value is the value of a hidden argument.
func (h *Hidden) value(kind ArgKind) uint64 {
	switch kind {
	case ArgHiddenGlobalOffsetX, ArgHiddenGlobalOffsetY, ArgHiddenGlobalOffsetZ:
		return h.GlobalOffset[kind-ArgHiddenGlobalOffsetX]
	case ArgHiddenBlockCountX, ArgHiddenBlockCountY, ArgHiddenBlockCountZ:
		return uint64(h.BlockCount[kind-ArgHiddenBlockCountX])
	case ArgHiddenGroupSizeX, ArgHiddenGroupSizeY, ArgHiddenGroupSizeZ:
		return uint64(h.GroupSize[kind-ArgHiddenGroupSizeX])
	case ArgHiddenRemainderX, ArgHiddenRemainderY, ArgHiddenRemainderZ:
		return uint64(h.Remainder[kind-ArgHiddenRemainderX])
	case ArgHiddenGridDims:
		return uint64(h.GridDims)
	case ArgHiddenPrintfBuffer:
		return h.PrintfBuffer
	case ArgHiddenHostcallBuffer:
		return h.HostcallBuffer
	case ArgHiddenDefaultQueue:
		return h.DefaultQueue
	case ArgHiddenCompletionAction:
		return h.CompletionAction
	case ArgHiddenMultigridSync:
		return h.MultigridSync
	case ArgHiddenHeap:
		return h.Heap
	case ArgHiddenDynamicLDSSize:
		return uint64(h.DynamicLDSSize)
	case ArgHiddenPrivateBase:
		return uint64(h.PrivateBase)
	case ArgHiddenSharedBase:
		return uint64(h.SharedBase)
	case ArgHiddenQueuePtr:
		return h.QueuePtr
	}
	return 0
}

// PackArgs lays out the arguments of a program, one []byte per explicit
// argument and of its size, as they lie in the argument segment. The result is
// ExplicitSize bytes.
func (k *Kernel) PackArgs(args [][]byte) ([]byte, error) {
	if len(args) > 0 && k.opaque() {
		return nil, k.argsError("nothing describes its arguments, pass the argument segment whole")
	}
	if len(args) != len(k.Args) {
		return nil, k.argsError("it takes %d arguments, not %d", len(k.Args), len(args))
	}
	seg := make([]byte, k.ExplicitSize)
	for i := range args {
		a := &k.Args[i]
		if uint64(len(args[i])) != uint64(a.Size) {
			return nil, k.argsError("argument %d is %d bytes long, not %d", i, a.Size, len(args[i]))
		}
		copy(seg[a.Offset:], args[i])
	}
	return seg, nil
}

// FillKernarg fills seg, KernargSize bytes of memory, with a kernel's argument
// segment: packed are the explicit arguments as they lie in memory (at least
// ExplicitSize bytes; what follows them is ignored), hidden the rest. What
// neither covers is zero. It allocates nothing.
func (k *Kernel) FillKernarg(seg, packed []byte, hidden *Hidden) error {
	if uint64(len(seg)) < uint64(k.KernargSize) {
		return k.argsError("its argument segment is %d bytes, there is room for %d", k.KernargSize, len(seg))
	}
	if uint64(len(packed)) < uint64(k.ExplicitSize) && !k.opaque() {
		return k.argsError("its arguments are %d bytes, %d were passed", k.ExplicitSize, len(packed))
	}
	seg = seg[:k.KernargSize]
	packed = packed[:min(len(packed), int(k.ExplicitSize))]
	clear(seg[copy(seg, packed):])
	for i := range k.Hidden {
		a := &k.Hidden[i]
		var v [8]byte
		le.PutUint64(v[:], hidden.value(a.Kind))
		place := seg[a.Offset : a.Offset+a.Size]
		clear(place[copy(place, v[:]):])
	}
	return nil
}

// Kernarg is FillKernarg into new memory.
func (k *Kernel) Kernarg(packed []byte, hidden *Hidden) ([]byte, error) {
	seg := make([]byte, k.KernargSize)
	return seg, k.FillKernarg(seg, packed, hidden)
}

// opaque tells that nothing describes the argument segment, as for kernels of
// hand-written assembly: it is passed whole, and what is missing is zero.
func (k *Kernel) opaque() bool { return len(k.Args)+len(k.Hidden) == 0 }

func (k *Kernel) argsError(format string, args ...any) error {
	return &ArgsError{Kernel: k.Name, What: fmt.Sprintf(format, args...)}
}
