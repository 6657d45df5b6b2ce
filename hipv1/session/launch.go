package session

import (
	"slices"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/graph"
	"github.com/rocwire/rocwire/hipv1"
)

// launch launches a kernel. Grids are in workgroups in every dialect.
func (s *Session) launch(q *hipv1.Launch) hip.Error {
	f, ok := s.functions[q.Function]
	if !ok {
		return hip.HandleFunction.Wrong()
	}
	st, code := s.stream(q.Stream)
	if code != hip.Success {
		return code
	}
	l := hip.Launch{
		Function: f.h, Stream: st, SharedMem: q.SharedMemBytes,
		Grid: hip.Dim3{X: q.GridDimX, Y: q.GridDimY, Z: q.GridDimZ}, Block: hip.Dim3{X: q.BlockDimX, Y: q.BlockDimY, Z: q.BlockDimZ},
	}
	if q.ExtFlags&^uint32(1) != 0 { // hipExtAnyOrderLaunch is a permission that need not be used
		return hip.ErrorInvalidValue
	}
	for _, e := range []struct {
		name uint64
		to   *hip.Event
	}{{q.StartEvent, &l.Start}, {q.StopEvent, &l.Stop}} {
		if e.name == 0 {
			continue
		}
		if *e.to, code = s.event(e.name); code != hip.Success {
			return code
		}
	}
	if l.Args, code = f.pack(q); code != hip.Success {
		return code
	}
	node := graph.Kernel{Func: q.Function, Name: f.kernel.Name, Device: f.module.device, Extra: q.Whole(), Launch: l}
	if done, code := s.record(st, node); done {
		return code
	}
	return s.Runtime.LaunchKernel(s.thread(), &l)
}

// pack is the argument segment of a launch.
func (f *function) pack(q *hipv1.Launch) ([]byte, hip.Error) {
	if q.Whole() {
		switch len(q.Args) {
		case 0:
			return f.enough(nil)
		case 1:
			return f.enough(q.Arg(0))
		}
		return nil, hip.ErrorInvalidValue
	}
	args := make([][]byte, len(q.Args))
	for i := range args {
		args[i] = q.Arg(i)
	}
	return f.packArgs(args)
}

// enough checks a segment that has come as one.
func (f *function) enough(b []byte) ([]byte, hip.Error) {
	if uint64(len(b)) < uint64(f.kernel.ExplicitSize) {
		return nil, hip.ErrorInvalidValue
	}
	return slices.Clone(b), hip.Success
}

// packArgs lays out arguments that came one by one, of which clients send eight bytes each, and more than there are where they do not know how many
// there are. The kernel says how long each is; one that is longer than what came would be made up, and is refused.
func (f *function) packArgs(args [][]byte) ([]byte, hip.Error) {
	k := f.kernel
	if len(args) < len(k.Args) || len(k.Args) == 0 && k.ExplicitSize != 0 {
		return nil, hip.ErrorInvalidValue
	}
	for i, a := range k.Args {
		if uint64(len(args[i])) < uint64(a.Size) {
			return nil, hip.ErrorInvalidValue
		}
		args[i] = args[i][:a.Size]
	}
	seg, err := k.PackArgs(args[:len(k.Args)])
	if err != nil {
		return nil, hip.ErrorInvalidValue
	}
	return seg, hip.Success
}
