package codeobject

// Kernel is one kernel of a code object.
type Kernel struct {
	Name   string // "_Z6vectorPfi"
	Symbol string // of the descriptor: Name + ".kd"

	Addr       uint64 // of the descriptor, relative to the base
	Entry      uint64 // of the first instruction, relative to the base
	Descriptor Descriptor

	// The argument segment. Args are the arguments a program passes, Hidden
	// those the runtime adds, both in the order of the metadata.
	KernargSize  uint32
	KernargAlign uint32
	Args         []Arg
	Hidden       []Arg
	// ExplicitSize is where the last of Args ends, in bytes from the start of
	// the segment.
	ExplicitSize uint32

	GroupSize   uint32 // static LDS of a workgroup, in bytes
	PrivateSize uint32 // scratch of a lane, in bytes; a minimum if DynamicStack

	MaxFlatWorkgroupSize   uint32    // 0: not said
	RequiredWorkgroupSize  [3]uint32 // zeros: any
	UniformWorkgroupSize   bool      // the grid must be a multiple of the workgroup
	SGPRs, VGPRs, AGPRs    uint32
	SGPRSpills, VGPRSpills uint32
	WavefrontSize          uint32
	DynamicStack           bool
	WorkgroupProcessorMode bool
	Language               string
	Kind                   string // "", "normal", "init", "fini"
	DeviceEnqueueSymbol    string
	HasMetadata            bool // false: only the descriptor speaks
}

// Arg is one argument of a kernel.
type Arg struct {
	Kind         ArgKind
	Offset, Size uint32 // in the argument segment, in bytes
	Name         string
	TypeName     string
	AddressSpace string // of a pointer: "global", "local", …
	Access       string // "read_only", "write_only", "read_write" or ""
	PointeeAlign uint32 // of a DynamicSharedPointer
}

// ArgKind says what an argument is.
type ArgKind uint8

const (
	ArgUnknown ArgKind = iota
	ArgByValue
	ArgGlobalBuffer
	ArgDynamicSharedPointer
	ArgSampler
	ArgImage
	ArgPipe
	ArgQueue
	// firstHidden and later are filled in by the runtime.
	ArgHiddenNone
	ArgHiddenGlobalOffsetX
	ArgHiddenGlobalOffsetY
	ArgHiddenGlobalOffsetZ
	ArgHiddenBlockCountX
	ArgHiddenBlockCountY
	ArgHiddenBlockCountZ
	ArgHiddenGroupSizeX
	ArgHiddenGroupSizeY
	ArgHiddenGroupSizeZ
	ArgHiddenRemainderX
	ArgHiddenRemainderY
	ArgHiddenRemainderZ
	ArgHiddenGridDims
	ArgHiddenPrintfBuffer
	ArgHiddenHostcallBuffer
	ArgHiddenDefaultQueue
	ArgHiddenCompletionAction
	ArgHiddenMultigridSync
	ArgHiddenHeap
	ArgHiddenDynamicLDSSize
	ArgHiddenPrivateBase
	ArgHiddenSharedBase
	ArgHiddenQueuePtr

	firstHidden = ArgHiddenNone
)

var argKindNames = [...]string{"unknown", "by_value", "global_buffer", "dynamic_shared_pointer", "sampler", "image",
	"pipe", "queue", "hidden_none", "hidden_global_offset_x", "hidden_global_offset_y", "hidden_global_offset_z",
	"hidden_block_count_x", "hidden_block_count_y", "hidden_block_count_z", "hidden_group_size_x",
	"hidden_group_size_y", "hidden_group_size_z", "hidden_remainder_x", "hidden_remainder_y", "hidden_remainder_z",
	"hidden_grid_dims", "hidden_printf_buffer", "hidden_hostcall_buffer", "hidden_default_queue",
	"hidden_completion_action", "hidden_multigrid_sync_arg", "hidden_heap_v1", "hidden_dynamic_lds_size",
	"hidden_private_base", "hidden_shared_base", "hidden_queue_ptr"}

var argKinds = func() map[string]ArgKind {
	m := map[string]ArgKind{}
	for i, n := range argKindNames {
		m[n] = ArgKind(i)
	}
	return m
}()

// String is the name in the metadata.
func (k ArgKind) String() string {
	if int(k) < len(argKindNames) {
		return argKindNames[k]
	}
	return argKindNames[0]
}

// Hidden tells that the runtime fills the argument in.
func (k ArgKind) Hidden() bool { return k >= firstHidden }

// Pointer tells that the argument is certainly a device address. Kernels in
// assembly language pass addresses by value too.
func (k ArgKind) Pointer() bool { return k == ArgGlobalBuffer }

// Uses tells whether the kernel has a hidden argument of a kind: whether it
// needs a hostcall buffer, a heap, a queue.
func (k *Kernel) Uses(kind ArgKind) bool {
	for i := range k.Hidden {
		if k.Hidden[i].Kind == kind {
			return true
		}
	}
	return false
}
