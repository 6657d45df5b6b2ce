package worker_test

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipremote"
	"github.com/rocwire/rocwire/worker"
	"github.com/rocwire/rocwire/worker/simbackend"
)

const largePage = 2 << 20

// large is how many bytes of a piece of this process's memory the kernel has been asked to make of large pages, and how many lie in such.
func large(t *testing.T, base, size uint64) (asked, are uint64) {
	t.Helper()
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var from, to, huge uint64
	for s := bufio.NewScanner(f); s.Scan(); {
		line := s.Text()
		var a, b uint64
		if n, _ := fmt.Sscanf(line, "%x-%x ", &a, &b); n == 2 {
			from, to, huge = max(a, base), min(b, base+size), 0
			continue
		}
		if from >= to {
			continue
		}
		if kb, ok := strings.CutPrefix(line, "AnonHugePages:"); ok {
			_, _ = fmt.Sscanf(kb, "%d kB", &huge)
			are += huge << 10
		}
		if flags, ok := strings.CutPrefix(line, "VmFlags:"); ok && strings.Contains(flags+" ", " hg ") {
			asked += to - from
		}
	}
	return asked, are
}

// TestLargePages: memory of hipHostMalloc is made of large pages where the machine has them, so that it is there with one fault for each instead of 512.
func TestLargePages(t *testing.T) {
	mode, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled")
	if err != nil {
		t.Logf("this kernel has no large pages: %v", err)
	}
	const size = 16<<20 + 5000
	w := serve(t, simbackend.Options{}, worker.Config{})
	for name, cfg := range map[string]hipremote.Config{"of the range": {}, "claimed": {NoReserve: true}} {
		t.Run(name, func(t *testing.T) {
			c := connectWith(t, w, cfg)
			p, code := c.HostMalloc(main0, size, hip.HostMallocDefault)
			must(t, "HostMalloc", code)
			defer func() { must(t, "HostFree", c.HostFree(main0, p)) }()
			asked, _ := large(t, uint64(p), size)
			if mode != nil && asked < size-2*largePage {
				t.Errorf("of %d bytes large pages were asked for %d", size, asked)
			}
			at := uintptr(p)
			touch(unsafe.Slice(*(**byte)(unsafe.Pointer(&at)), size))
			_, are := large(t, uint64(p), size)
			if got := plainLarge(t, size); are < got-min(got, 2*largePage) {
				t.Errorf("%d bytes are of large pages, of other memory that was asked for so %d", are, got)
			}
		})
	}
}

// plainLarge is how many bytes are of large pages if a program asks for them by itself, now.
func plainLarge(t *testing.T, size int) uint64 {
	t.Helper()
	b, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(b)
	if err := unix.Madvise(b, unix.MADV_HUGEPAGE); err != nil {
		return 0
	}
	touch(b)
	_, are := large(t, uint64(uintptr(unsafe.Pointer(&b[0]))), uint64(size))
	return are
}

func touch(b []byte) {
	for i := 0; i < len(b); i += 4096 {
		b[i] = 1
	}
}
