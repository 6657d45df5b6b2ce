package hipv1

import (
	"encoding/binary"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// structs are all that have a recorded layout.
var structs = []any{
	ChooseDeviceReply{}, ChooseDeviceRequest{}, DeviceAttributeReply{}, DeviceAttributeRequest{}, DeviceCacheConfigReply{}, DeviceCacheConfigRequest{},
	DeviceCanAccessPeerReply{}, DeviceCanAccessPeerRequest{}, DeviceComputeCapabilityReply{}, DeviceComputeCapabilityRequest{}, DeviceCountReply{},
	DeviceFlagsReply{}, DeviceFlagsRequest{}, DeviceGetByPCIBusIDReply{}, DeviceGetByPCIBusIDRequest{}, DeviceGetMemPoolReply{},
	DeviceGetMemPoolRequest{}, DeviceGetNameReply{}, DeviceGetNameRequest{}, DeviceGetP2PAttributeReply{}, DeviceGetP2PAttributeRequest{},
	DeviceGetPCIBusIDReply{}, DeviceGetPCIBusIDRequest{}, DeviceGetReply{}, DeviceGetRequest{}, DeviceGetStreamPriorityRangeReply{},
	DeviceGetUUIDReply{}, DeviceGetUUIDRequest{}, DeviceLimitReply{}, DeviceLimitRequest{}, DevicePeerAccessRequest{}, DevicePropertiesReply{},
	DeviceRequest{}, DeviceSetMemPoolRequest{}, DeviceSharedMemConfigReply{}, DeviceSharedMemConfigRequest{}, DeviceTotalMemReply{},
	DeviceTotalMemRequest{}, ErrorStringReply{}, ErrorStringRequest{}, EventCreateReply{}, EventCreateRequest{}, EventElapsedTimeReply{},
	EventElapsedTimeRequest{}, EventRecordRequest{}, EventRequest{}, FreeAsyncRequest{}, FreeRequest{}, FuncGetAttributesReply{},
	FuncGetAttributesRequest{}, FuncSetAttributeRequest{}, FuncSetCacheConfigRequest{}, GetDeviceReply{}, GraphAddDependenciesRequest{},
	GraphAddEmptyNodeRequest{}, GraphAddEventNodeRequest{}, GraphAddKernelNodeRequest{}, GraphAddMemcpyNode1DRequest{}, GraphAddMemcpyNodeRequest{},
	GraphAddMemsetNodeRequest{}, GraphAddNodeReply{}, GraphCloneReply{}, GraphCloneRequest{}, GraphCreateReply{}, GraphCreateRequest{},
	GraphDestroyNodeRequest{}, GraphDestroyRequest{}, GraphExecDestroyRequest{}, GraphExecUpdateReply{}, GraphExecUpdateRequest{}, GraphGetEdgesReply{},
	GraphGetEdgesRequest{}, GraphGetNodesReply{}, GraphGetNodesRequest{}, GraphInstantiateReply{}, GraphInstantiateRequest{}, GraphLaunchRequest{},
	GraphNodeGetDependenciesReply{}, GraphNodeGetDependenciesRequest{}, GraphNodeGetTypeReply{}, GraphNodeGetTypeRequest{}, HandleBatchReply{},
	HandleBatchRequest{}, HostAllocReply{}, HostAllocRequest{}, HostFreeRequest{}, HostGetDevicePointerReply{}, HostGetDevicePointerRequest{},
	HostGetFlagsReply{}, HostGetFlagsRequest{}, IPCCloseMemHandleRequest{}, IPCGetEventHandleReply{}, IPCGetEventHandleRequest{},
	IPCGetMemHandleReply{}, IPCGetMemHandleRequest{}, IPCOpenEventHandleReply{}, IPCOpenEventHandleRequest{}, IPCOpenMemHandleReply{},
	IPCOpenMemHandleRequest{}, KernelArg{}, LaunchKernelRequest{}, MallocAsyncRequest{}, MallocBatchReply{}, MallocBatchRequest{},
	MallocFromPoolAsyncRequest{}, MallocReply{}, MallocRequest{}, MallocVaddrRequest{}, MemAdviseRequest{}, MemAllocPitchReply{},
	MemAllocPitchRequest{}, MemGetInfoReply{}, MemPoolCreateReply{}, MemPoolCreateRequest{}, MemPoolDestroyRequest{}, MemPoolGetAttributeReply{},
	MemPoolGetAttributeRequest{}, MemPoolSetAttributeRequest{}, MemPoolTrimToRequest{}, MemPrefetchAsyncRequest{}, MemPtrGetInfoReply{},
	MemPtrGetInfoRequest{}, MemRangeGetAttributeRequest{}, MemRangeGetAttributesRequest{}, Memcpy2DRequest{}, Memcpy3DRequest{}, MemcpyCachedRequest{},
	MemcpyPeerRequest{}, MemcpyRequest{}, MemsetRequest{}, ModuleGetFunctionReply{}, ModuleGetFunctionRequest{}, ModuleLoadAndGetFunctionReply{},
	ModuleLoadReply{}, ModuleLoadRequest{}, ModuleUnloadRequest{}, OccupancyMaxActiveBlocksPerSMReply{}, OccupancyMaxActiveBlocksPerSMRequest{},
	OccupancyMaxPotentialBlockSizeReply{}, OccupancyMaxPotentialBlockSizeRequest{}, ParamDesc{}, PointerGetAttributeReply{},
	PointerGetAttributeRequest{}, PointerGetAttributesReply{}, PointerGetAttributesRequest{}, SMIASICInfoReply{}, SMIClockInfoReply{},
	SMIClockInfoRequest{}, SMIGPUActivityReply{}, SMIGPUMetricsReply{}, SMIInitRequest{}, SMIPowerInfoReply{}, SMIProcessorCountReply{},
	SMIProcessorRequest{}, SMITempMetricReply{}, SMITempMetricRequest{}, SMIVRAMUsageReply{}, SetValidDevicesRequest{}, StreamBeginCaptureRequest{},
	StreamCreateReply{}, StreamCreateRequest{}, StreamEndCaptureReply{}, StreamEndCaptureRequest{}, StreamGetCaptureInfoReply{},
	StreamGetCaptureInfoRequest{}, StreamGetFlagsReply{}, StreamGetPriorityReply{}, StreamIsCapturingReply{}, StreamIsCapturingRequest{},
	StreamRequest{}, StreamUpdateCaptureDependenciesRequest{}, StreamWaitEventRequest{}, VersionReply{},
}

// Every struct has the fields that were recorded, at their offsets, and nothing else.
func TestLayouts(t *testing.T) {
	recorded := table(t, "testdata/layouts.tsv")
	for _, v := range structs {
		typ := reflect.TypeOf(v)
		row, ok := recorded[typ.Name()]
		if !ok {
			t.Errorf("%s: nothing was recorded", typ.Name())
			continue
		}
		delete(recorded, typ.Name())
		at := 0
		if strings.HasSuffix(typ.Name(), "Reply") {
			at = 4
		}
		i := 0
		for _, f := range strings.Fields(row[2]) {
			p := strings.Split(f, ":")
			if p[1] == "HipRemoteResponseHeader" {
				continue
			}
			if i == typ.NumField() {
				t.Fatalf("%s has no %s", typ.Name(), p[0])
			}
			g := typ.Field(i)
			i++
			if want, _ := strconv.Atoi(p[2]); want != at {
				t.Errorf("%s.%s (%s) is at %d, recorded at %d", typ.Name(), g.Name, p[0], at, want)
			}
			if !sameName(g.Name, p[0]) {
				t.Errorf("%s.%s was recorded as %s", typ.Name(), g.Name, p[0])
			}
			at += binary.Size(reflect.Zero(g.Type).Interface())
		}
		if want, _ := strconv.Atoi(row[1]); i != typ.NumField() || want != at {
			t.Errorf("%s: %d fields and %d bytes, recorded %s", typ.Name(), typ.NumField(), at, row[1])
		}
	}
	for name := range recorded {
		t.Errorf("%s was recorded and is not checked", name)
	}
}

// sameName compares a field of ours and one of theirs.
func sameName(ours, theirs string) bool {
	if ours == "_" {
		return strings.HasPrefix(theirs, "reserved") || strings.HasPrefix(theirs, "_pad")
	}
	plain := strings.ReplaceAll(theirs, "_", "")
	switch plain {
	case "dpitch":
		plain = "dstpitch"
	case "spitch":
		plain = "srcpitch"
	}
	return strings.EqualFold(ours, plain)
}

// table reads rows of fields by their first.
func table(t *testing.T, file string) map[string][]string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	m := map[string][]string{}
	for line := range strings.SplitSeq(strings.TrimSpace(string(b)), "\n") {
		if f := strings.Split(line, "\t"); !strings.HasPrefix(line, "#") {
			m[f[0]] = f
		}
	}
	return m
}

// Every operation has its number, its name, and the lengths that were recorded.
func TestOperations(t *testing.T) {
	served := 0
	for _, row := range table(t, "testdata/operations.tsv") {
		n, err := strconv.ParseUint(row[0], 0, 16)
		if err != nil {
			t.Fatal(err)
		}
		op := Op(n)
		want := strings.TrimPrefix(row[1], "HIP_OP_")
		if rest, ok := strings.CutPrefix(row[1], "SMI_OP_"); ok {
			want = "SMI_" + rest
		}
		if op.String() != want {
			t.Errorf("%s: %v, recorded %s", row[0], op, want)
		}
		size, _ := strconv.Atoi(row[2])
		if d := DialectOf(op, uint32(size), make([]byte, size)); d == February {
			t.Errorf("%v: dialect %v", op, d)
		}
		b := make([]byte, size)
		switch op {
		case OpModuleLoadAndGetFunction: // recorded as two structs
			b = make([]byte, loadAndGet)
		}
		_, used, err := Parse(op, April, uint32(len(b)), b)
		if err == ErrOperation {
			continue
		}
		served++
		if err != nil || used != len(b) {
			t.Errorf("%v: %d bytes of %d, %v", op, used, len(b), err)
		}
		if _, short, err := Parse(op, April, uint32(max(len(b)-1, 0)), b[:max(len(b)-1, 0)]); len(b) > 0 && err == nil && short >= len(b) {
			t.Errorf("%v: a byte too few is enough", op)
		}
		if want, err := strconv.Atoi(row[3]); err == nil && ReplySize(op, April) != want {
			t.Errorf("%v: a reply of %d bytes, recorded %d", op, ReplySize(op, April), want)
		}
	}
	if served < 140 {
		t.Errorf("only %d operations are served", served)
	}
}
