package hipv1

// ModuleLoadRequest is the request of OpModuleLoadData, OpModuleLoadDataEx and OpModuleLoadAndGetFunction.
// Behind it: bytes code_object[data_size].
type ModuleLoadRequest struct {
	DataSize uint64
	Vhandle  uint64
}

// ModuleLoadReply is the reply to OpModuleLoadData.
type ModuleLoadReply struct {
	Module uint64
}

// ModuleUnloadRequest is the request of OpModuleUnload.
type ModuleUnloadRequest struct {
	Module uint64
}

// ModuleGetFunctionRequest is the request of OpModuleGetFunction.
type ModuleGetFunctionRequest struct {
	Module       uint64
	Vhandle      uint64
	FunctionName [1024]byte
}

// ModuleGetFunctionReply is the reply to OpModuleGetFunction.
type ModuleGetFunctionReply struct {
	Function  uint64
	NumArgs   uint32
	NumParams uint32
	Params    [64]ParamDesc
}

// LaunchKernelRequest is the request of OpLaunchKernel and OpModuleLaunchKernel. Behind it:
// HipRemoteKernelArg args[num_args]; bytes arg_data[].
type LaunchKernelRequest struct {
	Function       uint64
	GridDimX       uint32
	GridDimY       uint32
	GridDimZ       uint32
	BlockDimX      uint32
	BlockDimY      uint32
	BlockDimZ      uint32
	SharedMemBytes uint32
	Stream         uint64
	NumArgs        uint32
	LaunchFlags    uint32
	StartEvent     uint64
	StopEvent      uint64
	ExtFlags       uint32
}

// FuncGetAttributesRequest is the request of OpFuncGetAttributes.
type FuncGetAttributesRequest struct {
	Function uint64
}

// FuncGetAttributesReply is the reply to OpFuncGetAttributes.
type FuncGetAttributesReply struct {
	SharedSizeBytes               int32
	ConstSizeBytes                int32
	LocalSizeBytes                int32
	NumRegs                       int32
	MaxThreadsPerBlock            int32
	PtxVersion                    int32
	BinaryVersion                 int32
	CacheModeCa                   int32
	MaxDynamicSharedSizeBytes     int32
	PreferredSharedMemoryCarveout int32
}

// FuncSetAttributeRequest is the request of OpFuncSetAttribute.
type FuncSetAttributeRequest struct {
	Function  uint64
	Attribute int32
	Value     int32
}

// FuncSetCacheConfigRequest is the request of OpFuncSetCacheConfig.
type FuncSetCacheConfigRequest struct {
	Function    uint64
	CacheConfig int32
}
