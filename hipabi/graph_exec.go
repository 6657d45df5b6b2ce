package hipabi

import "C"

import (
	"unsafe"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/graph"
)

func instantiate(t hip.Thread, out unsafe.Pointer, g, flags uint64) hip.Error {
	e, d, err := graphs().Instantiate(g, flags)
	if err != hip.Success {
		return err
	}
	h, err := bare().GraphInstantiate(t, d)
	if err != hip.Success {
		graphs().DestroyExec(e)
		return err
	}
	graphs().Instantiated(e, h)
	*(*graph.ID)(out) = e
	return hip.Success
}

//export rw_hipGraphInstantiate
func rw_hipGraphInstantiate(thread uint64, out unsafe.Pointer, g uint64, node, log unsafe.Pointer, size uint64) int32 {
	if out == nil || g == 0 {
		return int32(hip.ErrorInvalidValue)
	}
	if node != nil {
		*(*graph.ID)(node) = 0
	}
	if log != nil && size > 0 {
		*(*byte)(log) = 0
	}
	return int32(instantiate(threadOf(thread), out, g, 0))
}

//export rw_hipGraphInstantiateWithFlags
func rw_hipGraphInstantiateWithFlags(thread uint64, out unsafe.Pointer, g uint64, flags uint64) int32 {
	if out == nil || g == 0 {
		return int32(hip.ErrorInvalidValue)
	}
	switch hip.GraphInstantiateFlags(flags) {
	case 0, hip.GraphInstantiateFlagAutoFreeOnLaunch, hip.GraphInstantiateFlagUseNodePriority:
		return int32(instantiate(threadOf(thread), out, g, flags))
	}
	return int32(hip.ErrorInvalidValue)
}

//export rw_hipGraphInstantiateWithParams
func rw_hipGraphInstantiateWithParams(thread uint64, out unsafe.Pointer, g uint64, params unsafe.Pointer) int32 {
	if out == nil || g == 0 || params == nil {
		return int32(hip.ErrorInvalidValue)
	}
	p := (*hip.GraphInstantiateParams)(params)
	err := hip.ErrorInvalidValue
	switch hip.GraphInstantiateFlags(p.Flags) {
	case 0, hip.GraphInstantiateFlagAutoFreeOnLaunch, hip.GraphInstantiateFlagUpload, hip.GraphInstantiateFlagDeviceLaunch, hip.GraphInstantiateFlagUseNodePriority:
		err = instantiate(threadOf(thread), out, g, p.Flags)
	}
	if err != hip.Success {
		p.ResultOut = hip.GraphInstantiateError
		return int32(err)
	}
	p.ResultOut, p.ErrNodeOut = hip.GraphInstantiateSuccess, 0
	if p.Flags == uint64(hip.GraphInstantiateFlagUpload) {
		return rw_hipGraphUpload(thread, *(*graph.ID)(out), uint64(p.UploadStream))
	}
	return int32(hip.Success)
}

//export rw_hipGraphExecDestroy
func rw_hipGraphExecDestroy(thread uint64, exec uint64) int32 {
	h, err := graphs().DestroyExec(exec)
	if err == hip.Success {
		err = bare().GraphExecDestroy(threadOf(thread), h)
	}
	return int32(err)
}

//export rw_hipGraphExecGetFlags
func rw_hipGraphExecGetFlags(thread uint64, exec uint64, flags unsafe.Pointer) int32 {
	if flags == nil {
		return int32(hip.ErrorInvalidValue)
	}
	_, f, err := graphs().Exec(exec)
	return give(flags, f, err)
}

// launchStream is the stream that a graph is to be launched on, which must be there.
func launchStream(t hip.Thread, stream uint64) (hip.Stream, hip.Error) {
	s, err := resolveStream(t, hip.Stream(stream))
	if err == hip.Success && s != hip.StreamNull {
		_, err = bare().StreamGetDevice(t, s)
	}
	return s, err
}

//export rw_hipGraphLaunch
func rw_hipGraphLaunch(thread uint64, exec uint64, stream uint64) int32 {
	if _, _, err := graphs().Exec(exec); err != hip.Success {
		return int32(err)
	}
	t := threadOf(thread)
	s, err := resolveStream(t, hip.Stream(stream))
	if err == hip.Success && watching.Load() != nil {
		// A launch that fails must not count the memory that it would allocate.
		if s, err = launchStream(t, stream); err != hip.Success {
			return int32(err)
		}
		if done, err := captures().Inline(s, exec); done {
			return int32(err)
		}
	}
	if err != hip.Success {
		return int32(err)
	}
	h, err := graphs().Launch(exec)
	if err == hip.Success {
		err = bare().GraphLaunch(t, h, s)
	}
	return int32(err)
}

// rw_hipGraphUpload has nothing to do: what a launch needs is there since the
// graph was instantiated.
//
//export rw_hipGraphUpload
func rw_hipGraphUpload(thread uint64, exec uint64, stream uint64) int32 {
	if _, _, err := graphs().Exec(exec); err != hip.Success {
		return int32(err)
	}
	_, err := launchStream(threadOf(thread), stream)
	return int32(err)
}

//export rw_hipGraphExecUpdate
func rw_hipGraphExecUpdate(thread uint64, exec, g uint64, node, result unsafe.Pointer) int32 {
	if exec == 0 || g == 0 || node == nil || result == nil {
		return int32(hip.ErrorInvalidValue)
	}
	u, err := graphs().ExecUpdate(exec, g)
	*(*hip.GraphExecUpdateResult)(result) = u.Result
	*(*graph.ID)(node) = u.Node
	return changed(threadOf(thread), u.Handle, u.Changes, err)
}

//export rw_hipGraphNodeSetEnabled
func rw_hipGraphNodeSetEnabled(thread uint64, exec, node uint64, on uint32) int32 {
	h, changes, err := graphs().SetEnabled(exec, node, on != 0)
	return changed(threadOf(thread), h, changes, err)
}

//export rw_hipGraphNodeGetEnabled
func rw_hipGraphNodeGetEnabled(thread uint64, exec, node uint64, out unsafe.Pointer) int32 {
	if out == nil {
		return int32(hip.ErrorInvalidValue)
	}
	on, err := graphs().Enabled(exec, node)
	v := uint32(0)
	if on {
		v = 1
	}
	return give(out, v, err)
}
