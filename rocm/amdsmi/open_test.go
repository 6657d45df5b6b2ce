package amdsmi

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/rocwire/rocwire/smi"
)

// openFails opens a library that must be refused.
func openFails(t *testing.T, path string, code smi.Code, words ...string) {
	t.Helper()
	src, err := Open(Options{Library: path})
	if err == nil {
		src.Close()
	}
	if !errors.Is(err, code) {
		t.Errorf("%s: %v, want %v", path, err, code)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%q does not say %q", err, w)
		}
	}
}

// What cannot be talked to is refused in words.
func TestOpenRefused(t *testing.T) {
	openFails(t, "/nonexistent/libamd_smi.so.27", smi.ErrUnavailable, "/nonexistent/libamd_smi.so.27")
	openFails(t, "libm.so.6", smi.ErrNotSupported, "no libamd_smi")
	openFails(t, newStubAs(t, 27, "libamd_smi.so.28").file, smi.ErrNotSupported, "ABI 28", "27, 26, 25")
	openFails(t, newStubAs(t, 25, "libamd_smi.so.24").file, smi.ErrNotSupported, "ABI 24")
	openFails(t, newStubAs(t, 27, "libamd_smi.so.26").file, smi.ErrNotSupported, "version 27.1.0", "libamd_smi.so.26")
	old := newStub(t, 25)
	old.control(t, "minor 2")
	openFails(t, old.file, smi.ErrNotSupported, "25.2.0", "25.3")
	text := filepath.Join(t.TempDir(), "libamd_smi.so.27")
	if err := os.WriteFile(text, []byte("no library"), 0o644); err != nil {
		t.Fatal(err)
	}
	openFails(t, text, smi.ErrUnavailable, text)
}

// Of the library's failures to begin, each says what is missing.
func TestInitFails(t *testing.T) {
	eachABI(t, func(t *testing.T, s *stub) {
		for _, c := range []struct {
			control string
			code    smi.Code
			words   string
		}{
			{"fail -1 amdsmi_init 34", smi.ErrNoDriver, "amdgpu driver is not loaded"},
			{"fail -1 amdsmi_init 18", smi.ErrInternal, "INIT_ERROR"},
			{"fail -1 amdsmi_init 10", smi.ErrNoPermission, "NO_PERM"},
			{"fail -1 amdsmi_get_socket_handles 16", smi.ErrInternal, "INTERNAL_EXCEPTION"},
			{"cards 0", smi.ErrNoDriver, "finds no GPU"},
		} {
			s.control(t, c.control)
			openFails(t, s.file, c.code, c.words)
		}
		s.control(t)
		s.open(t)
	})
}

// The file that matters is named, and the group that may use it.
func TestPermission(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "dri"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{"kfd", "dri/renderD128", "dri/renderD129"} {
		if err := os.WriteFile(filepath.Join(dir, f), nil, 0o660); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Join(dir, f), 0o660); err != nil { // whatever the umask
			t.Fatal(err)
		}
	}
	defer func(d string, a func(string, uint32) error) { deviceDir, access = d, a }(deviceDir, access)
	deviceDir = dir
	denied := ""
	access = func(f string, mode uint32) error {
		if strings.HasSuffix(f, denied) && denied != "" {
			return syscall.EACCES
		}
		return nil
	}
	s := newStub(t, 27)
	src := s.open(t)
	s.control(t, "fail 1 * 10")
	for _, f := range []string{"", "kfd", "dri/renderD129"} {
		denied = f
		words := []string{"NO_PERM"}
		if f == "kfd" { // the card's render node cannot be asked for
			words = append(words, filepath.Join(dir, f)+": permission denied", "members of group ")
		}
		_, err := src.Metrics(t.Context(), 1)
		if !errors.Is(err, smi.ErrNoPermission) {
			t.Fatal(err)
		}
		if f == "dri/renderD129" {
			words = append(words, filepath.Join(dir, f)+": permission denied")
		}
		for _, w := range words {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%q does not say %q", err, w)
			}
		}
	}
	denied = "kfd"
	s.control(t, "fail -1 * 10")
	if err := src.Events(t.Context(), nil); !errors.Is(err, smi.ErrNoPermission) || !strings.Contains(err.Error(), filepath.Join(dir, "kfd")) {
		t.Errorf("events: %v", err)
	}
	s.control(t, "cards 0")
	openFails(t, s.file, smi.ErrNoPermission, "finds no GPU", filepath.Join(dir, "kfd"))
}

// Sources of one library share it; the last one closes it.
func TestUses(t *testing.T) {
	s := newStub(t, 26)
	a := s.open(t)
	b := s.open(t)
	if a.(*Source).lib != b.(*Source).lib {
		t.Error("one file is two libraries")
	}
	a.Close()
	if _, err := b.Metrics(t.Context(), 0); err != nil {
		t.Error(err)
	}
	b.Close()
	c := s.open(t)
	if _, err := c.Metrics(t.Context(), 0); err != nil {
		t.Error(err)
	}
	c.Close()
	want := []string{"init -1 1 0", "shut_down -1 1 0", "init -1 1 0", "shut_down -1 1 0"}
	if got := s.log(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestPaths(t *testing.T) {
	t.Setenv("ROCM_PATH", "/some/rocm")
	paths := Paths()
	for _, p := range []string{"libamd_smi.so.27", "libamd_smi.so.25", "/some/rocm/lib/libamd_smi.so.26", "/opt/rocm/lib/libamd_smi.so"} {
		if !slices.Contains(paths, p) {
			t.Errorf("%s is not among %v", p, paths)
		}
	}
	// Found by its name, as a program finds AMD's: in a process of its own, since the
	// loader remembers the names it has seen.
	if os.Getenv("AMDSMI_TEST_SEARCH") != "" {
		src, err := Open(Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		file, version := src.(*Source).Library()
		fmt.Println("opened", file, version)
		return
	}
	s := newStub(t, 27)
	child := exec.Command(os.Args[0], "-test.run=^TestPaths$", "-test.v")
	child.Env = append(os.Environ(), "AMDSMI_TEST_SEARCH=1", "LD_LIBRARY_PATH="+s.dir)
	out, err := child.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "opened "+s.file+" 27.1.0") {
		t.Errorf("%v\n%s", err, out)
	}
}

// rocwire's own libamd_smi, found in AMD's place, would ask itself for ever.
func TestOwnLibraryRefused(t *testing.T) {
	dir := t.TempDir()
	opens := filepath.Join(dir, "opens.c") // as librocwire/stubs/lazy.c does
	if err := os.WriteFile(opens, []byte("const char rocwire_opens[] __attribute__((used)) = \"librocwire.so\";\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(dir, "libamd_smi.so.27")
	gcc(t, "-shared", "-fPIC", "-DABI=27", "-Wl,-soname,libamd_smi.so.27", "-o", own, "testdata/stub.c", opens, "-ldl", "-lpthread")
	openFails(t, own, smi.ErrNotSupported, "rocwire's own")
}
