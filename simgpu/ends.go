package simgpu

import (
	"cmp"
	"slices"

	"github.com/rocwire/rocwire/simgpu/queue"
	"github.com/rocwire/rocwire/simgpu/vmem"
)

// end is where the n bytes from addr on lie; nil: in memory of the program's own.
type end struct {
	a       *vmem.Alloc
	addr, n uint64
}

func (tr *transfer) ends() [2]end {
	return [2]end{
		{tr.dstA, tr.dst, tr.extent(tr.dpitch, tr.dslice)},
		{tr.srcA, tr.src, tr.extent(tr.spitch, tr.sslice)},
	}
}

// extent is how many bytes there are from the first of a side to the last.
func (tr *transfer) extent(pitch, slice uint64) uint64 {
	return (tr.depth-1)*slice + (tr.height-1)*pitch + tr.width
}

// owners are the devices whose memory is mapped to reserved addresses, to any of
// the reservation's if not all that are meant have memory.
func (x *end) owners() []*device {
	v := noteOf(x.a).reserved
	v.mu.RLock()
	defer v.mu.RUnlock()
	maps := v.over(x.addr, x.n)
	if maps == nil {
		maps = v.maps
	}
	var list []*device
	for _, m := range maps {
		if !slices.Contains(list, m.p.d) {
			list = append(list, m.p.d)
		}
	}
	return list
}

// homes appends the devices whose memory it is, none of memory of the host.
func (x *end) homes(list []*device) []*device {
	switch {
	case x.a == nil || !onCard(x.a.Kind):
		return list
	case x.a.Kind == vmem.Virtual:
		return append(list, x.owners()...)
	}
	return append(list, noteOf(x.a).d)
}

// others are fences for what other devices still do with their memory.
func (tr *transfer) others(d *device) []queue.Fence {
	var list []queue.Fence
	var room [1]*device
	for _, x := range tr.ends() {
		for _, o := range x.homes(room[:0]) {
			if o != d {
				list = append(list, o.queues.Blocking()...)
			}
		}
	}
	return list
}

// homes are the devices whose null streams the copy belongs to, as in AMD's
// library: the one whose memory it is of, whatever device the stream is of, and
// both only for hipMemcpyPeer.
func (tr *transfer) homes() []*device {
	var list []*device
	for _, x := range tr.ends() {
		list = x.homes(list)
	}
	slices.SortFunc(list, func(a, b *device) int { return cmp.Compare(a.id, b.id) })
	if list = slices.Compact(list); len(list) > 1 && !tr.peer {
		return nil
	}
	return list
}
