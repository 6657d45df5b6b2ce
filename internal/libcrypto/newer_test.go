//go:build linux && amd64 && cgo

package libcrypto

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/cpu"

	"github.com/rocwire/rocwire/internal/debtree"
)

const newerVariable = "ROCWIRE_LIBCRYPTO_NEWER"

// TestNewer: Debian's newest OpenSSL, whose AES-GCM uses VAES, is chosen by itself where the processor has that, and does what this machine's does. It
// needs its own C library, and so a process of its own, with the loader of the folder that its packages are unpacked in.
func TestNewer(t *testing.T) {
	tree := debtree.Path(t)
	libs := filepath.Join(tree, "usr/lib/x86_64-linux-gnu")
	if _, err := os.Stat(filepath.Join(libs, "libcrypto.so.3")); err != nil {
		t.Skipf("SKIPPED, no OpenSSL but this machine's is tested: get it with\n\tscripts/fetch_debian.sh %s libssl3t64 libc6 libzstd1 zlib1g", tree)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(filepath.Join(tree, "usr/lib64/ld-linux-x86-64.so.2"), "--library-path", libs, self, "-test.v", "-test.run=^Test(Vector|Either|Many|Fails|Never|Chosen)$")
	child.Env = append(os.Environ(), newerVariable+"=1", Variable+"=")
	out, err := child.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"Vector", "Either", "Many", "Fails", "Never", "Chosen"} {
		if !strings.Contains(string(out), "--- PASS: Test"+name+" ") {
			t.Errorf("Test%s did not pass with the newer library:\n%s", name, out)
		}
	}
}

// TestChosen: without the variable the library is used if it is new enough and the processor has what it is faster by.
func TestChosen(t *testing.T) {
	t.Setenv(Variable, "1")
	use, version := Use()
	if !use {
		t.Fatalf("the tests need libcrypto.so.3 (Debian's libssl3): %s", version)
	}
	newer := !strings.HasPrefix(version, "OpenSSL 3.0.")
	if !newer && os.Getenv(newerVariable) != "" {
		t.Fatalf("%s is not the newer library", version)
	}
	x := &cpu.X86
	vectors := x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL && x.HasAVX512VAES && x.HasAVX512VPCLMULQDQ
	t.Setenv(Variable, "")
	if use, why := Use(); use != (newer && vectors) || use && why != version {
		t.Errorf("%s, a processor with VAES and AVX-512: %v: used: %v (%s)", version, vectors, use, why)
	}
}
