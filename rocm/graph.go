package rocm

import "github.com/rocwire/rocwire/hip"

// GraphInstantiate is hipGraphInstantiate.
func (r *Runtime) GraphInstantiate(t hip.Thread, d *hip.GraphDesc) (hip.GraphExec, hip.Error) {
	return r.graphs.GraphInstantiate(t, d)
}

// GraphExecUpdate is hipGraphExecUpdate.
func (r *Runtime) GraphExecUpdate(t hip.Thread, h hip.GraphExec, changes []hip.GraphChange) hip.Error {
	return r.graphs.GraphExecUpdate(t, h, changes)
}

// GraphLaunch is hipGraphLaunch.
func (r *Runtime) GraphLaunch(t hip.Thread, h hip.GraphExec, s hip.Stream) hip.Error {
	return r.graphs.GraphLaunch(t, h, s)
}

// GraphExecDestroy is hipGraphExecDestroy.
func (r *Runtime) GraphExecDestroy(t hip.Thread, h hip.GraphExec) hip.Error {
	return r.graphs.GraphExecDestroy(t, h)
}
