package session

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipv1"
)

// nodesFor takes room for n nodes or graphs more; count gives back what was not needed.
func (s *Session) nodesFor(n int) bool {
	if !s.Memory.Take(uint64(n) * s.GraphCost) {
		return false
	}
	s.nodes += uint64(n)
	return true
}

// count has the account follow what there is of graphs.
func (s *Session) count() {
	graphs, nodes := s.graphs.Size()
	if n := uint64(graphs + nodes); n < s.nodes {
		s.Memory.Give((s.nodes - n) * s.GraphCost)
		s.nodes = n
	}
}

func (s *Session) ofGraph(c *call) (any, hip.Error) {
	defer s.count()
	t := s.thread()
	switch q := c.body.(type) {
	case *hipv1.GraphCreateRequest:
		if q.Flags != 0 {
			return nil, hip.ErrorInvalidValue
		}
		if !s.nodesFor(1) {
			return nil, hip.ErrorOutOfMemory
		}
		return &hipv1.GraphCreateReply{Graph: s.graphs.Create(s.device)}, hip.Success
	case *hipv1.GraphDestroyRequest:
		return nil, s.graphs.Destroy(q.Graph)
	case *hipv1.GraphCloneRequest:
		nodes, code := s.graphs.Nodes(q.OriginalGraph)
		if code != hip.Success {
			return nil, code
		}
		if !s.nodesFor(len(nodes) + 1) {
			return nil, hip.ErrorOutOfMemory
		}
		g, code := s.graphs.Clone(q.OriginalGraph)
		return &hipv1.GraphCloneReply{ClonedGraph: g}, code
	case *hipv1.GraphInstantiateRequest:
		return s.instantiate(q)
	case *hipv1.GraphLaunchRequest:
		return nil, s.launchGraph(q)
	case *hipv1.GraphExecDestroyRequest:
		h, code := s.graphs.DestroyExec(q.GraphExec)
		if code != hip.Success {
			return nil, code
		}
		s.Memory.Give(s.execs[q.GraphExec] * s.GraphCost)
		delete(s.execs, q.GraphExec)
		return nil, s.Runtime.GraphExecDestroy(t, h)
	case *hipv1.GraphExecUpdateRequest:
		u, code := s.graphs.ExecUpdate(q.GraphExec, q.Graph)
		if code == hip.Success && len(u.Changes) > 0 {
			code = s.Runtime.GraphExecUpdate(t, u.Handle, u.Changes)
		}
		return &hipv1.GraphExecUpdateReply{UpdateResult: int32(u.Result)}, code
	case *hipv1.GraphNodeGetDependenciesRequest:
		ask := s.graphs.Dependencies
		if c.h.Op == hipv1.OpGraphNodeGetDependentNodes {
			ask = s.graphs.Dependents
		}
		list, code := ask(q.Node)
		if code != hip.Success {
			return nil, code
		}
		list = list[:min(len(list), int(q.MaxNodes))]
		return &hipv1.Listed{Fixed: &hipv1.GraphNodeGetDependenciesReply{NumNodes: uint32(len(list))}, List: list}, hip.Success
	}
	return s.ofCapture(c)
}

func (s *Session) instantiate(q *hipv1.GraphInstantiateRequest) (any, hip.Error) {
	switch hip.GraphInstantiateFlags(q.Flags) {
	case 0, hip.GraphInstantiateFlagAutoFreeOnLaunch, hip.GraphInstantiateFlagUseNodePriority:
	default:
		return nil, hip.ErrorInvalidValue
	}
	e, d, code := s.graphs.Instantiate(q.Graph, uint64(q.Flags))
	if code != hip.Success {
		return nil, code
	}
	n := uint64(len(d.Ops)) + 1
	var h hip.GraphExec
	if !s.Memory.Take(n * s.GraphCost) {
		code = hip.ErrorOutOfMemory
	} else if h, code = s.Runtime.GraphInstantiate(s.thread(), d); code != hip.Success {
		s.Memory.Give(n * s.GraphCost)
	}
	if code != hip.Success {
		_, _ = s.graphs.DestroyExec(e)
		return nil, code
	}
	s.graphs.Instantiated(e, h)
	s.execs[e] = n
	return &hipv1.GraphInstantiateReply{GraphExec: e}, hip.Success
}

func (s *Session) launchGraph(q *hipv1.GraphLaunchRequest) hip.Error {
	st, code := s.stream(q.Stream)
	if code != hip.Success {
		return code
	}
	if _, _, code := s.graphs.Exec(q.GraphExec); code != hip.Success {
		return code
	}
	if s.captures.Active() {
		if !s.nodesFor(int(s.execs[q.GraphExec])) {
			return hip.ErrorOutOfMemory
		}
		if done, code := s.captures.Inline(st, q.GraphExec); done {
			return code
		}
	}
	s.Room()
	h, code := s.graphs.Launch(q.GraphExec)
	if code != hip.Success {
		return code
	}
	return s.Runtime.GraphLaunch(s.thread(), h, st)
}

// ofCapture begins, ends and asks about captures.
func (s *Session) ofCapture(c *call) (any, hip.Error) {
	t := s.thread()
	switch q := c.body.(type) {
	case *hipv1.StreamBeginCaptureRequest:
		st, code := s.stream(q.Stream)
		if code != hip.Success {
			return nil, code
		}
		if !s.nodesFor(1) {
			return nil, hip.ErrorOutOfMemory
		}
		return nil, s.captures.Begin(t, st, hip.StreamCaptureMode(q.Mode))
	case *hipv1.StreamEndCaptureRequest:
		st, code := s.stream(q.Stream)
		if code != hip.Success {
			return nil, code
		}
		g, code := s.captures.End(t, st)
		return &hipv1.StreamEndCaptureReply{Graph: g}, code
	case *hipv1.StreamIsCapturingRequest:
		st, code := s.stream(q.Stream)
		if code != hip.Success {
			return nil, code
		}
		a, code := s.captures.Ask(st)
		return &hipv1.StreamIsCapturingReply{CaptureStatus: int32(a.Status)}, code
	}
	return nil, hip.ErrorNotSupported
}
