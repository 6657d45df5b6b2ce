package ebpf

// class says what a function does and so what is looked at; bpf/calls.h has the same.
type class uint8

const (
	plain class = iota
	copyBytes
	copyParms
	copy2D
	copy3D
	alloc
	allocPitch
	alloc3D
	free
	launchDim3
	launchSix
	launchStruct
	launchList
	launch
	reset
)

// none is the position of an argument that a function does not have.
const none = 15

// Kinds of copies are hipMemcpyKind's, kinds of memory the order of
// local.Process.
const (
	toDevice   = 1
	fromDevice = 2
	onDevice   = 3

	deviceMemory  = 0
	managedMemory = 1
	hostMemory    = 2
)

// function is a function and where its arguments are; bpf/arguments.h says how
// positions are counted.
type function struct {
	class   class
	a, b, c uint8
	fixed   uint8
}

// cookie is what the kernel hands to the probe of a function.
func (f function) cookie(op int) uint64 {
	return uint64(op) | uint64(f.class)<<16 | uint64(f.a)<<24 | uint64(f.b)<<28 | uint64(f.c)<<32 | uint64(f.fixed)<<40
}

// Shapes that several functions share.
var (
	anything = function{class: plain}

	copyKind3  = function{class: copyBytes, a: 2, b: none, c: 3} // (to, from, bytes, kind, …)
	copyKind4  = function{class: copyBytes, a: 2, b: none, c: 4} // (to, from, bytes, offset, kind, …), one of them a symbol
	copyKind5  = function{class: copyBytes, a: 4, b: none, c: 5} // (…, bytes, kind), one side an array
	copyRows4  = function{class: copyBytes, a: 4, b: 5, c: 6}    // (to, pitch, from, pitch, width, height, kind, …)
	copyRows5  = function{class: copyBytes, a: 5, b: 6, c: 7}    // the same with an array
	copyRows6  = function{class: copyBytes, a: 6, b: 7, c: 8}    // the same with two arrays
	copyStruct = function{class: copyParms}

	mallocDevice = function{class: alloc, b: 1, fixed: deviceMemory} // (address out, bytes, …)
	mallocHost   = function{class: alloc, b: 1, fixed: hostMemory}
	mallocPitch  = function{class: allocPitch, b: 1, c: 3} // (address out, pitch out, width, height, …)
	freeFirst    = function{class: free}

	dim3s     = function{class: launchDim3, a: 1}          // (function, grid, block, …)
	blocks    = function{class: launchSix, a: 1}           // (function, grid x, y, z, block x, y, z, …)
	threads   = function{class: launchSix, a: 1, fixed: 1} // the same, the grid in threads
	config    = function{class: launchStruct}
	severally = function{class: launchList, b: 1} // (structures, how many, …)
)

func copyFixed(size, kind uint8) function {
	return function{class: copyBytes, a: size, b: none, c: none, fixed: kind}
}

// groups are the functions by group. Those that return at once and are called all the
// time, such as hipGetDevice, hipGetLastError and hipEventQuery, are in none: probing
// them would cost programs much and tell little.
var groups = map[string]map[string]function{
	"memory": {
		"hipMalloc": mallocDevice, "hipExtMallocWithFlags": mallocDevice, "hipMallocAsync": mallocDevice,
		"hipMallocFromPoolAsync": mallocDevice, "hipMemCreate": mallocDevice,
		"hipMallocManaged": {class: alloc, b: 1, fixed: managedMemory},
		"hipHostMalloc":    mallocHost, "hipHostAlloc": mallocHost, "hipMallocHost": mallocHost,
		"hipMemAllocHost": mallocHost, "hipExtHostAlloc": mallocHost,
		"hipMallocPitch": mallocPitch, "hipMemAllocPitch": mallocPitch,
		"hipMalloc3D": {class: alloc3D, b: 7, c: 8}, // the extent lies on the stack: 6 width, 7 height, 8 depth
		"hipFree":     freeFirst, "hipFreeAsync": freeFirst, "hipHostFree": freeFirst, "hipFreeHost": freeFirst, "hipMemRelease": freeFirst,
		"hipMallocArray": anything, "hipMalloc3DArray": anything, "hipFreeArray": anything, "hipMallocMipmappedArray": anything,
		"hipFreeMipmappedArray": anything, "hipArrayCreate": anything, "hipArray3DCreate": anything, "hipArrayDestroy": anything,
		"hipHostRegister": anything, "hipHostUnregister": anything,
		"hipMemAddressReserve": anything, "hipMemAddressFree": anything, "hipMemMap": anything, "hipMemUnmap": anything,
		"hipMemPoolCreate": anything, "hipMemPoolDestroy": anything, "hipMemPoolTrimTo": anything,
		"hipIpcOpenMemHandle": anything, "hipIpcCloseMemHandle": anything,
		"hipDeviceReset": {class: reset},
	},
	"copy": {
		"hipMemcpy": copyKind3, "hipMemcpy_spt": copyKind3, "hipMemcpyAsync": copyKind3, "hipMemcpyAsync_spt": copyKind3,
		"hipMemcpyWithStream": copyKind3,
		"hipMemcpyHtoD":       copyFixed(2, toDevice), "hipMemcpyHtoDAsync": copyFixed(2, toDevice),
		"hipMemcpyDtoH": copyFixed(2, fromDevice), "hipMemcpyDtoHAsync": copyFixed(2, fromDevice),
		"hipMemcpyDtoD": copyFixed(2, onDevice), "hipMemcpyDtoDAsync": copyFixed(2, onDevice),
		"hipMemcpyHtoA": copyFixed(3, toDevice), "hipMemcpyHtoAAsync": copyFixed(3, toDevice),
		"hipMemcpyAtoH": copyFixed(3, fromDevice), "hipMemcpyAtoHAsync": copyFixed(3, fromDevice),
		"hipMemcpyAtoD": copyFixed(3, onDevice), "hipMemcpyDtoA": copyFixed(3, onDevice), "hipMemcpyAtoA": copyFixed(4, onDevice),
		"hipMemcpyPeer": copyFixed(4, onDevice), "hipMemcpyPeerAsync": copyFixed(4, onDevice),
		"hipMemcpyToSymbol": copyKind4, "hipMemcpyToSymbol_spt": copyKind4, "hipMemcpyToSymbolAsync": copyKind4, "hipMemcpyToSymbolAsync_spt": copyKind4,
		"hipMemcpyFromSymbol": copyKind4, "hipMemcpyFromSymbol_spt": copyKind4, "hipMemcpyFromSymbolAsync": copyKind4, "hipMemcpyFromSymbolAsync_spt": copyKind4,
		"hipMemcpyToArray": copyKind5, "hipMemcpyFromArray": copyKind5, "hipMemcpyFromArray_spt": copyKind5,
		"hipMemcpy2D": copyRows4, "hipMemcpy2D_spt": copyRows4, "hipMemcpy2DAsync": copyRows4, "hipMemcpy2DAsync_spt": copyRows4,
		"hipMemcpy2DToArray": copyRows5, "hipMemcpy2DToArray_spt": copyRows5, "hipMemcpy2DToArrayAsync": copyRows5, "hipMemcpy2DToArrayAsync_spt": copyRows5,
		"hipMemcpy2DFromArray": copyRows5, "hipMemcpy2DFromArray_spt": copyRows5, "hipMemcpy2DFromArrayAsync": copyRows5, "hipMemcpy2DFromArrayAsync_spt": copyRows5,
		"hipMemcpy2DArrayToArray": copyRows6,
		"hipMemcpy3D":             copyStruct, "hipMemcpy3D_spt": copyStruct, "hipMemcpy3DAsync": copyStruct, "hipMemcpy3DAsync_spt": copyStruct,
		"hipMemcpyParam2D": {class: copy2D}, "hipMemcpyParam2DAsync": {class: copy2D}, "hipDrvMemcpy2DUnaligned": {class: copy2D},
		"hipDrvMemcpy3D": {class: copy3D}, "hipDrvMemcpy3DAsync": {class: copy3D},
		"hipMemset": anything, "hipMemset_spt": anything, "hipMemsetAsync": anything, "hipMemsetAsync_spt": anything,
		"hipMemsetD8": anything, "hipMemsetD8Async": anything, "hipMemsetD16": anything, "hipMemsetD16Async": anything,
		"hipMemsetD32": anything, "hipMemsetD32Async": anything,
		"hipMemset2D": anything, "hipMemset2D_spt": anything, "hipMemset2DAsync": anything, "hipMemset2DAsync_spt": anything,
		"hipMemset3D": anything, "hipMemset3D_spt": anything, "hipMemset3DAsync": anything, "hipMemset3DAsync_spt": anything,
		"hipMemPrefetchAsync": anything,
	},
	"launch": {
		"hipLaunchKernel": dim3s, "hipLaunchKernel_spt": dim3s, "hipExtLaunchKernel": dim3s,
		"hipLaunchCooperativeKernel": dim3s, "hipLaunchCooperativeKernel_spt": dim3s,
		"hipModuleLaunchKernel": blocks, "hipModuleLaunchCooperativeKernel": blocks,
		"hipExtModuleLaunchKernel": threads, "hipHccModuleLaunchKernel": threads,
		"hipLaunchKernelExC": config, "hipDrvLaunchKernelEx": config, // of HIP 7
		"hipExtLaunchMultiKernelMultiDevice": severally, "hipLaunchCooperativeKernelMultiDevice": severally,
		"hipModuleLaunchCooperativeKernelMultiDevice": severally,
		"hipLaunchByPtr": {class: launch}, "hipGraphLaunch": anything, "hipGraphLaunch_spt": anything,
	},
	"sync": {
		"hipDeviceSynchronize": anything, "hipStreamSynchronize": anything, "hipStreamSynchronize_spt": anything,
		"hipEventSynchronize": anything, "hipCtxSynchronize": anything,
	},
	"module": {
		"hipModuleLoad": anything, "hipModuleLoadData": anything, "hipModuleLoadDataEx": anything, "hipModuleUnload": anything,
		"hipModuleGetFunction": anything, "hipGraphInstantiate": anything, "hipGraphInstantiateWithFlags": anything,
	},
	"stream": {
		"hipStreamCreate": anything, "hipStreamCreateWithFlags": anything, "hipStreamCreateWithPriority": anything, "hipStreamDestroy": anything,
		"hipStreamWaitEvent": anything, "hipStreamWaitEvent_spt": anything,
		"hipEventCreate": anything, "hipEventCreateWithFlags": anything, "hipEventDestroy": anything,
		"hipEventRecord": anything, "hipEventRecord_spt": anything,
	},
}

// mangled are the functions that C++ headers declare under the same name again.
var mangled = map[string]string{
	"_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j": "hipExtModuleLaunchKernel",
	"_Z24hipHccModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_":  "hipHccModuleLaunchKernel",
}

// others are exports whose names begin with hip and that return something else than a
// hipError_t, whose results would be taken for one.
var others = map[string]bool{
	"hipApiName": true, "hipCreateChannelDesc": true, "hipGetCmdName": true, "hipGetErrorName": true, "hipGetErrorString": true,
	"hipGetStreamDeviceId": true, "hipKernelNameRef": true, "hipKernelNameRefByPtr": true, "hipRegisterTracerCallback": true,
}
