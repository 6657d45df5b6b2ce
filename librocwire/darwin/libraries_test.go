package darwin

import (
	"bytes"
	"debug/macho"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

// Everything compiles and links for both kinds of Macs. The libraries have the install
// names and the exports that they should, no others, and need nothing but the system's.
func TestLibraries(t *testing.T) {
	sdk := os.Getenv("ROCWIRE_MACOS_SDK")
	if sdk == "" {
		t.Skip("ROCWIRE_MACOS_SDK is not set to what scripts/macos_sdk.sh has made")
	}
	for arch, cpu := range map[string]macho.Cpu{"arm64": macho.CpuArm64, "amd64": macho.CpuAmd64} {
		t.Run(arch, func(t *testing.T) {
			dir := t.TempDir()
			cmd := exec.Command(filepath.Join(root, "librocwire", "build_darwin.sh"), dir)
			cmd.Env = append(os.Environ(), "CC="+filepath.Join(sdk, "cc"), "GOARCH="+arch)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			for name, want := range map[string][]string{
				"libamdhip64.6.dylib": names(t, "hipabi/zz_libamdhip64.map"),
				"libamdhip64.7.dylib": names(t, "hipabi/zz_libamdhip64_next.map"),
				"libamd_smi.27.dylib": names(t, "smiabi/zz_libamd_smi.map"),
				"librocwire.dylib":    tables(t),
			} {
				f, err := macho.Open(filepath.Join(dir, name))
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
				if f.Type != macho.TypeDylib || f.Cpu != cpu {
					t.Errorf("%s is a %v for %v", name, f.Type, f.Cpu)
				}
				if got := installName(f); got != "@rpath/"+name {
					t.Errorf("the install name of %s is %q", name, got)
				}
				if got := exported(f); !slices.Equal(got, want) {
					t.Errorf("%s: %d exports, want %d\n%q\n%q", name, len(got), len(want), got, want)
				}
				needs, err := f.ImportedLibraries()
				if err != nil {
					t.Fatal(err)
				}
				for _, n := range needs {
					if !strings.HasPrefix(n, "/usr/lib/") && !strings.HasPrefix(n, "/System/") {
						t.Errorf("%s needs %s", name, n)
					}
				}
			}
			for link, want := range map[string]string{"libamdhip64.dylib": "libamdhip64.6.dylib", "libamd_smi.dylib": "libamd_smi.27.dylib"} {
				if got, err := os.Readlink(filepath.Join(dir, link)); err != nil || got != want {
					t.Errorf("%s leads to %s, %v", link, got, err)
				}
			}
		})
	}
}

// names are the symbols of a library's map as a Mac's linker knows them, sorted.
func names(t *testing.T, file string) (list []string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^\s+(\w+);$`).FindAllSubmatch(b, -1) {
		list = append(list, "_"+string(m[1]))
	}
	if len(list) < 200 {
		t.Fatalf("%s has %d names", file, len(list))
	}
	slices.Sort(list)
	return list
}

// tables are the names of librocwire's two tables, sorted.
func tables(t *testing.T) (list []string) {
	t.Helper()
	for _, file := range []string{"librocwire/stubs/zz_libamdhip64.S", "librocwire/stubs/zz_libamd_smi.S"} {
		b, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		m := regexp.MustCompile(`#define TABLE (\w+)`).FindSubmatch(b)
		if m == nil {
			t.Fatalf("%s has no table", file)
		}
		list = append(list, "_"+string(m[1]))
	}
	slices.Sort(list)
	return list
}

// exported are a library's global symbols that it has itself, sorted.
func exported(f *macho.File) (list []string) {
	const external, private, kind, section = 0x01, 0x10, 0x0e, 0x0e
	for _, s := range f.Symtab.Syms {
		if s.Type&external != 0 && s.Type&private == 0 && s.Type&kind == section {
			list = append(list, s.Name)
		}
	}
	slices.Sort(list)
	return list
}

// installName is by what name programs look for a library.
func installName(f *macho.File) string {
	const idDylib = 0xd
	for _, l := range f.Loads {
		if b := l.Raw(); len(b) > 24 && f.ByteOrder.Uint32(b) == idDylib {
			name, _, _ := bytes.Cut(b[min(f.ByteOrder.Uint32(b[8:]), uint32(len(b))):], []byte{0})
			return string(name)
		}
	}
	return ""
}
