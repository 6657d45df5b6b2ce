package pagewatch

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const block = 64

// tracked fails where the kernel of the machine that tests cannot tell what was written: nothing here would be tested.
func tracked(t *testing.T) {
	t.Helper()
	if theKernel() == nil {
		t.Fatal("this kernel does not tell what was written: userfaultfd with asynchronous write protection and PAGEMAP_SCAN (Linux 6.7) are needed")
	}
}

func memory(t *testing.T, size int) []byte {
	t.Helper()
	b, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Munmap(b) })
	return b
}

func addr(b []byte) uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }

// copyOf is a copy of memory that follows it by what a watch says.
type copyOf struct {
	w    *Watch
	mem  []byte
	twin []byte
}

func follow(t *testing.T, mem []byte, o Options) *copyOf {
	t.Helper()
	c := &copyOf{New(addr(mem), uint64(len(mem)), o), mem, make([]byte, len(mem))}
	t.Cleanup(c.w.Close)
	c.look()
	return c
}

// look brings the copy up to date and says how many bytes were looked at.
func (c *copyOf) look() (n int) {
	c.w.Look()
	for from := 0; ; {
		p, ok := c.w.Next(from, block)
		if !ok {
			return n
		}
		n += p.To - p.From
		changed := !bytes.Equal(c.twin[p.From:p.To], c.mem[p.From:p.To])
		copy(c.twin[p.From:p.To], c.mem[p.From:p.To])
		c.w.Looked(p, changed)
		from = p.To
	}
}

func (c *copyOf) check(t *testing.T, what string) {
	t.Helper()
	n := c.look()
	if !bytes.Equal(c.mem, c.twin) {
		t.Fatalf("%s: a write was not seen (%d bytes of %d looked at)", what, n, len(c.mem))
	}
}

// settle looks until only what cannot be watched is looked at.
func (c *copyOf) settle(t *testing.T) {
	t.Helper()
	for range 1000 {
		if c.look() <= 2*pageSize {
			return
		}
		time.Sleep(grace / 4)
	}
	t.Fatalf("after many looks %d of %d bytes are still looked at", c.look(), len(c.mem))
}

// TestWrites: every way to write to memory is seen, and only what was written is looked at.
func TestWrites(t *testing.T) {
	tracked(t)
	for name, o := range map[string]Options{"own": {}, "pinned": {Pinned: true}} {
		t.Run(name, func(t *testing.T) {
			all := memory(t, 1<<20)
			mem := all[100 : len(all)-3000] // its first and last page are others', too
			c := follow(t, mem, o)
			if !c.w.Tracking() {
				t.Fatal("not watched")
			}
			c.settle(t)
			mem[5*pageSize] = 1
			if n := c.look(); n > 4*pageSize {
				t.Errorf("%d bytes looked at after one write", n)
			}
			c.check(t, "a store")
			for i, way := range []struct {
				name string
				f    func(b []byte)
			}{
				{"read", func(b []byte) {
					f, err := os.Open("/dev/urandom")
					if err != nil {
						t.Fatal(err)
					}
					defer f.Close()
					if _, err := f.Read(b); err != nil {
						t.Fatal(err)
					}
				}},
				{"a socket", func(b []byte) {
					p, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
					if err != nil {
						t.Fatal(err)
					}
					defer unix.Close(p[0])
					defer unix.Close(p[1])
					if _, err := unix.Write(p[0], bytes.Repeat([]byte{7}, 9000)); err != nil {
						t.Fatal(err)
					}
					if _, err := unix.Read(p[1], b[:9000]); err != nil {
						t.Fatal(err)
					}
				}},
				{"process_vm_writev", func(b []byte) {
					from := bytes.Repeat([]byte{9}, 9000)
					local := []unix.Iovec{{Base: &from[0], Len: 9000}}
					remote := []unix.RemoteIovec{{Base: uintptr(addr(b)), Len: 9000}}
					if _, err := unix.ProcessVMWritev(os.Getpid(), local, remote, 0); err != nil {
						t.Fatal(err)
					}
				}},
				{"first and last byte", func([]byte) { mem[0]++; mem[len(mem)-1]++ }},
				{"MADV_DONTNEED", func([]byte) { _ = unix.Madvise(all[20*pageSize:22*pageSize], unix.MADV_DONTNEED) }},
				{"another thread", func(b []byte) {
					var wg sync.WaitGroup
					wg.Go(func() { b[1]++ })
					wg.Wait()
				}},
			} {
				c.settle(t)
				way.f(mem[(10*i+3)*pageSize+17:][:10000])
				c.check(t, way.name)
				c.check(t, way.name+", once more")
			}
		})
	}
}

// TestWritesMeanwhile: what other threads write while somebody looks is there after the next look.
func TestWritesMeanwhile(t *testing.T) {
	tracked(t)
	all := memory(t, 512<<10)
	mem := all[4096+64 : len(all)-64]
	c := follow(t, mem, Options{Pinned: true})
	var stop atomic.Bool
	var wg sync.WaitGroup
	words := unsafe.Slice((*uint64)(unsafe.Pointer(&mem[0])), len(mem)/8)
	twin := unsafe.Slice((*uint64)(unsafe.Pointer(&c.twin[0])), len(mem)/8)
	done := make([]atomic.Uint64, len(words))
	for k := range 2 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(k), 1))
			for n := uint64(1); !stop.Load(); n++ {
				i := r.IntN(len(words)/2)*2 + k
				if r.IntN(10) != 0 {
					i = i%1024*2/2*2 + k
				}
				atomic.StoreUint64(&words[i], n)
				done[i].Store(n)
				if n%500 == 0 {
					time.Sleep(50 * time.Microsecond)
				}
			}
		})
	}
	for end := time.Now().Add(1500 * time.Millisecond); time.Now().Before(end); {
		before := make([]uint64, len(words))
		for i := range before {
			before[i] = done[i].Load()
		}
		c.w.Look()
		for from := 0; ; {
			p, ok := c.w.Next(from, block)
			if !ok {
				break
			}
			changed := false
			for i := p.From / 8; i < min((p.To+7)/8, len(words)); i++ {
				v := atomic.LoadUint64(&words[i])
				changed = changed || twin[i] != v
				twin[i] = v
			}
			c.w.Looked(p, changed)
			from = p.To
		}
		for i, n := range before {
			if twin[i] < n {
				t.Fatalf("word %d was %d before the look, which has %d", i, n, twin[i])
			}
		}
	}
	stop.Store(true)
	wg.Wait()
	c.check(t, "the end")
	if !c.w.Tracking() {
		t.Error("not watched any more")
	}
}

// TestLargePages: writes to memory of large pages are seen.
func TestLargePages(t *testing.T) {
	tracked(t)
	all := memory(t, 10<<20)
	_ = unix.Madvise(all, unix.MADV_HUGEPAGE)
	for i := range all {
		all[i] = byte(i)
	}
	c := follow(t, all, Options{})
	c.settle(t)
	r := rand.New(rand.NewPCG(1, 1))
	for range 100 {
		all[r.IntN(len(all))]++
		c.check(t, "a store")
	}
}

// TestNotPrivate: memory that can be written through another mapping is compared.
func TestNotPrivate(t *testing.T) {
	tracked(t)
	f, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(64 << 10); err != nil {
		t.Fatal(err)
	}
	for name, flags := range map[string]int{"shared": unix.MAP_SHARED, "private": unix.MAP_PRIVATE} {
		mem, err := unix.Mmap(int(f.Fd()), 0, 64<<10, unix.PROT_READ|unix.PROT_WRITE, flags)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Munmap(mem)
		c := follow(t, mem, Options{})
		if c.w.Tracking() {
			t.Errorf("%s memory of a file is watched", name)
		}
		for range 3 {
			c.check(t, name)
		}
		if _, err := f.WriteAt([]byte("other"), 9000); err != nil {
			t.Fatal(err)
		}
		c.check(t, name+", written through the file")
	}
}

// TestMappedAnew: memory that is unmapped and mapped again under the same addresses, moved away, or given another mapping is compared.
func TestMappedAnew(t *testing.T) {
	tracked(t)
	for name, anew := range map[string]func(mem []byte){
		"mapped": func(mem []byte) {
			fixed(t, mem[8*pageSize:9*pageSize], unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
		},
		"shared": func(mem []byte) {
			fixed(t, mem[8*pageSize:9*pageSize], unix.MAP_SHARED|unix.MAP_ANONYMOUS)
		},
		"moved and mapped": func(mem []byte) {
			to := memory(t, pageSize)
			if _, _, errno := unix.Syscall6(unix.SYS_MREMAP, uintptr(addr(mem[8*pageSize:])), pageSize, pageSize, unix.MREMAP_MAYMOVE|unix.MREMAP_FIXED, uintptr(addr(to)), 0); errno != 0 {
				t.Fatal(errno)
			}
			fixed(t, mem[8*pageSize:9*pageSize], unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
		},
		"moved, but the mapping left": func(mem []byte) {
			const dontUnmap = 4
			if _, _, errno := unix.Syscall6(unix.SYS_MREMAP, uintptr(addr(mem[8*pageSize:])), pageSize, pageSize, unix.MREMAP_MAYMOVE|dontUnmap, 0, 0); errno != 0 {
				t.Fatal(errno)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			mem := memory(t, 64<<10)
			for i := range mem {
				mem[i] = 3
			}
			c := follow(t, mem, Options{})
			c.settle(t)
			anew(mem)
			c.check(t, "after it")
			mem[8*pageSize+5] = 77
			c.check(t, "a store after it")
		})
	}
}

func fixed(t *testing.T, mem []byte, flags uintptr) {
	t.Helper()
	if _, _, errno := unix.Syscall6(unix.SYS_MMAP, uintptr(addr(mem)), uintptr(len(mem)), unix.PROT_READ|unix.PROT_WRITE, flags|unix.MAP_FIXED, ^uintptr(0), 0); errno != 0 {
		t.Fatal(errno)
	}
}

// TestFork: a process that was forked, whose writes are its own, changes nothing in what is seen of this one.
func TestFork(t *testing.T) {
	tracked(t)
	mem := memory(t, 256<<10)
	c := follow(t, mem, Options{})
	c.settle(t)
	for i := range 5 {
		p, err := os.StartProcess("/bin/true", []string{"true"}, &os.ProcAttr{})
		if err != nil {
			t.Fatal(err)
		}
		mem[i*3*pageSize]++
		if _, err := p.Wait(); err != nil {
			t.Fatal(err)
		}
		c.check(t, "after a fork")
	}
}

// TestContested: where two watch the same pages, both look at all.
func TestContested(t *testing.T) {
	tracked(t)
	mem := memory(t, 64<<10)
	a := follow(t, mem, Options{})
	a.settle(t)
	b := follow(t, mem[16<<10:], Options{})
	for i := range 20 {
		mem[i*3000]++
		a.check(t, "the first")
		b.check(t, "the second")
	}
	if a.w.Tracking() || b.w.Tracking() {
		t.Error("one relies on the other's protection")
	}
	a.w.Close()
	b.w.Close()
	if len(areas.list) != 0 {
		t.Errorf("%d areas are left", len(areas.list))
	}
}

// TestPinned: as long as a descriptor is open through which pages can be written that were pinned before, pages that were protected are looked at.
func TestPinned(t *testing.T) {
	tracked(t)
	if unseenWriters() {
		t.Fatal("this process has descriptors that pin memory")
	}
	mem := memory(t, 64<<10)
	f, err := os.OpenFile(filepath.Join(t.TempDir(), "file"), os.O_RDWR|os.O_CREATE|unix.O_DIRECT, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if !unseenWriters() {
		t.Error("O_DIRECT is not noticed")
	}
	c := follow(t, mem, Options{Pinned: true})
	for range 10 {
		if n := c.look(); n != len(mem) {
			t.Fatalf("%d bytes looked at", n)
		}
		time.Sleep(grace)
	}
	f.Close()
	c.settle(t)

	xdp, err := unix.Socket(unix.AF_XDP, unix.SOCK_RAW, 0)
	if err == nil {
		if !unseenWriters() {
			t.Error("AF_XDP is not noticed")
		}
		unix.Close(xdp)
	}
	var ctx uintptr
	if _, _, errno := unix.Syscall(unix.SYS_IO_SETUP, 8, uintptr(unsafe.Pointer(&ctx)), 0); errno == 0 {
		if !unseenWriters() {
			t.Error("asynchronous reads are not noticed")
		}
		_, _, _ = unix.Syscall(unix.SYS_IO_DESTROY, ctx, 0, 0)
	}
	if unseenWriters() {
		t.Error("noticed after all are closed")
	}
}

// TestOff: without the kernel's help everything is looked at, every time.
func TestOff(t *testing.T) {
	mem := memory(t, 64<<10)[10:]
	c := follow(t, mem, Options{Off: true})
	for i := range 5 {
		mem[i*9000]++
		if n := c.look(); n < len(mem) || !bytes.Equal(c.mem, c.twin) {
			t.Fatalf("%d bytes looked at", n)
		}
	}
}

// TestNothingChanged: a look at memory in which nothing happens allocates nothing and looks at nothing.
func TestNothingChanged(t *testing.T) {
	tracked(t)
	c := follow(t, memory(t, 4<<20), Options{Pinned: true})
	c.settle(t)
	if n := testing.AllocsPerRun(100, func() {
		if c.look() != 0 {
			t.Error("something is looked at")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestParts: what is given out covers all of the memory, in order, and begins and ends at blocks.
func TestParts(t *testing.T) {
	for _, size := range []int{1, 10, 63, 64, 65, 4095, 4096, 4097, 3*4096 + 1, 20000} {
		for _, head := range []int{0, 1, 16, 64, 100, 4032, 4095} {
			w := New(uint64(1<<40+head), uint64(size), Options{Off: true})
			w.Look()
			at := 0
			for {
				p, ok := w.Next(at, block)
				if !ok {
					break
				}
				if p.From > at || p.From%block != 0 && p.From != at || p.To <= at || p.To%block != 0 && p.To != size {
					t.Fatalf("size %d, head %d: part [%d:%d] at %d", size, head, p.From, p.To, at)
				}
				w.Looked(p, true)
				at = p.To
			}
			if at != size {
				t.Fatalf("size %d, head %d: only %d", size, head, at)
			}
		}
	}
}
