package simgpu

import (
	"encoding/binary"
	"sync"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu/vmem"
)

const (
	argBlocks = 256  // kernels that run at a time without an allocation of their own
	argBlock  = 4096 // bytes: a dispatch packet, what grids synchronize with, and an argument segment
	packetLen = 64
	argStart  = packetLen + gridSyncLen
)

// kernargs is the memory in which a device's running kernels find their
// arguments and dispatch packets, and its queue descriptor.
type kernargs struct {
	mu    sync.Mutex
	queue uint64   // address of the queue descriptor
	base  uint64   // address of the blocks, 0: not allocated yet
	free  []uint64 // addresses of blocks
}

// argMemory is memory for the packet and the arguments of one kernel.
type argMemory struct {
	packet uint64
	sync   uint64 // gridSyncLen bytes
	args   uint64
	alloc  *vmem.Alloc // its own, nil for a block
}

// take finds memory for size bytes of arguments.
func (k *kernargs) take(d *device, size uint64) (argMemory, hip.Error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.base == 0 {
		a, e := d.allocate(argBlock*(argBlocks+1), vmem.Runtime, 0)
		if e != hip.Success {
			return argMemory{}, e
		}
		k.queue, k.base = a.Base, a.Base+argBlock
		describeQueue(vmem.Raw(k.queue, argBlock), d)
		for i := range uint64(argBlocks) {
			k.free = append(k.free, k.base+(argBlocks-1-i)*argBlock)
		}
	}
	var m argMemory
	if n := len(k.free); n > 0 && size <= argBlock-argStart {
		m.packet = k.free[n-1]
		k.free = k.free[:n-1]
	} else {
		a, e := d.allocate(size+argStart, vmem.Runtime, 0)
		if e != hip.Success {
			return argMemory{}, e
		}
		m.alloc, m.packet = a, a.Base
	}
	m.sync, m.args = m.packet+packetLen, m.packet+argStart
	return m, hip.Success
}

func (k *kernargs) give(d *device, m argMemory) {
	if m.alloc != nil {
		d.r.release(m.alloc)
		return
	}
	k.mu.Lock()
	k.free = append(k.free, m.packet)
	k.mu.Unlock()
}

// Apertures of LDS and scratch in the flat address space, high halves.
const (
	sharedBaseHi  = 1 << 16
	privateBaseHi = 2 << 16
)

// describeQueue fills in the parts of an amd_queue_t that kernels read.
func describeQueue(b []byte, d *device) {
	le := binary.LittleEndian
	le.PutUint32(b[24:], 1<<16)                              // packets
	le.PutUint64(b[32:], uint64(d.id)+1)                     // id
	le.PutUint32(b[64:], sharedBaseHi)                       // group_segment_aperture_base_hi
	le.PutUint32(b[68:], privateBaseHi)                      // private_segment_aperture_base_hi
	le.PutUint32(b[72:], uint32(d.r.product.computeUnits-1)) // max_cu_id
	le.PutUint32(b[76:], wavesPerUnit-1)                     // max_wave_id
}

// putPacket writes an AQL kernel dispatch packet.
func putPacket(b []byte, l *launch, args uint64) {
	const (
		kernelDispatch = 2
		dimensions     = 3
	)
	le := binary.LittleEndian
	clear(b[:packetLen])
	le.PutUint16(b[0:], kernelDispatch)
	le.PutUint16(b[2:], dimensions)
	for i := range 3 {
		le.PutUint16(b[4+2*i:], uint16(l.block[i]))
		le.PutUint32(b[12+4*i:], l.global[i])
	}
	le.PutUint32(b[24:], l.f.desc.PrivateSegmentSize)
	le.PutUint32(b[28:], l.f.desc.GroupSegmentSize+l.lds)
	le.PutUint64(b[32:], l.f.m.alloc.Base+l.f.kernel.Addr)
	le.PutUint64(b[40:], args)
}
