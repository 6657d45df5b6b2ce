package simgpu

import (
	"bytes"
	"context"
	"fmt"
	"math/bits"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu/exec"
	"github.com/rocwire/rocwire/simgpu/queue"
	"github.com/rocwire/rocwire/simgpu/vmem"
)

// Packet is a kernel dispatch as a packet processor finds it: everything is an address of device memory, and nothing was checked.
type Packet struct {
	Kernel  uint64 // address of its descriptor
	Kernarg uint64
	Grid    [3]uint32 // work-items
	Group   [3]uint32 // work-items of a workgroup
	LDS     uint32    // bytes of a workgroup
	Scratch uint32    // bytes of a work-item

	Address     uint64                      // of the packet itself, for the kernel
	Queue       uint64                      // of its amd_queue_t, likewise
	ID          uint64                      // of the dispatch
	Units       []uint32                    // compute units that may be used, a bit each; nil is all
	Cooperative bool                        // all workgroups are resident at a time
	Interrupts  func(msg uint16, m0 uint32) // s_sendmsg; nil ignores it
}

// CardOf is which card of the segment a device is.
func (r *Runtime) CardOf(device int32) int { return r.devices[device].card }

// PacketQueue is a queue of packets of a device: what it executes counts as the device's work, and waits with all work while the cards' memory is held.
type PacketQueue struct {
	d     *device
	s     *queue.Stream
	share *exec.Share
}

// NewPacketQueue makes a queue, which Close ends.
func (r *Runtime) NewPacketQueue(device int32) (*PacketQueue, hip.Error) {
	d, e := r.enter(hip.Thread{Device: device})
	if e != hip.Success {
		return nil, e
	}
	defer r.leave()
	return &PacketQueue{d: d, s: d.queues.NewStream(false), share: r.share(0)}, hip.Success
}

// Close ends the queue. Nothing is executing.
func (q *PacketQueue) Close() { q.s.Close() }

// Execute executes a packet, and returns when it is done: nil, a *exec.Fault, or the error of ctx.
func (q *PacketQueue) Execute(ctx context.Context, p *Packet) (err error) {
	err = errClosed
	q.s.Do(queue.Task{Run: func() { err = q.d.dispatch(ctx, p, q.share) }})
	return err
}

// dispatch executes a packet in its queue's turn.
func (d *device) dispatch(ctx context.Context, p *Packet, share *exec.Share) error {
	s, e := d.r.memory()
	if e != hip.Success {
		return e
	}
	mem := s.view(d)
	if mem == nil {
		mem = s.program.Memory()
	}
	var b []byte
	if p.Kernel&63 != 0 || !mem.Contains(p.Kernel, exec.DescriptorSize) ||
		guard(func() { b = clone(p.Kernel, exec.DescriptorSize) }) != 0 {
		return &exec.Fault{Kind: exec.ConfigurationFault, Lane: -1, Detail: fmt.Sprintf("there is no kernel object at %#x: %s", p.Kernel, d.r.neighbour(p.Kernel))}
	}
	x := exec.Dispatch{
		Program: s.program, Memory: s.view(d), Kernel: fmt.Sprintf("%#x", p.Kernel), Desc: exec.ParseDescriptor((*[exec.DescriptorSize]byte)(b)),
		Kernarg: p.Kernarg, DispatchPtr: p.Address, QueuePtr: p.Queue, DispatchID: p.ID, Grid: p.Grid, Group: p.Group, ScratchPerLane: p.Scratch,
		Cooperative: p.Cooperative,
		OnMessage:   p.Interrupts,
	}
	x.Entry = p.Kernel + uint64(x.Desc.EntryOffset)
	if p.LDS < x.Desc.GroupSegmentSize {
		return &exec.Fault{Kind: exec.ConfigurationFault, Lane: -1, Detail: fmt.Sprintf("%d bytes of LDS, the kernel has %d", p.LDS, x.Desc.GroupSegmentSize)}
	}
	x.DynamicLDS = p.LDS - x.Desc.GroupSegmentSize
	groups := uint64(1)
	for i := range 3 {
		if p.Group[i] != 0 {
			groups *= (uint64(p.Grid[i]) + uint64(p.Group[i]) - 1) / uint64(p.Group[i])
		}
	}
	units := int(d.r.product.computeUnits)
	if p.Units != nil {
		units = 0
		for _, w := range p.Units {
			units += bits.OnesCount32(w)
		}
	}
	return d.execute(ctx, &x, share, int(min(groups, uint64(units))), func() {}, func() {})
}

// clone is what memory says. Inlined with a size that is known, it ends Go 1.26's compiler.
//
//go:noinline
func clone(addr, n uint64) []byte { return bytes.Clone(vmem.Raw(addr, n)) }
