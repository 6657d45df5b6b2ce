// Package hiprpc is what a client and a worker say to each other beyond the calls that hip/api.json describes completely: copies,
// launches, placement of device memory, host functions, host memory that kernels use, and reports. Package hipremote is the one side,
// package worker the other; neither trusts the other, so every Decode checks its input and every size has a bound.
package hiprpc

import "github.com/rocwire/rocwire/hip"

// Operations that are no HIP function.
const (
	OpGrant        uint16 = 0x1100 // sync: Place, with the least that is of use as its address → u64 granted
	OpReturn       uint16 = 0x1101 // async: Grant
	OpMallocAt     uint16 = 0x1102 // async: Place
	OpHostFuncDone uint16 = 0x1103 // async: u64 id of a host function that has returned
	OpHostExpose   uint16 = 0x1105 // sync: Host; from now on the worker holds a copy of host memory, zero at first
	OpHostHide     uint16 = 0x1106 // async: i32 device, u64 address in the agreed range; the copy is gone
	OpHostPush     uint16 = 0x1107 // async: u64 address, u64 offset; bulk: difference
	OpHostPull     uint16 = 0x1108 // sync: u64 address, u64 offset → u64 offset to go on from; bulk: difference
	OpHostClaim    uint16 = 0x1109 // sync: Place outside of the agreed range; hipErrorMapFailed if the worker cannot have these addresses
	OpHostRelease  uint16 = 0x110a // sync: i32 device, u64 address that was claimed; the copy, if there is one, is gone once nothing uses it
	// OpModuleLoadContent is hipModuleLoadData of a code object that the worker may have. sync: Content → Loaded
	OpModuleLoadContent uint16 = 0x110b
	// OpNear asks for the memory of the allocation that Place.Addr lies in, to map it. sync: Place → Near. hipErrorNotReady: something is under way
	OpNear uint16 = 0x110c
)

// Notices, worker to client.
const (
	NoticeHostFunc   uint16 = 0x1180 // u64 id: run the host function, then answer OpHostFuncDone
	NoticeAsyncError uint16 = 0x1181 // AsyncError
	NoticeOutput     uint16 = 0x1182 // u8 1 standard output, 2 standard error, and text that a kernel wrote; before the reply that says that the kernel has ended
	NoticeGraphFunc  uint16 = 0x1183 // GraphCall: run a function of a graph, then answer OpHostFuncDone
)

// MaxDiff is about how many bytes of difference one push or pull carries.
const MaxDiff = 4 << 20

// MaxStaged is how many bytes of copies to the device a client may have on their way without having heard that they were executed. It
// bounds the memory that a worker needs while a stream is busy.
const MaxStaged = 128 << 20

// MaxUnacknowledged is the size in bytes up to which a copy to the device asks for no reply.
const MaxUnacknowledged = 64 << 10

// MaxArgs bounds a launch's explicit argument segment in bytes.
const MaxArgs = 64 << 10

// MaxImage bounds a code object in bytes.
const MaxImage = 2 << 30

var names = map[uint16]string{
	OpGrant: "grant", OpReturn: "return", OpHostFuncDone: "hostFuncDone",
	OpHostExpose: "hostExpose", OpHostHide: "hostHide", OpHostPush: "hostPush", OpHostPull: "hostPull",
	OpHostClaim: "hostClaim", OpHostRelease: "hostRelease", OpNear: "near",
}

// ways are other ways in which HIP functions travel.
var ways = map[uint16]uint16{OpMallocAt: hip.OpMalloc, OpModuleLoadContent: hip.OpModuleLoadData}

// OpName is the name of an operation for people and labels: the HIP function, or the short name of one that is none; "" if unknown.
func OpName(op uint16) string {
	if f, ok := ways[op]; ok {
		op = f
	}
	if n := hip.OpName(op); n != "" {
		return n
	}
	return names[op]
}

// Sticky reports whether an error that a synchronizing call returns means that the device's context is dead.
func Sticky(e hip.Error) bool {
	switch e {
	case hip.ErrorIllegalAddress, hip.ErrorLaunchFailure, hip.ErrorLaunchTimeOut, hip.ErrorECCNotCorrectable, hip.ErrorAssert, hip.ErrorIllegalState:
		return true
	}
	return false
}
