package exec

import (
	"context"
	"encoding/binary"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/codeobject"
	"github.com/rocwire/rocwire/examples/kernels"
	"github.com/rocwire/rocwire/simgpu/gcn"
)

// device is device memory with an allocator that never frees, and code in it.
// Its first and last pages, and one after each allocation, are not mapped.
type device struct {
	t    testing.TB
	mem  *Memory
	prog *Program
	data []byte
	used uint64

	allocs [][2]uint64 // address and size of what was asked for
}

const page = 4096

func newDevice(t testing.TB, arch gcn.Arch, size int) *device {
	t.Helper()
	data, err := unix.Mmap(-1, 0, size, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(data) })
	mem, err := NewMemory(uint64(uintptr(unsafe.Pointer(&data[0]))), uint64(size))
	if err != nil {
		t.Fatal(err)
	}
	return &device{t: t, mem: mem, prog: NewProgram(arch, mem, Options{TranslateAfter: *translate}), data: data, used: page}
}

// alloc maps n bytes of memory.
func (d *device) alloc(n int) (addr uint64, data []byte) {
	d.t.Helper()
	size := (uint64(n) + page - 1) &^ (page - 1)
	if d.used+size+2*page > uint64(len(d.data)) {
		d.t.Fatalf("device memory is full: %d bytes wanted", n)
	}
	at := d.used
	if size > 0 {
		if err := unix.Mprotect(d.data[at:at+size], unix.PROT_READ|unix.PROT_WRITE); err != nil {
			d.t.Fatal(err)
		}
	}
	d.used += size + page
	d.allocs = append(d.allocs, [2]uint64{d.mem.Base + at, uint64(n)})
	return d.mem.Base + at, d.data[at : at+uint64(n)]
}

// allocated is for Dispatch.Allocated.
func (d *device) allocated(addr, n uint64) bool {
	for _, a := range d.allocs {
		if addr >= a[0] && addr-a[0] <= a[1] && n <= a[1]-(addr-a[0]) {
			return true
		}
	}
	return false
}

// buffer puts data at the end of the pages that hold it, so that what reads
// beyond it faults.
func (d *device) buffer(b []byte, atEnd bool) (addr uint64, data []byte) {
	n := len(b)
	if !atEnd {
		addr, data = d.alloc(n)
		copy(data, b)
		return
	}
	size := (n + page - 1) &^ (page - 1)
	addr, data = d.alloc(size)
	off := (size - n) &^ 15
	copy(data[off:], b)
	d.allocs[len(d.allocs)-1] = [2]uint64{addr + uint64(off), uint64(n)}
	return addr + uint64(off), data[off : off+n]
}

// module is a loaded code object.
type module struct {
	base uint64
	data []byte
	obj  *codeobject.Object
}

func (d *device) load(image []byte) *module {
	d.t.Helper()
	obj, err := codeobject.Parse(image)
	if err != nil {
		d.t.Fatal(err)
	}
	addr, data := d.alloc(int(obj.MemSize))
	if err := obj.Load(data, addr); err != nil {
		d.t.Fatal(err)
	}
	return &module{addr, data, obj}
}

// dispatch prepares a launch; grid is in work-items.
func (d *device) dispatch(m *module, name string, grid, block [3]uint32, shared uint32, args []byte) *Dispatch {
	d.t.Helper()
	k := m.obj.Kernels[name]
	if k == nil {
		d.t.Fatalf("no kernel %s", name)
	}
	h := codeobject.Hidden{DynamicLDSSize: shared, SharedBase: uint32(sharedBase >> 32), PrivateBase: uint32(privateBase >> 32)}
	h.SetGrid(grid, block)
	seg, err := k.Kernarg(args, &h)
	if err != nil {
		d.t.Fatal(err)
	}
	kernarg, mem := d.alloc(len(seg))
	copy(mem, seg)
	packet, p := d.alloc(64)
	le := binary.LittleEndian
	for i := range 3 {
		le.PutUint16(p[4+2*i:], uint16(block[i]))
		le.PutUint32(p[12+4*i:], grid[i])
	}
	e := k.Descriptor
	return &Dispatch{
		Program: d.prog, Kernel: name, Entry: m.base + k.Entry,
		Desc: Descriptor{GroupSegmentSize: e.GroupSegmentFixedSize, PrivateSegmentSize: e.PrivateSegmentFixedSize,
			KernargSize: e.KernargSize, EntryOffset: e.EntryOffset, Rsrc1: e.Rsrc1, Rsrc2: e.Rsrc2, Rsrc3: e.Rsrc3,
			Properties: e.Properties, KernargPreload: e.KernargPreload},
		Kernarg: kernarg, DispatchPtr: packet, Grid: grid, Group: block, DynamicLDS: shared,
	}
}

// runCase runs a case of the project's kernels.
func runCase(t testing.TB, arch gcn.Arch, c *kernels.Case, workers int) (*kernels.Result, Stats, error) {
	t.Helper()
	return runCaseWith(t, arch, c, workers, func(*device) {}, func(*device, *Dispatch) {})
}

// runCaseWith runs it on a device and by a dispatch that others have prepared.
func runCaseWith(t testing.TB, arch gcn.Arch, c *kernels.Case, workers int, device func(*device), dispatch func(*device, *Dispatch)) (*kernels.Result, Stats, error) {
	t.Helper()
	folder := arch.String()
	if arch != arch.Target() {
		folder = kernels.Wave64
	}
	image, err := kernels.Object(folder, c.Object)
	if err != nil {
		t.Fatal(err)
	}
	d := newDevice(t, arch.Target(), 64<<20)
	device(d)
	m := d.load(image)
	res := &kernels.Result{}
	var addrs []uint64
	for i, b := range c.Buffers {
		addr, data := d.buffer(b.Data, i%2 == 1)
		addrs = append(addrs, addr)
		res.Buffers = append(res.Buffers, data)
	}
	for _, v := range c.Set {
		g := m.obj.Globals[v.Name]
		copy(m.data[g.Addr:g.Addr+g.Size], v.Data)
	}
	var grid [3]uint32
	for i := range grid {
		grid[i] = c.Grid[i] * c.Block[i]
	}
	run := d.dispatch(m, c.Kernel, grid, c.Block, c.Shared, c.Segment(func(i int) uint64 { return addrs[i] }))
	dispatch(d, run)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	stats, err := run.Run(ctx, workers)
	for i := range res.Buffers {
		res.Buffers[i] = append([]byte(nil), res.Buffers[i]...)
	}
	for _, n := range c.Read {
		g := m.obj.Globals[n]
		res.Variables = append(res.Variables, append([]byte(nil), m.data[g.Addr:g.Addr+g.Size]...))
	}
	return res, stats, err
}

var arches = []gcn.Arch{gcn.GFX90A, gcn.GFX942}
