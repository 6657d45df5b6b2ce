package simgpu

import (
	"strconv"
	"strings"
	"sync"

	"github.com/rocwire/rocwire/codeobject"
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu/hostcall"
	"github.com/rocwire/rocwire/simgpu/vmem"
)

const (
	heapBytes    = 128 << 10 // what the device library's malloc keeps its books in: all zero is an empty heap
	printfBytes  = 4 << 20   // of a kernel compiled with -mprintf-kind=buffered
	leastPackets = 1 << 10
	mostPackets  = 1 << 16 // waves of the largest dispatch that are begun at a time
)

// services are what a device's kernels find in their hidden arguments for
// printf, assert and malloc.
type services struct {
	mu      sync.Mutex
	calls   *hostcall.Buffer // nil until a kernel needs it
	heap    *vmem.Alloc
	users   int                    // kernels that run and may use calls
	blocks  map[uint64]*vmem.Alloc // what malloc got
	printfs []*vmem.Alloc          // buffers that no kernel uses
}

// served is what one kernel uses of its device's services.
type served struct {
	d       *device
	kernel  *codeobject.Kernel
	formats map[uint64]string // of its module's buffered printf
	calls   *hostcall.Buffer
	printf  *vmem.Alloc
	mu      sync.Mutex
	failed  bool // it wrote to standard error, as assert does
}

// serve prepares what a kernel needs and tells it where that is. end must follow.
func (d *device) serve(m *module, k *codeobject.Kernel, hidden *codeobject.Hidden) (*served, hip.Error) {
	v := &served{d: d, kernel: k, formats: m.formats}
	calls, heap, printf := k.Uses(codeobject.ArgHiddenHostcallBuffer), k.Uses(codeobject.ArgHiddenHeap), k.Uses(codeobject.ArgHiddenPrintfBuffer)
	if !calls && !heap && !printf {
		return v, hip.Success
	}
	s := &d.services
	s.mu.Lock()
	defer s.mu.Unlock()
	if calls {
		if e := s.openCalls(d); e != hip.Success {
			return nil, e
		}
		hidden.HostcallBuffer = s.calls.Address()
	}
	if heap {
		if s.heap == nil {
			a, e := d.allocate(heapBytes, vmem.Runtime, 0)
			if e != hip.Success {
				return nil, e
			}
			s.heap = a
		}
		hidden.Heap = s.heap.Base
	}
	if printf {
		if n := len(s.printfs); n > 0 {
			v.printf, s.printfs = s.printfs[n-1], s.printfs[:n-1]
		} else {
			a, e := d.allocate(printfBytes, vmem.Runtime, 0)
			if e != hip.Success {
				return nil, e
			}
			v.printf = a
		}
		hostcall.InitRecords(vmem.Raw(v.printf.Base, printfBytes))
		hidden.PrintfBuffer = v.printf.Base
	}
	if calls {
		s.users++
		v.calls = s.calls
	}
	return v, hip.Success
}

// openCalls makes the device's buffer for requests, as large as there is room.
// mu is held.
func (s *services) openCalls(d *device) hip.Error {
	for n := uint64(mostPackets); s.calls == nil; n /= 4 {
		a, e := d.allocate(hostcall.Size(n), vmem.Runtime, 0)
		if e == hip.Success {
			s.calls = hostcall.NewBuffer(vmem.Raw(a.Base, a.Size), a.Base, n)
		} else if n <= leastPackets {
			return e
		}
	}
	return hip.Success
}

// interrupt is s_sendmsg: the device library's way to say that there is a request.
func (v *served) interrupt(msg uint16, _ uint32) {
	const interrupt = 1
	if msg&0xf == interrupt {
		v.poll()
	}
}

// poll answers requests if there are any.
func (v *served) poll() {
	if v.calls != nil && v.calls.Waiting() {
		v.calls.Serve(v)
	}
}

// end is the end of the kernel: text that it left behind is written before anybody hears that it has ended.
func (v *served) end() {
	v.poll()
	if v.printf != nil {
		hostcall.Records(vmem.Raw(v.printf.Base, printfBytes), v.formats, v.d.r.o.OnOutput)
	}
	s := &v.d.services
	s.mu.Lock()
	defer s.mu.Unlock()
	if v.printf != nil {
		s.printfs = append(s.printfs, v.printf)
	}
	if v.calls != nil {
		if s.users--; s.users == 0 {
			v.calls.Forget()
		}
	}
}

// asserted reports whether the kernel has written to standard error.
func (v *served) asserted() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.failed
}

// Output is printf's, fprintf's and assert's text.
func (v *served) Output(stderr bool, text []byte) {
	if stderr {
		v.mu.Lock()
		v.failed = true
		v.mu.Unlock()
	}
	v.d.r.o.OnOutput(stderr, text)
}

// Allocate is memory for the kernels' malloc, which divides most of it itself.
func (v *served) Allocate(size uint64) uint64 {
	if size == 0 {
		return 0
	}
	a, e := v.d.allocate(size, vmem.Device, 0)
	if e != hip.Success {
		return 0
	}
	noteOf(a).freed.Store(true) // not a program's to free
	s := &v.d.services
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.blocks == nil {
		s.blocks = map[uint64]*vmem.Alloc{}
	}
	s.blocks[a.Base] = a
	return a.Base
}

// Free gives memory of Allocate back.
func (v *served) Free(addr uint64) {
	s := &v.d.services
	s.mu.Lock()
	a := s.blocks[addr]
	delete(s.blocks, addr)
	s.mu.Unlock()
	if a != nil {
		v.d.r.release(a)
	}
}

// reset forgets what kernels allocated. None runs.
func (s *services) reset(r *Runtime) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.blocks {
		r.release(a)
	}
	s.blocks = nil
	if s.heap != nil {
		clear(vmem.Raw(s.heap.Base, heapBytes))
	}
	if s.calls != nil { // a kernel that was stopped has not given its packets back
		mem := s.calls.Memory()
		clear(mem)
		s.calls = hostcall.NewBuffer(mem, s.calls.Address(), s.calls.Packets())
	}
}

// printfFormats are the formats of a module's buffered printf by their numbers.
// The compiler writes "0:0:HASH,FORMAT", the hash in hexadecimal.
func printfFormats(list []string) map[uint64]string {
	formats := map[uint64]string{}
	for _, s := range list {
		parts := strings.SplitN(s, ":", 3)
		if len(parts) < 3 {
			continue
		}
		hash, format, ok := strings.Cut(parts[2], ",")
		n, err := strconv.ParseUint(hash, 16, 64)
		if ok && err == nil {
			formats[n] = format
		}
	}
	return formats
}
