package session

import (
	"bytes"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipv1"
)

// Devices answer what the runtime does.
func TestDevices(t *testing.T) {
	p := start(t, nil)
	p.ask(hipv1.OpSetDevice, &hipv1.DeviceRequest{DeviceID: 1}, nil, nil)
	p.fails(hip.ErrorInvalidDevice, hipv1.OpSetDevice, &hipv1.DeviceRequest{DeviceID: 2}, nil)
	p.fails(hip.ErrorInvalidDevice, hipv1.OpSetDevice, &hipv1.DeviceRequest{DeviceID: -1}, nil)
	var d hipv1.GetDeviceReply
	if p.ask(hipv1.OpGetDevice, nil, nil, &d); d.DeviceID != 1 {
		t.Errorf("device %d", d.DeviceID)
	}
	var bus hipv1.DeviceGetPCIBusIDReply
	p.ask(hipv1.OpDeviceGetPCIBusID, &hipv1.DeviceGetPCIBusIDRequest{Device: 1, Len: 32}, nil, &bus)
	var by hipv1.DeviceGetByPCIBusIDReply
	if p.ask(hipv1.OpDeviceGetByPCIBusID, &hipv1.DeviceGetByPCIBusIDRequest{PCIBusID: bus.PCIBusID}, nil, &by); by.Device != 1 {
		t.Errorf("%q is device %d", bus.PCIBusID[:16], by.Device)
	}
	var name hipv1.DeviceGetNameReply
	if p.ask(hipv1.OpDeviceGetName, &hipv1.DeviceGetNameRequest{Len: 256}, nil, &name); !strings.HasPrefix(string(name.Name[:]), "AMD Instinct") {
		t.Errorf("%q", name.Name[:20])
	}
	var total hipv1.DeviceTotalMemReply
	if p.ask(hipv1.OpDeviceTotalMem, &hipv1.DeviceTotalMemRequest{}, nil, &total); total.Bytes != 256<<20 {
		t.Errorf("%d bytes", total.Bytes)
	}
	var capability hipv1.DeviceComputeCapabilityReply
	if p.ask(hipv1.OpDeviceComputeCapability, &hipv1.DeviceComputeCapabilityRequest{}, nil, &capability); capability.Major != 9 {
		t.Errorf("%+v", capability)
	}
	var uuid [2]hipv1.DeviceGetUUIDReply
	for i := range uuid {
		p.ask(hipv1.OpDeviceGetUUID, &hipv1.DeviceGetUUIDRequest{Device: uint64(i)}, nil, &uuid[i])
	}
	if uuid[0] == uuid[1] {
		t.Errorf("%x twice", uuid[0].UUID)
	}
	p.fails(hip.ErrorInvalidDevice, hipv1.OpDeviceGetUUID, &hipv1.DeviceGetUUIDRequest{Device: 1 << 40}, nil)
	var attribute hipv1.DeviceAttributeReply
	if p.ask(hipv1.OpDeviceGetAttribute, &hipv1.DeviceAttributeRequest{Attribute: int32(hip.DeviceAttributeWarpSize)}, nil, &attribute); attribute.Value != 64 {
		t.Errorf("warp size %d", attribute.Value)
	}
	var can hipv1.DeviceCanAccessPeerReply
	p.ask(hipv1.OpDeviceCanAccessPeer, &hipv1.DeviceCanAccessPeerRequest{PeerDeviceID: 1}, nil, &can)
	var peer hipv1.DeviceGetP2PAttributeReply
	p.ask(hipv1.OpDeviceGetP2PAttribute, &hipv1.DeviceGetP2PAttributeRequest{Attr: int32(hip.DevP2PAttrAccessSupported), DstDevice: 1}, nil, &peer)
	if can.CanAccessPeer != 1 || peer.Value != 1 {
		t.Errorf("%+v, %+v", can, peer)
	}
	p.ask(hipv1.OpDeviceEnablePeerAccess, &hipv1.DevicePeerAccessRequest{}, nil, nil)
	p.ask(hipv1.OpDeviceDisablePeerAccess, &hipv1.DevicePeerAccessRequest{}, nil, nil)
	var chosen hipv1.ChooseDeviceReply
	p.ask(hipv1.OpChooseDevice, &hipv1.ChooseDeviceRequest{WarpSize: 64}, nil, &chosen)
	var prio hipv1.DeviceGetStreamPriorityRangeReply
	if p.ask(hipv1.OpDeviceGetStreamPriorityRange, nil, nil, &prio); prio.GreatestPriority >= prio.LeastPriority {
		t.Errorf("%+v", prio)
	}
	var limit hipv1.DeviceLimitReply
	p.ask(hipv1.OpDeviceSetLimit, &hipv1.DeviceLimitRequest{Limit: int32(hip.LimitMallocHeapSize), Value: 16 << 20}, nil, nil)
	p.ask(hipv1.OpDeviceGetLimit, &hipv1.DeviceLimitRequest{Limit: int32(hip.LimitMallocHeapSize)}, nil, &limit)
	if limit.Value < 16<<20 {
		t.Errorf("%+v", limit)
	}
	var flags hipv1.DeviceFlagsReply
	p.ask(hipv1.OpSetDeviceFlags, &hipv1.DeviceFlagsRequest{Flags: 4}, nil, nil)
	if p.ask(hipv1.OpGetDeviceFlags, nil, nil, &flags); flags.Flags != 4 {
		t.Errorf("%+v", flags)
	}
	p.fails(hip.ErrorInvalidValue, hipv1.OpSetDeviceFlags, &hipv1.DeviceFlagsRequest{Flags: 3}, nil)
	p.ask(hipv1.OpDeviceSetCacheConfig, &hipv1.DeviceCacheConfigRequest{CacheConfig: 1}, nil, nil)
	p.fails(hip.ErrorInvalidValue, hipv1.OpDeviceSetSharedMemConfig, &hipv1.DeviceSharedMemConfigRequest{SharedMemConfig: 9}, nil)
	var v hipv1.VersionReply
	if p.ask(hipv1.OpRuntimeGetVersion, nil, nil, &v); v.Version/10000000 != 6 {
		t.Errorf("version %d", v.Version)
	}
	var text hipv1.ErrorStringReply
	if p.ask(hipv1.OpGetErrorName, &hipv1.ErrorStringRequest{ErrorCode: 2}, nil, &text); !strings.HasPrefix(string(text.ErrorString[:]), "hipErrorOutOfMemory\x00") {
		t.Errorf("%q", text.ErrorString[:30])
	}
}

// Streams and events keep an order, and pools give memory.
func TestStreamsEventsPools(t *testing.T) {
	p := start(t, nil)
	var handles hipv1.HandleBatchReply
	p.ask(hipv1.OpStreamCreateBatch, &hipv1.HandleBatchRequest{Count: 2, Flags: hip.StreamNonBlocking}, nil, &handles)
	a, b := handles.Handles[0], handles.Handles[1]
	p.ask(hipv1.OpEventCreateBatch, &hipv1.HandleBatchRequest{Count: 3}, nil, &handles)
	from, to, other := handles.Handles[0], handles.Handles[1], handles.Handles[2]
	p.fails(hip.ErrorInvalidValue, hipv1.OpEventCreateBatch, &hipv1.HandleBatchRequest{Count: 33}, nil)
	var f hipv1.StreamGetFlagsReply
	if p.ask(hipv1.OpStreamGetFlags, &hipv1.StreamRequest{Stream: a}, nil, &f); f.Flags != hip.StreamNonBlocking {
		t.Errorf("%+v", f)
	}
	p.ask(hipv1.OpStreamGetPriority, &hipv1.StreamRequest{Stream: a}, nil, new(hipv1.StreamGetPriorityReply))
	var pool hipv1.MemPoolCreateReply
	p.ask(hipv1.OpMemPoolCreate, &hipv1.MemPoolCreateRequest{AllocType: int32(hip.MemAllocationTypePinned), LocationType: int32(hip.MemLocationTypeDevice)}, nil, &pool)
	var m hipv1.MallocReply
	p.ask(hipv1.OpMallocFromPoolAsync, &hipv1.MallocFromPoolAsyncRequest{Size: 1 << 20, MemPool: pool.MemPool, Stream: a}, nil, &m)
	p.post(hipv1.OpEventRecord, &hipv1.EventRecordRequest{Event: from, Stream: a}, nil)
	p.post(hipv1.OpMemsetAsync, &hipv1.MemsetRequest{Dst: m.DevicePtr, Value: 7, Size: 1 << 20, Stream: a}, nil)
	p.post(hipv1.OpEventRecord, &hipv1.EventRecordRequest{Event: to, Stream: a}, nil)
	p.post(hipv1.OpStreamWaitEvent, &hipv1.StreamWaitEventRequest{Stream: b, Event: to}, nil)
	got := p.ask(hipv1.OpMemcpyAsync, &hipv1.MemcpyRequest{Src: m.DevicePtr, Size: 1 << 20, Kind: 2, Stream: b}, nil, nil)
	if !bytes.Equal(got, bytes.Repeat([]byte{7}, 1<<20)) {
		t.Error("the copy did not wait for the fill")
	}
	p.ask(hipv1.OpEventQuery, &hipv1.EventRequest{Event: to}, nil, nil)
	p.ask(hipv1.OpEventSynchronize, &hipv1.EventRequest{Event: to}, nil, nil)
	var ms hipv1.EventElapsedTimeReply
	if p.ask(hipv1.OpEventElapsedTime, &hipv1.EventElapsedTimeRequest{StartEvent: from, EndEvent: to}, nil, &ms); ms.Milliseconds < 0 {
		t.Errorf("%v ms", ms.Milliseconds)
	}
	p.fails(hip.ErrorInvalidHandle, hipv1.OpEventElapsedTime, &hipv1.EventElapsedTimeRequest{StartEvent: from, EndEvent: other}, nil)
	var used hipv1.MemPoolGetAttributeReply
	p.ask(hipv1.OpMemPoolGetAttribute, &hipv1.MemPoolGetAttributeRequest{MemPool: pool.MemPool, Attr: int32(hip.MemPoolAttrUsedMemCurrent)}, nil, &used)
	if used.Value < 1<<20 {
		t.Errorf("%d bytes of the pool are used", used.Value)
	}
	p.post(hipv1.OpFreeAsync, &hipv1.FreeAsyncRequest{DevicePtr: m.DevicePtr, Stream: b}, nil)
	p.ask(hipv1.OpStreamSynchronize, &hipv1.StreamRequest{Stream: b}, nil, nil)
	p.ask(hipv1.OpMemPoolTrimTo, &hipv1.MemPoolTrimToRequest{MemPool: pool.MemPool}, nil, nil)
	var own [2]hipv1.DeviceGetMemPoolReply
	p.ask(hipv1.OpDeviceGetDefaultMemPool, &hipv1.DeviceGetMemPoolRequest{}, nil, &own[0])
	p.ask(hipv1.OpDeviceGetMemPool, &hipv1.DeviceGetMemPoolRequest{}, nil, &own[1])
	if own[0] != own[1] || own[0].MemPool == 0 {
		t.Errorf("%+v", own)
	}
	p.ask(hipv1.OpDeviceSetMemPool, &hipv1.DeviceSetMemPoolRequest{MemPool: pool.MemPool}, nil, nil)
	if p.ask(hipv1.OpDeviceGetMemPool, &hipv1.DeviceGetMemPoolRequest{}, nil, &own[1]); own[1].MemPool != pool.MemPool {
		t.Errorf("%+v", own)
	}
	p.ask(hipv1.OpMemPoolDestroy, &hipv1.MemPoolDestroyRequest{MemPool: pool.MemPool}, nil, nil)
	p.fails(hip.ErrorInvalidValue, hipv1.OpMemPoolTrimTo, &hipv1.MemPoolTrimToRequest{MemPool: pool.MemPool}, nil)
	p.post(hipv1.OpStreamDestroy, &hipv1.StreamRequest{Stream: a}, nil)
	p.fails(hip.ErrorContextIsDestroyed, hipv1.OpStreamQuery, &hipv1.StreamRequest{Stream: a}, nil)
}

// Memory of other kinds, and what is told of memory.
func TestMemoryKinds(t *testing.T) {
	p := start(t, nil)
	var batch hipv1.MallocBatchReply
	p.ask(hipv1.OpMallocBatch, &hipv1.MallocBatchRequest{Count: 2, Sizes: [64]uint64{4096, 8192}}, nil, &batch)
	var n hipv1.MemPtrGetInfoReply
	if p.ask(hipv1.OpMemPtrGetInfo, &hipv1.MemPtrGetInfoRequest{Ptr: batch.Ptrs[1]}, nil, &n); n.Size != 8192 {
		t.Errorf("%d bytes", n.Size)
	}
	p.fails(hip.ErrorOutOfMemory, hipv1.OpMallocBatch, &hipv1.MallocBatchRequest{Count: 2, Sizes: [64]uint64{4096, 1 << 40}}, nil)
	var h hipv1.HostAllocReply
	p.ask(hipv1.OpHostAlloc, &hipv1.HostAllocRequest{Size: 4096}, nil, &h)
	p.put(h.Ptr, []byte("host"))
	var d hipv1.HostGetDevicePointerReply
	p.ask(hipv1.OpHostGetDevicePointer, &hipv1.HostGetDevicePointerRequest{HostPtr: h.Ptr}, nil, &d)
	p.ask(hipv1.OpHostGetFlags, &hipv1.HostGetFlagsRequest{HostPtr: h.Ptr}, nil, new(hipv1.HostGetFlagsReply))
	if got := p.get(d.DevicePtr, 4); string(got) != "host" {
		t.Errorf("%q", got)
	}
	p.ask(hipv1.OpHostFree, &hipv1.HostFreeRequest{Ptr: h.Ptr}, nil, nil)
	var pitched hipv1.MemAllocPitchReply
	if p.ask(hipv1.OpMemAllocPitch, &hipv1.MemAllocPitchRequest{WidthInBytes: 300, Height: 4, ElementSize: 4}, nil, &pitched); pitched.Pitch != 512 {
		t.Errorf("%+v", pitched)
	}
	p.fails(hip.ErrorOutOfMemory, hipv1.OpMemAllocPitch, &hipv1.MemAllocPitchRequest{WidthInBytes: 1 << 40, Height: 1 << 40, ElementSize: 4}, nil)
	p.fails(hip.ErrorNotSupported, hipv1.OpHostRegister, nil, make([]byte, 20))
	p.fails(hip.ErrorNotSupported, hipv1.OpMallocManaged, &hipv1.MallocRequest{Size: 4096}, nil)
	for _, x := range []uint64{batch.Ptrs[0], batch.Ptrs[1], pitched.Dptr} {
		p.ask(hipv1.OpFree, &hipv1.FreeRequest{DevicePtr: x}, nil, nil)
	}
	// What was freed on a stream goes back to the card.
	p.post(hipv1.OpMallocVaddr, &hipv1.MallocVaddrRequest{Vaddr: firstAddress, Size: 200 << 20}, nil)
	p.post(hipv1.OpFreeAsync, &hipv1.FreeAsyncRequest{DevicePtr: firstAddress, Stream: uint64(hip.StreamPerThread)}, nil)
	p.post(hipv1.OpMallocAsyncVaddr, &hipv1.MallocVaddrRequest{Vaddr: firstAddress + 200<<20, Size: 200 << 20}, nil)
	p.post(hipv1.OpFree, &hipv1.FreeRequest{DevicePtr: firstAddress + 200<<20}, nil)
	p.sync()
	if free, total := p.info(); free != total {
		t.Errorf("%d of %d bytes are free", free, total)
	}
}

// Functions are described, and what is wrong with a module is said.
func TestFunctions(t *testing.T) {
	p, _, _, _, _ := loaded(t)
	var a hipv1.FuncGetAttributesReply
	p.ask(hipv1.OpFuncGetAttributes, &hipv1.FuncGetAttributesRequest{Function: vfunc}, nil, &a)
	if a.MaxThreadsPerBlock != 1024 || a.NumRegs == 0 {
		t.Errorf("%+v", a)
	}
	p.ask(hipv1.OpFuncSetAttribute, &hipv1.FuncSetAttributeRequest{Function: vfunc, Attribute: int32(hip.FuncAttributeMaxDynamicSharedMemorySize), Value: 4096}, nil, nil)
	p.fails(hip.ErrorInvalidValue, hipv1.OpFuncSetAttribute, &hipv1.FuncSetAttributeRequest{Function: vfunc, Attribute: int32(hip.FuncAttributeMaxDynamicSharedMemorySize), Value: -1}, nil)
	p.ask(hipv1.OpFuncSetCacheConfig, &hipv1.FuncSetCacheConfigRequest{Function: vfunc}, nil, nil)
	var active hipv1.OccupancyMaxActiveBlocksPerSMReply
	p.ask(hipv1.OpOccupancyMaxActiveBlocksPerSM, &hipv1.OccupancyMaxActiveBlocksPerSMRequest{Function: vfunc, BlockSize: 256}, nil, &active)
	var best hipv1.OccupancyMaxPotentialBlockSizeReply
	p.ask(hipv1.OpOccupancyMaxPotentialBlockSize, &hipv1.OccupancyMaxPotentialBlockSizeRequest{Function: vfunc}, nil, &best)
	if active.NumBlocks < 1 || best.BlockSize < 64 || best.MinGridSize < 1 {
		t.Errorf("%+v, %+v", active, best)
	}
	p.fails(hip.ErrorNotFound, hipv1.OpModuleGetFunction, &hipv1.ModuleGetFunctionRequest{Module: vmodule, Vhandle: vfunc + 16, FunctionName: name1024("nothing")}, nil)
	p.fails(hip.ErrorInvalidImage, hipv1.OpModuleLoadData, &hipv1.ModuleLoadRequest{DataSize: 9, Vhandle: vmodule + 16}, []byte("no module"))
	p.fails(hip.ErrorInvalidValue, hipv1.OpModuleLoadData, &hipv1.ModuleLoadRequest{DataSize: 9, Vhandle: vmodule}, []byte("twice the"))
	q, tail := launch(vfunc, 0, 1, 64, make([]byte, 16)) // half of the arguments
	p.post(hipv1.OpLaunchKernel, q, tail)
	p.fails(hip.ErrorInvalidValue, hipv1.OpDeviceSynchronize, nil, nil)
	p.post(hipv1.OpModuleUnload, &hipv1.ModuleUnloadRequest{Module: vmodule}, nil)
	q, tail = launch(vfunc, 0, 1, 64, make([]byte, 32))
	p.post(hipv1.OpLaunchKernel, q, tail)
	p.fails(hip.ErrorInvalidHandle, hipv1.OpDeviceSynchronize, nil, nil)
	p.sync()
}

// A reset ends the names of its device, and of no other.
func TestReset(t *testing.T) {
	p := start(t, nil)
	var here, there hipv1.EventCreateReply
	p.ask(hipv1.OpEventCreate, &hipv1.EventCreateRequest{}, nil, &here)
	p.post(hipv1.OpMallocVaddr, &hipv1.MallocVaddrRequest{Vaddr: firstAddress, Size: 4096}, nil)
	p.post(hipv1.OpStreamCreate, &hipv1.StreamCreateRequest{Vhandle: vstream}, nil)
	p.ask(hipv1.OpSetDevice, &hipv1.DeviceRequest{DeviceID: 1}, nil, nil)
	p.ask(hipv1.OpEventCreate, &hipv1.EventCreateRequest{}, nil, &there)
	p.ask(hipv1.OpSetDevice, &hipv1.DeviceRequest{}, nil, nil)
	p.ask(hipv1.OpDeviceReset, nil, nil, nil)
	p.fails(hip.ErrorInvalidHandle, hipv1.OpEventDestroy, &hipv1.EventRequest{Event: here.Event}, nil)
	p.fails(hip.ErrorInvalidValue, hipv1.OpMemset, &hipv1.MemsetRequest{Dst: firstAddress, Size: 16}, nil)
	p.ask(hipv1.OpEventDestroy, &hipv1.EventRequest{Event: there.Event}, nil, nil)
	p.post(hipv1.OpStreamCreate, &hipv1.StreamCreateRequest{Vhandle: vstream}, nil)
	p.post(hipv1.OpMallocVaddr, &hipv1.MallocVaddrRequest{Vaddr: firstAddress, Size: 4096}, nil)
	p.post(hipv1.OpFree, &hipv1.FreeRequest{DevicePtr: firstAddress}, nil)
	p.post(hipv1.OpStreamDestroy, &hipv1.StreamRequest{Stream: vstream}, nil)
	p.sync()
	p.empty()
}

// The last error is kept, and an earlier one that nobody was told of is told once.
func TestErrors(t *testing.T) {
	p := start(t, nil)
	p.post(hipv1.OpFree, &hipv1.FreeRequest{DevicePtr: 0x1234}, nil)
	p.post(hipv1.OpEventDestroy, &hipv1.EventRequest{Event: 5}, nil)
	p.fails(hip.ErrorInvalidValue, hipv1.OpPeekAtLastError, nil, nil)
	p.fails(hip.ErrorInvalidValue, hipv1.OpStreamSynchronize, &hipv1.StreamRequest{}, nil)
	p.sync()
	p.fails(hip.ErrorInvalidValue, hipv1.OpGetLastError, nil, nil)
	p.ask(hipv1.OpGetLastError, nil, nil, nil)
	d := p.malloc(4096)
	p.post(hipv1.OpEventDestroy, &hipv1.EventRequest{Event: 5}, nil)
	p.fails(hip.ErrorInvalidHandle, hipv1.OpMemcpy, &hipv1.MemcpyRequest{Src: d, Size: 16, Kind: 2}, nil)
	p.get(d, 16)
}
