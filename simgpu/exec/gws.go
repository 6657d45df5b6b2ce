package exec

import (
	"math/bits"
	"sync"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Global wave sync: barriers and semaphores between the waves of a dispatch. A
// cooperative dispatch has the 64 resources to itself; HIP's runtime sets the
// first one up for a barrier of all its workgroups before the kernel begins, and
// so does Run. Other dispatches have none.

// gws is a dispatch's resources.
type gws struct {
	mu        sync.Mutex
	resources [64]gwsResource
}

// gwsResource is one of them. A barrier counts the waves that have yet to come
// before the last; a semaphore what can be taken.
type gwsResource struct {
	count uint32
	turn  uint64 // grows when everything that waits is let go
}

// gwsWait is what a wave waits for.
type gwsWait struct {
	id    uint8
	turn  uint64
	takes bool // one of the semaphore's count
}

// passes reports whether the wave has what it waits for.
func (g *gws) passes(w *gwsWait) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	r := &g.resources[w.id]
	switch {
	case r.turn != w.turn:
	case w.takes && r.count > 0:
		r.count--
	default:
		return false
	}
	return true
}

// gwsOp is an operation on a resource: value is the first active lane's. It
// reports whether the wave goes on at once; otherwise it waits until the
// resource's turn is over, or as wait says.
type gwsOp func(r *gwsResource, value uint32, wait *gwsWait) bool

var gwsOps = map[string]gwsOp{
	"init": func(r *gwsResource, value uint32, _ *gwsWait) bool { r.count = value; return true },
	"barrier": func(r *gwsResource, value uint32, _ *gwsWait) bool {
		if r.count > 0 {
			r.count--
			return false
		}
		r.count = value // for the next time
		r.turn++
		return true
	},
	"sema_v":  func(r *gwsResource, _ uint32, _ *gwsWait) bool { r.count++; return true },
	"sema_br": func(r *gwsResource, value uint32, _ *gwsWait) bool { r.count += value; return true },
	"sema_p": func(r *gwsResource, _ uint32, wait *gwsWait) bool {
		if r.count > 0 {
			r.count--
			return true
		}
		wait.takes = true
		return false
	},
	"sema_release_all": func(r *gwsResource, _ uint32, _ *gwsWait) bool { r.turn++; return true },
}

func (op gwsOp) control(b *binder, in *gcn.Inst) (func(*wave, *block) *block, error) {
	var data vdst
	has := in.Data.Kind != gcn.None
	if has {
		var err error
		if data, err = b.dest(&in.Data); err != nil {
			return nil, err
		}
	}
	offset := uint32(uint16(in.Offset))
	return func(w *wave, b *block) *block {
		g := w.wg.gws
		if g == nil {
			panic(&Fault{Kind: InstructionFault, Lane: -1, Detail: "global wave sync in a dispatch that is not cooperative"})
		}
		next := w.d.Program.following(b)
		exec := w.s64(regEXEC)
		if exec == 0 {
			return next
		}
		value := uint32(0)
		if has {
			value = data.get(w)[bits.TrailingZeros64(exec)]
		}
		id := uint8((w.S[regM0]>>16 + offset) & 63)
		g.mu.Lock()
		defer g.mu.Unlock()
		r := &g.resources[id]
		w.waits = gwsWait{id: id, turn: r.turn}
		if op(r, value, &w.waits) {
			return next
		}
		return w.pause(atGWS, next)
	}, nil
}

var _ = define(func() {
	for name, op := range gwsOps {
		onControl("ds_gws_"+name, op.control)
	}
})
