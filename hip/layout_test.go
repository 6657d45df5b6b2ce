package hip

import (
	"os"
	"os/exec"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// goStructs are the generated structs by their C names.
var goStructs = map[string]any{
	"dim3": Dim3{}, "hipDeviceProp_tR0600": DevicePropR0600{}, "hipDeviceProp_tR0000": DevicePropR0000{},
	"hipPointerAttribute_t": PointerAttributes{}, "hipFuncAttributes": FuncAttributes{}, "hipExtent": Extent{}, "hipPos": Pos{},
	"hipPitchedPtr": PitchedPtr{}, "hipMemcpy3DParms": Memcpy3DParms{}, "hip_Memcpy2D": Memcpy2D{}, "HIP_MEMCPY3D": DrvMEMCPY3D{},
	"hipMemPoolProps": MemPoolProps{}, "hipMemAllocationProp": MemAllocationProp{}, "hipKernelNodeParams": KernelNodeParams{},
	"hipMemcpyNodeParams": MemcpyNodeParams{}, "hipGraphNodeParams": GraphNodeParams{}, "hipResourceDesc": ResourceDesc{},
	"HIP_RESOURCE_DESC_st": DrvResourceDesc{}, "hipTextureDesc": TextureDesc{}, "textureReference": TextureReference{},
	"hipArrayMapInfo": ArrayMapInfo{}, "hipExternalSemaphoreWaitParams_st": ExternalSemaphoreWaitParams{},
	"hipDeviceArch_t": DeviceArch{}, "hipLaunchParams_t": LaunchParams{}, "hipMemAccessDesc": MemAccessDesc{},
	"hipUUID_t": UUID{}, "hipIpcMemHandle_st": IpcMemHandle{}, "hipFunctionLaunchParams_t": FunctionLaunchParams{},
	"hipChannelFormatDesc": ChannelFormatDesc{}, "hipMemsetParams": MemsetParams{}, "hipMemAllocNodeParams": MemAllocNodeParams{},
}

// The layouts that clang gives the vendor's headers are the ones Go has.
func TestLayout(t *testing.T) {
	b, err := os.ReadFile("testdata/layout.tsv")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, l := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		if strings.HasPrefix(l, "#") {
			continue
		}
		c := strings.Split(l, "\t")
		v, ok := goStructs[c[0]]
		if !ok {
			continue
		}
		first, _ := strconv.ParseUint(c[2], 10, 64)
		size, _ := strconv.ParseUint(c[3], 10, 64)
		typ := reflect.TypeOf(v)
		if c[1] == "-" {
			if uint64(typ.Size()) != size || uint64(typ.Align()) != first {
				t.Errorf("%s: size %d align %d, want %d and %d", c[0], typ.Size(), typ.Align(), size, first)
			}
			checked++
			continue
		}
		name := ""
		for _, p := range strings.Split(c[1], "_") {
			name += strings.ToUpper(p[:1]) + p[1:]
		}
		f, ok := typ.FieldByName(name)
		if !ok || uint64(f.Offset) != first || uint64(f.Type.Size()) != size {
			t.Errorf("%s.%s: found %v, offset %d size %d, want %d and %d", c[0], c[1], ok, f.Offset, f.Type.Size(), first, size)
		}
		checked++
	}
	if checked < 300 {
		t.Fatalf("only %d layouts checked", checked)
	}
}

// The same for the generated C header, member by member, by C and C++ compilers.
func TestHeaderLayout(t *testing.T) {
	b, err := os.ReadFile("testdata/layout.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var src strings.Builder
	src.WriteString("#include <hip/hip_runtime.h>\n#ifdef __cplusplus\n#define CHECK static_assert\n#else\n#define CHECK _Static_assert\n#endif\n")
	for _, l := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		c := strings.Split(l, "\t")
		if strings.HasPrefix(l, "#") {
			continue
		}
		if c[1] == "-" {
			src.WriteString("CHECK(sizeof(" + c[0] + ") == " + c[3] + ", \"" + c[0] + "\");\n")
		} else {
			src.WriteString("CHECK(offsetof(" + c[0] + ", " + c[1] + ") == " + c[2] + ", \"" + c[0] + "." + c[1] + "\");\n")
		}
	}
	for _, lang := range []string{"c", "c++"} {
		cmd := exec.Command("gcc", "-x", lang, "-Wall", "-Werror", "-Iinclude", "-fsyntax-only", "-")
		if lang == "c++" {
			if _, err := exec.LookPath("g++"); err != nil {
				t.Log("SKIP C++ half: g++ is not installed")
				continue
			}
		}
		cmd.Stdin = strings.NewReader(src.String())
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", lang, err, out)
		}
	}
}

func TestError(t *testing.T) {
	if Success.Err() != nil || ErrorInvalidValue.Err() != ErrorInvalidValue {
		t.Error("Err")
	}
	if ErrorIllegalAddress != 700 || ErrorIllegalAddress.Name() != "hipErrorIllegalAddress" || Error(12345).Valid() {
		t.Error("names")
	}
	if OpName(OpMalloc) != "hipMalloc" || OpName(0xffff) != "" {
		t.Error("op names")
	}
	if Ptr(0x1f).String() != "0x1f" || Ptr(0).String() != "0x0" {
		t.Error("Ptr.String")
	}
}
