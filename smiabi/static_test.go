package smiabi

import (
	"math"
	"testing"
	"unsafe"

	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
)

// poor is the library over a card that says nothing but its name.
func poor(t *testing.T) card {
	d := smi.Device{Name: "poor"}
	return opened(t, smitest.NewFake(smi.DeviceSnapshot{Device: d, Info: &smi.Info{Device: d}})).at(0)
}

func rich(t *testing.T) call { return opened(t, smitest.NewMachine(8, 0)) }

func same[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func unsupported(t *testing.T, what string, st status) {
	t.Helper()
	same(t, what, statusNames[st], "AMDSMI_STATUS_NOT_SUPPORTED")
}

func TestASIC(t *testing.T) {
	var a asicInfo
	ok(t, amdsmiGetGPUASICInfo(rich(t).at(5), &a))
	same(t, "name", text(a.marketName[:]), "AMD Instinct MI300X OAM")
	same(t, "vendor", text(a.vendorName[:]), "Advanced Micro Devices Inc. [AMD/ATI]")
	same(t, "serial", text(a.asicSerial[:]), "50D7AF8C31C0F2A5")
	a.marketName, a.vendorName, a.asicSerial = [256]byte{}, [256]byte{}, [256]byte{}
	want := asicInfo{
		vendorID: 0x1002, subvendorID: 0x1002, deviceID: 0x74a1, oamID: 5, numOfComputeUnits: 304, targetGraphicsVersion: 0x942, subsystemID: 0x74a1,
		physicalAccID: math.MaxUint32, chipRevID: math.MaxUint32, externalRevID: math.MaxUint32,
	}
	if a != want {
		t.Errorf("%+v, want %+v", a, want)
	}

	ok(t, amdsmiGetGPUASICInfo(poor(t), &a))
	same(t, "what is not known", [3]uint64{uint64(a.vendorID), uint64(a.numOfComputeUnits), a.targetGraphicsVersion}, [3]uint64{math.MaxUint32, math.MaxUint32, math.MaxUint64})
	same(t, "serial", text(a.asicSerial[:]), "")

	odd := smi.Device{Name: "odd", Target: "gfx90a:xnack-"}
	c := opened(t, smitest.NewFake(smi.DeviceSnapshot{Device: odd, Info: &smi.Info{Device: odd, ASIC: smi.ASIC{Serial: "none"}}})).at(0)
	ok(t, amdsmiGetGPUASICInfo(c, &a))
	same(t, "target", a.targetGraphicsVersion, 0x90a)
	same(t, "a serial that is no number", text(a.asicSerial[:]), "")
}

func TestNumbers(t *testing.T) {
	c, none := rich(t).at(0), poor(t)
	for what, f := range map[string]func(card, *uint16) status{
		"id": amdsmiGetGPUID, "revision": amdsmiGetGPURevision, "subsystem": amdsmiGetGPUSubsystemID,
	} {
		n := uint16(7)
		ok(t, f(c, &n))
		same(t, what, n, map[string]uint16{"id": 0x74a1, "subsystem": 0x74a1}[what])
		unsupported(t, what, f(none, &n))
	}
}

func TestNames(t *testing.T) {
	c := rich(t).at(0)
	b := make([]byte, 64)
	ok(t, amdsmiGetGPUVendorName(c, &b[0], 64))
	same(t, "vendor", text(b), "Advanced Micro Devices Inc. [AMD/ATI]")
	ok(t, amdsmiGetGPUSubsystemName(c, &b[0], 64))
	same(t, "subsystem", text(b), "AMD Instinct MI300X OAM")
	ok(t, amdsmiGetGPUVRAMVendor(c, &b[0], 4))
	same(t, "memory", text(b), "HYN")
	same(t, "too small", statusNames[amdsmiGetGPUVendorName(c, &b[0], 5)], "AMDSMI_STATUS_INSUFFICIENT_SIZE")
	same(t, "vendor", text(b), "Adva")
	b[0] = 'x'
	same(t, "no room", statusNames[amdsmiGetGPUVendorName(c, &b[0], 0)], "AMDSMI_STATUS_INSUFFICIENT_SIZE")
	same(t, "no room", b[0], 'x')
	ok(t, amdsmiGetProcessorInfo(rich(t).at(7), 64, &b[0]))
	same(t, "index", text(b), "7")

	d := smi.Device{Name: "x"}
	n := opened(t, smitest.NewFake(smi.DeviceSnapshot{Device: d, Info: &smi.Info{Device: d, ASIC: smi.ASIC{VendorID: smi.Some(uint32(0x1002))}}})).at(0)
	ok(t, amdsmiGetGPUVendorName(n, &b[0], 64))
	same(t, "vendor without a name", text(b), "0x1002")
	unsupported(t, "subsystem", amdsmiGetGPUSubsystemName(n, &b[0], 64))
	unsupported(t, "memory", amdsmiGetGPUVRAMVendor(n, &b[0], 64))
}

func TestUUID(t *testing.T) {
	c := rich(t).at(1)
	b := make([]byte, AMDSMI_GPU_UUID_SIZE)
	n := uint32(len(b))
	ok(t, amdsmiGetGPUDeviceUUID(c, &n, &b[0]))
	same(t, "uuid", text(b), "11ff74a1-0000-1000-8012-3456789abcde")
	same(t, "length", n, 36)
	n--
	same(t, "too small", statusNames[amdsmiGetGPUDeviceUUID(c, &n, &b[0])], "AMDSMI_STATUS_INVAL")
	n = uint32(len(b))
	unsupported(t, "a card without one", amdsmiGetGPUDeviceUUID(poor(t), &n, &b[0]))
}

func TestIDs(t *testing.T) {
	c := rich(t).at(1)
	var e enumerationInfo
	ok(t, amdsmiGetGPUEnumerationInfo(c, &e))
	same(t, "hip uuid", text(e.hipUUID[:]), "GPU-50D7AF8C31C0F2A1")
	e.hipUUID = [256]byte{}
	same(t, "ids", e, enumerationInfo{drmRender: 136, drmCard: 9, hsaID: 3, hipID: 1, oamID: 1, physicalAccID: math.MaxUint32})
	var k kfdInfo
	ok(t, amdsmiGetGPUKFDInfo(c, &k))
	same(t, "kfd", k, kfdInfo{kfdID: 0x7c00 + 257, nodeID: 3})
	ok(t, amdsmiGetGPUKFDInfo(poor(t), &k))
	same(t, "kfd", k, kfdInfo{kfdID: math.MaxUint64, nodeID: math.MaxUint32, currentPartitionID: math.MaxUint32})
}

func TestNUMA(t *testing.T) {
	c, none := rich(t).at(4), poor(t)
	var node int32
	ok(t, amdsmiGetGPUTopoNUMAAffinity(c, &node))
	same(t, "node", node, 1)
	unsupported(t, "node", amdsmiGetGPUTopoNUMAAffinity(none, &node))
	var n uint32
	ok(t, amdsmiTopoGetNUMANodeNumber(c, &n))
	same(t, "node", n, 1)
	set := [4]uint64{7, 7, 7, 7}
	ok(t, amdsmiGetCPUAffinityWithScope(c, 3, &set[0], AMDSMI_AFFINITY_SCOPE_NODE))
	same(t, "cpus 48-95,144-191", set, [4]uint64{0xffff << 48, 1<<32 - 1, 0xffffffffffff0000, 7})
	ok(t, amdsmiGetCPUAffinityWithScope(c, 1, &set[0], AMDSMI_AFFINITY_SCOPE_NODE))
	unsupported(t, "socket", amdsmiGetCPUAffinityWithScope(c, 1, &set[0], AMDSMI_AFFINITY_SCOPE_SOCKET))
	unsupported(t, "cpus", amdsmiGetCPUAffinityWithScope(none, 1, &set[0], AMDSMI_AFFINITY_SCOPE_NODE))
	same(t, "no such scope", statusNames[amdsmiGetCPUAffinityWithScope(c, 1, &set[0], 2)], "AMDSMI_STATUS_INVAL")
}

func TestBoard(t *testing.T) {
	c, none := rich(t).at(0), poor(t)
	var b boardInfo
	ok(t, amdsmiGetGPUBoardInfo(c, &b))
	same(t, "model", text(b.modelNumber[:]), "102-G30211-0C")
	same(t, "serial", text(b.productSerial[:]), "692410011050")
	same(t, "fru", text(b.fruID[:]), "113-AMDG302100C")
	same(t, "maker", text(b.manufacturerName[:]), "AMD")
	unsupported(t, "board", amdsmiGetGPUBoardInfo(none, &b))
	var v vbiosInfo
	ok(t, amdsmiGetGPUVBIOSInfo(c, &v))
	same(t, "name", text(v.name[:]), "AMD MI300X_HW_SRIOV_CVS_1VF")
	same(t, "version", text(v.version[:]), "022.040.003.042.000001")
	same(t, "boot", text(v.bootFirmware[:]), "01000206")
	unsupported(t, "vbios", amdsmiGetGPUVBIOSInfo(none, &v))
	var d driverInfo
	ok(t, amdsmiGetGPUDriverInfo(c, &d))
	same(t, "driver", text(d.driverName[:])+" "+text(d.driverVersion[:])+" "+text(d.driverDate[:]), "amdgpu 6.12.12 2025/03/11 10:02")
	unsupported(t, "driver", amdsmiGetGPUDriverInfo(none, &d))
}

func TestMemory(t *testing.T) {
	c, none := rich(t).at(0), poor(t)
	var v vramInfo
	ok(t, amdsmiGetGPUVRAMInfo(c, &v))
	same(t, "vendor", text(v.vramVendor[:]), "HYNIX")
	same(t, "size", [4]uint64{uint64(v.vramType), v.vramSize, uint64(v.vramBitWidth), v.vramMaxBandwidth}, [4]uint64{uint64(AMDSMI_VRAM_TYPE_HBM3), 196592, 8192, 5300})
	unsupported(t, "vram", amdsmiGetGPUVRAMInfo(none, &v))
	var g gpuCacheInfo
	ok(t, amdsmiGetGPUCacheInfo(c, &g))
	same(t, "caches", g.numCacheTypes, 4)
	same(t, "instruction cache", g.cache[1], gpuCacheInfoCache{
		cacheProperties: uint32(AMDSMI_CACHE_PROPERTY_ENABLED | AMDSMI_CACHE_PROPERTY_INST_CACHE | AMDSMI_CACHE_PROPERTY_SIMD_CACHE),
		cacheSize:       64, cacheLevel: 1, maxNumCuShared: 2, numCacheInstance: 160,
	})
	unsupported(t, "caches", amdsmiGetGPUCacheInfo(none, &g))

	d := smi.Device{Name: "many caches"}
	many := opened(t, smitest.NewFake(smi.DeviceSnapshot{Device: d, Info: &smi.Info{Device: d, Caches: make([]smi.Cache, 99)}})).at(0)
	ok(t, amdsmiGetGPUCacheInfo(many, &g))
	same(t, "caches", g.numCacheTypes, AMDSMI_MAX_CACHE_TYPES)
}

func TestFirmware(t *testing.T) {
	f := smitest.NewMachine(1, 0)
	list := []smi.Firmware{
		{Name: "vcn", Version: "09.11.00.0D"}, {Name: "smu", Version: "7", Number: smi.Some(uint64(0x557300))}, {Name: "pm", Version: "85.115.00.10"},
		{Name: "unheard_of", Version: "1"}, {Name: "rlc", Version: "v1"}, {Name: "cp_mec1", Version: "168"},
	}
	for range 200 {
		list = append(list, smi.Firmware{Name: "uvd", Version: "0x10"})
	}
	f.SetDetails(smitest.Detail{Firmware: list})
	var info fwInfo
	ok(t, amdsmiGetFWInfo(opened(t, f).at(0), &info))
	same(t, "count", info.numFWInfo, 80)
	for i, want := range []fwInfoFWInfoList{
		{fwID: AMDSMI_FW_ID_SMU, fwVersion: 0x557300}, {fwID: AMDSMI_FW_ID_CP_MEC1, fwVersion: 168}, {fwID: AMDSMI_FW_ID_VCN, fwVersion: 0x0911000d},
		{fwID: AMDSMI_FW_ID_UVD, fwVersion: 0x10},
	} {
		same(t, "firmware", info.fwInfoList[i], want)
	}
	same(t, "firmware", info.fwInfoList[79], fwInfoFWInfoList{fwID: AMDSMI_FW_ID_PM, fwVersion: 85<<24 | 115<<16 | 10})
	unsupported(t, "firmware", amdsmiGetFWInfo(poor(t), &info))
}

func TestStatusText(t *testing.T) {
	said := map[string]bool{}
	for st, name := range statusNames {
		var p unsafe.Pointer
		ok(t, amdsmiStatusCodeToString(st, &p))
		s := text(unsafe.Slice((*byte)(p), 100))
		if said[s] || len(s) < len(name)+4 || s[:len(name)] != name {
			t.Errorf("%s: %q", name, s)
		}
		said[s] = true
		var again unsafe.Pointer
		ok(t, amdsmiGetEsmiErrMsg(st, &again))
		same(t, "the same text", again, p)
	}
	var p unsafe.Pointer
	same(t, "an unknown one", amdsmiStatusCodeToString(77, &p), AMDSMI_STATUS_UNKNOWN_ERROR)
	same(t, "an unknown one", text(unsafe.Slice((*byte)(p), 30)), "an unknown status")
	var v version
	ok(t, amdsmiGetLibVersion(&v))
	same(t, "version", [3]uint32{v.major, v.minor, v.release}, [3]uint32{27, 1, 0})
}

// What a source fails with reaches the caller as the status that fits.
func TestFailures(t *testing.T) {
	c, fake := faked(t)
	for err, want := range map[error]status{
		smi.ErrTimeout: AMDSMI_STATUS_TIMEOUT, smi.ErrUnavailable: AMDSMI_STATUS_IO, smi.ErrNoPermission: AMDSMI_STATUS_NO_PERM,
		smi.ErrNotFound: AMDSMI_STATUS_NOT_FOUND, smi.ErrNoDriver: AMDSMI_STATUS_DRIVER_NOT_LOADED, smi.ErrBadData: AMDSMI_STATUS_UNEXPECTED_DATA,
		smi.ErrInternal: AMDSMI_STATUS_INTERNAL_EXCEPTION, smi.Code(999): AMDSMI_STATUS_UNKNOWN_ERROR,
	} {
		fake.Fail(err)
		var a asicInfo
		same(t, err.Error(), statusNames[amdsmiGetGPUASICInfo(c.at(0), &a)], statusNames[want])
	}
	fake.Fail(nil)
	var a asicInfo
	ok(t, amdsmiGetGPUASICInfo(c.at(0), &a))
}
