//go:build linux && amd64

package ebpf

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Containers of one image have the same file under different inodes, and the kernel
// puts the probes of all of them on it. A call is one call all the same.
func TestLayers(t *testing.T) {
	if b, err := os.ReadFile("/proc/filesystems"); err != nil || !strings.Contains(string(b), "\toverlay\n") {
		t.Skip("needs a kernel with overlay file systems (modprobe overlay)")
	}
	tr := open(t)
	_, program := stub(t)
	var programs []*runner
	for i := range 2 {
		at, empty := t.TempDir(), t.TempDir()
		o := fmt.Sprintf("lowerdir=%s:%s", filepath.Dir(program), empty)
		if err := syscall.Mount("none", at, "overlay", syscall.MS_RDONLY, o); err != nil {
			t.Fatalf("mount -t overlay -o %s none %s: %v", o, at, err)
		}
		t.Cleanup(func() {
			if err := syscall.Unmount(at, syscall.MNT_DETACH); err != nil {
				t.Error(err)
			}
		})
		programs = append(programs, start(t, filepath.Join(at, "calls"), "allocate", "copy", "leave", "sync"))
		watched(t, tr, i+1)
	}
	for _, r := range programs {
		r.step("done")
		r.step("done")
		r.step("done")
		r.step("done")
		p := of(t, tr, r.pid())
		c := counts(p)
		if c["hipMalloc hipSuccess"] != 1 || c["hipFree hipSuccess"] != 3 || c["hipMemcpy hipSuccess"] != 2 || c["hipDeviceSynchronize hipSuccess"] != 2 ||
			c["hipCtxSynchronize hipSuccess"] != 1 {
			t.Errorf("calls: %v", c)
		}
		if n, _ := p.Device.Held.Get(); n != 3000+256*7+512*10*3+1<<21 {
			t.Errorf("%d bytes held", n)
		}
	}
}
