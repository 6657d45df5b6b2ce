package simgpu

import (
	"context"
	"encoding/binary"
	"errors"
	"sync/atomic"

	"github.com/rocwire/rocwire/simgpu/vmem"
)

// What the workgroups of a cooperative launch synchronize with, the hidden
// argument hidden_multigrid_sync_arg: 48 bytes, whose layout AMD's runtime and
// device library agree on.
//
//	u64 address of what the grids synchronize with, 0: there is one grid
//	u32 number of the grid, number of grids (0: there is one)
//	u64 threads of the grids before it, threads of all grids
//	u32 arrivals, unused
//	u32 workgroups of the grid
const gridSyncLen = 64 // that, and room

// gridSync is a grid's place in a cooperative launch. The zero value is a grid
// by itself.
type gridSync struct {
	shared       *gridShared // nil: there is no other grid
	id           uint32
	before, size uint64 // threads
}

// gridShared is what the grids of a launch on several devices have in common.
type gridShared struct {
	r      *Runtime
	mem    *vmem.Alloc // 8 bytes, in which they meet
	grids  uint32
	left   atomic.Int32 // grids that have not ended
	ctx    context.Context
	cancel context.CancelCauseFunc
}

// errAbandoned is why a grid ends whose other devices cannot go on.
var errAbandoned = errors.New("simgpu: another device of the launch cannot go on")

// put writes the hidden argument's memory for a grid of so many workgroups.
func (g *gridSync) put(b []byte, groups uint32) {
	clear(b)
	le := binary.LittleEndian
	if g.shared != nil {
		le.PutUint64(b, g.shared.mem.Base)
		le.PutUint32(b[8:], g.id)
		le.PutUint32(b[12:], g.shared.grids)
		le.PutUint64(b[16:], g.before)
		le.PutUint64(b[24:], g.size)
	}
	le.PutUint32(b[40:], groups)
}

// context is what the grid executes under: the device's, and what it has in
// common with the other grids. release must be called.
func (g *gridSync) context(device context.Context) (ctx context.Context, release func()) {
	if g.shared == nil {
		return device, func() {}
	}
	ctx, cancel := context.WithCancelCause(device)
	stop := context.AfterFunc(g.shared.ctx, func() { cancel(context.Cause(g.shared.ctx)) })
	return ctx, func() { stop(); cancel(nil) }
}

// abandon ends the other grids: they would wait for ever.
func (g *gridSync) abandon() {
	if g.shared != nil {
		g.shared.cancel(errAbandoned)
	}
}

// end is the end of the grid, whatever became of it.
func (g *gridSync) end() {
	if s := g.shared; s != nil && s.left.Add(-1) == 0 {
		s.cancel(nil)
		s.r.release(s.mem)
	}
}
