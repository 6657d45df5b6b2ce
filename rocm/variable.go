package rocm

import "github.com/rocwire/rocwire/hip"

// Where there are several devices AMD's library fails the first copy of rows between a variable of a module and other memory of a device: it lets the other
// devices have the memory first, by its address, and of a variable that is not where an allocation begins (TwoMemoryArgsCommand::validatePeerMemory). The next
// copies it makes.

// And it says of each variable that it is the first device's.

// ModuleGetGlobal is hipModuleGetGlobal. What fails has failed before the program knows the address.
func (r *Runtime) ModuleGetGlobal(t hip.Thread, m hip.Module, name string) (hip.Ptr, uint64, hip.Error) {
	p, n, err := r.moduleGetGlobal(t, m, name)
	if err != hip.Success || n == 0 || !r.several() {
		return p, n, err
	}
	if _, known := r.variables.find(p); !known {
		r.variables.add(extent{uint64(p), n, t.Device, m})
		r.failCopy(t, p, n)
	}
	return p, n, err
}

// failCopy copies two bytes of a variable, in two rows, to where nobody looks.
func (r *Runtime) failCopy(t hip.Thread, p hip.Ptr, n uint64) {
	const pitch, width, rows, bytes = 2, 1, 2, 3
	s, err := r.frees.streams.On(r, t)
	if n < bytes || err != hip.Success {
		return
	}
	to, err := r.mallocAsync(t, bytes, s)
	if err != hip.Success {
		return
	}
	_ = r.memcpy2DAsync(t, to, pitch, p, pitch, width, rows, hip.MemcpyDeviceToDevice, s)
	_ = r.freeAsync(t, to, s) // it is memory
}
