package amdsmi

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rocwire/rocwire/smi"
)

// stub is a library made of testdata/stub.c, and the folder it looks for orders in.
type stub struct {
	abi  int
	file string
	dir  string
}

var builds = struct {
	sync.Mutex
	dir string
	m   map[string][]byte
}{m: map[string][]byte{}}

// compile builds the stub for an ABI, with a SONAME.
func compile(t *testing.T, abi int, soname string) []byte {
	t.Helper()
	builds.Lock()
	defer builds.Unlock()
	key := fmt.Sprint(abi, soname)
	if b := builds.m[key]; b != nil {
		return b
	}
	out := filepath.Join(t.TempDir(), "stub.so")
	gcc(t, "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-DABI="+strconv.Itoa(abi), "-Wl,-soname,"+soname, "-o", out, "testdata/stub.c", "-ldl", "-lpthread")
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	builds.m[key] = b
	return b
}

func gcc(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
}

func newStub(t *testing.T, abi int) *stub { return newStubAs(t, abi, soname+strconv.Itoa(abi)) }

func newStubAs(t *testing.T, abi int, soname string) *stub {
	t.Helper()
	// Not t.TempDir: closing a source waits for nothing, so the library may be writing
	// here still.
	dir, err := os.MkdirTemp("", "amdsmi")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for range 100 {
			if err = os.RemoveAll(dir); err == nil {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Error(err)
	})
	s := &stub{abi: abi, dir: dir, file: filepath.Join(dir, soname)}
	if err := os.WriteFile(s.file, compile(t, abi, soname), 0o755); err != nil {
		t.Fatal(err)
	}
	return s
}

// control orders what goes wrong; nothing if there are no lines.
func (s *stub) control(t *testing.T, lines ...string) {
	t.Helper()
	temp := filepath.Join(s.dir, "control.new")
	if err := os.WriteFile(temp, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(temp, filepath.Join(s.dir, "control")); err != nil {
		t.Fatal(err)
	}
}

// log is what the library was told to change.
func (s *stub) log() []string {
	b, _ := os.ReadFile(filepath.Join(s.dir, "log"))
	return strings.Split(strings.TrimSpace(string(b)), "\n")
}

func (s *stub) open(t *testing.T) smi.Source {
	t.Helper()
	src, err := Open(Options{Library: s.file})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	return src
}

// eachABI runs a test with a stub of every ABI.
func eachABI(t *testing.T, f func(t *testing.T, s *stub)) {
	for _, a := range knownABIs {
		t.Run(strconv.Itoa(a.number), func(t *testing.T) { f(t, newStub(t, a.number)) })
	}
}
