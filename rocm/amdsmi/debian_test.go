package amdsmi

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/internal/debtree"
	"github.com/rocwire/rocwire/smi"
)

// The real library of Debian's unstable suite is recognised and says, on a machine
// without a card, what is missing. It runs with its own C library in a process of
// its own; ROCWIRE_SID is the folder its packages are unpacked in.
func TestDebianLibrary(t *testing.T) {
	if file := os.Getenv("AMDSMI_TEST_REAL"); file != "" {
		realLibrary(file)
		return
	}
	tree := debtree.Path(t)
	libs := filepath.Join(tree, "usr/lib/x86_64-linux-gnu")
	file := filepath.Join(libs, "libamd_smi.so.27")
	if _, err := os.Stat(file); err != nil {
		t.Skipf("SKIPPED, the real library is not tested: no %s; get it with\n\tscripts/fetch_debian.sh %s libamd-smi27 libnl-3-200 libnl-genl-3-200 libmnl0 libe-smi64-1 libc6 libstdc++6 libgcc-s1", file, tree)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(filepath.Join(tree, "usr/lib64/ld-linux-x86-64.so.2"), "--library-path", libs, self, "-test.run=^TestDebianLibrary$")
	child.Env = append(os.Environ(), "AMDSMI_TEST_REAL="+file)
	out, err := child.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !strings.Contains(string(out), "identified: ABI 27, version 27.1.0, 0 functions missing") {
		t.Errorf("not identified:\n%s", out)
	}
	if _, err := os.Stat("/sys/module/amdgpu"); err != nil && !strings.Contains(string(out), "open: no driver:") {
		t.Errorf("without a driver:\n%s", out)
	}
	t.Logf("%s", out)
}

// realLibrary is what the child process does.
func realLibrary(file string) {
	l, err := load(file)
	if err != nil {
		fmt.Println("load:", err)
		return
	}
	missing := 0
	for i, p := range l.fn {
		if p == nil {
			fmt.Println("missing:", functionNames[i])
			missing++
		}
	}
	fmt.Printf("identified: ABI %d, version %s, %d functions missing\n", l.abi.number, l.version, missing)
	src, err := Open(Options{Library: file})
	switch {
	case err == nil:
		fmt.Println("open: this machine has a card")
		src.Close()
	case errors.Is(err, smi.ErrNoDriver):
		fmt.Println("open: no driver:", err)
	default:
		fmt.Println("open:", err)
	}
}
