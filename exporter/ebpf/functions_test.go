package ebpf

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// api is what hip/api.json says of the library's functions and structures.
type api struct {
	Functions []struct {
		Name, Ret string
		Params    []struct{ Name, Type string }
	}
	Structs []struct {
		Name   string
		Size   int
		Fields []struct {
			Name         string
			Offset, Size int
		}
	}
}

func readAPI(t *testing.T) *api {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "hip", "api.json"))
	if err != nil {
		t.Fatal(err)
	}
	var a api
	if err := json.Unmarshal(b, &a); err != nil {
		t.Fatal(err)
	}
	return &a
}

// The positions of arguments follow from the declarations by the rules of the ABI.
func TestPositions(t *testing.T) {
	declared := map[string]bool{}
	for _, f := range readAPI(t).Functions {
		if f.Ret != "" && f.Ret != "hipError_t" && strings.HasPrefix(f.Name, "hip") && isHIP(f.Name) {
			t.Errorf("%s returns %s", f.Name, f.Ret)
		}
		got, ok := known[f.Name]
		if !ok || f.Params == nil {
			continue
		}
		declared[f.Name] = true
		at := map[int]string{} // types by position
		registers, stack := 0, 6
		for _, p := range f.Params {
			units, memory := 1, false
			switch p.Type {
			case "dim3":
				units = 2
			case "hipExtent", "struct hipExtent":
				units, memory = 3, true
			}
			if memory || registers+units > 6 {
				at[stack] = p.Type
				stack += units
				continue
			}
			at[registers] = p.Type
			registers += units
		}
		is := func(what string, n uint8, types ...string) {
			t.Helper()
			for _, ty := range types {
				if at[int(n)] == ty || ty == "*" && strings.HasSuffix(at[int(n)], "*") {
					return
				}
			}
			t.Errorf("%s: %s is %q at %d, not %v", f.Name, what, at[int(n)], n, types)
		}
		switch got.class {
		case copyBytes:
			is("size", got.a, "size_t")
			if got.b != none {
				is("rows", got.b, "size_t")
			}
			if got.c != none {
				is("kind", got.c, "hipMemcpyKind")
			}
		case copyParms:
			is("parameters", got.a, "const struct hipMemcpy3DParms *", "const hipMemcpy3DParms *")
		case copy2D:
			is("parameters", got.a, "const hip_Memcpy2D *")
		case copy3D:
			is("parameters", got.a, "const HIP_MEMCPY3D *")
		case alloc:
			is("address", got.a, "void **", "hipMemGenericAllocationHandle_t *")
			is("size", got.b, "size_t")
		case allocPitch:
			is("address", got.a, "void **", "hipDeviceptr_t *")
			is("pitch", got.b, "size_t *")
			is("height", got.c, "size_t")
		case alloc3D:
			is("address", got.a, "hipPitchedPtr *")
			is("extent", got.b-1, "hipExtent", "struct hipExtent")
		case free:
			is("address", got.a, "void *", "hipMemGenericAllocationHandle_t")
		case launchDim3:
			is("grid", got.a, "dim3")
			is("block", got.a+2, "dim3")
		case launchSix:
			for i := range uint8(6) {
				is("sizes", got.a+i, "unsigned int", "uint32_t")
			}
		case launchList:
			is("list", got.a, "*")
			is("length", got.b, "int", "unsigned int")
		}
	}
	for name, f := range known {
		later := map[string]bool{"hipLaunchKernelExC": true, "hipDrvLaunchKernelEx": true, "hipMemPrefetchAsync": true}
		if !declared[name] && f.class != plain && !later[name] && name != "hipExtHostAlloc" {
			t.Errorf("%s is not declared", name)
		}
	}
}

// The kernel's programs read structures at these offsets.
func TestOffsets(t *testing.T) {
	want := map[string]map[string]int{
		"hipMemcpy3DParms": {"extent": 128, "kind": 152},
		"hip_Memcpy2D":     {"srcMemoryType": 16, "dstMemoryType": 72, "WidthInBytes": 112, "Height": 120},
		"HIP_MEMCPY3D":     {"srcMemoryType": 32, "dstMemoryType": 112, "WidthInBytes": 160, "Height": 168, "Depth": 176},
		"hipPitchedPtr":    {"ptr": 0, "pitch": 8},
		"hipLaunchParams":  {"gridDim": 8, "blockDim": 20},
	}
	found := 0
	for _, s := range readAPI(t).Structs {
		fields, ok := want[strings.TrimSuffix(s.Name, "_t")]
		if !ok {
			continue
		}
		found++
		for _, f := range s.Fields {
			if at, ok := fields[f.Name]; ok && at != f.Offset {
				t.Errorf("%s.%s is at %d", s.Name, f.Name, f.Offset)
			}
		}
		if strings.HasPrefix(s.Name, "hipLaunchParams") && s.Size != 56 {
			t.Errorf("%s has %d bytes", s.Name, s.Size)
		}
	}
	if found != len(want) {
		t.Errorf("%d structures of %d", found, len(want))
	}
}

func TestSelection(t *testing.T) {
	s, err := newSelection([]string{"launch", "hipGetDevice"})
	if err != nil {
		t.Fatal(err)
	}
	for symbol, want := range map[string]string{
		"hipLaunchKernel": "hipLaunchKernel", "hipGetDevice": "hipGetDevice", "hipMalloc": "", "stub": "",
		"_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j": "hipExtModuleLaunchKernel",
	} {
		if name, _, ok := s.of(symbol); name != want || ok != (want != "") {
			t.Errorf("%s: %q, %v", symbol, name, ok)
		}
	}
	if s, err = newSelection([]string{All}); err != nil {
		t.Fatal(err)
	}
	for symbol, want := range map[string]bool{
		"hipMalloc": true, "hipOfTheFuture": true, "hipGetErrorString": false, "hiprtcVersion": false, "__hipRegisterFunction": false,
		"hip" + strings.Repeat("x", maxName): false,
	} {
		if _, f, ok := s.of(symbol); ok != want || symbol == "hipMalloc" && f.class != alloc {
			t.Errorf("%s: %v", symbol, ok)
		}
	}
	for _, wrong := range []string{"memroy", "hipGetErrorString", ""} {
		if _, err := newSelection([]string{wrong}); err == nil || !strings.Contains(err.Error(), "copy, launch, memory") {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}
