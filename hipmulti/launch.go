package hipmulti

import "github.com/rocwire/rocwire/hip"

// ModuleLoadData is hipModuleLoadData: a module is of the device that it is loaded on.
func (r *Runtime) ModuleLoadData(t hip.Thread, image []byte) (hip.Module, hip.Error) {
	c := r.call()
	w, code := c.of(&t)
	if code != hip.Success {
		return 0, code
	}
	m, code := w.ModuleLoadData(t, image)
	if code != hip.Success {
		return 0, code
	}
	m = hip.Module(c.made(uint64(m)))
	return m, c.err
}

// LaunchKernel is hipModuleLaunchKernel and its relatives. The function tells the worker.
func (r *Runtime) LaunchKernel(t hip.Thread, l *hip.Launch) hip.Error {
	if l == nil {
		return hip.ErrorInvalidValue
	}
	c := r.call()
	n := c.launch(l)
	w, code := c.of(&t)
	if code == hip.ErrorContextIsDestroyed {
		return hip.ErrorInvalidValue // as launches say of a stream that is none
	} else if code != hip.Success {
		return code
	}
	return w.LaunchKernel(t, &n)
}

func (c *call) launch(l *hip.Launch) hip.Launch {
	n := *l
	n.Function = hip.Function(c.handle(hip.HandleFunction, uint64(l.Function)))
	n.Stream = hip.Stream(c.handle(hip.HandleStream, uint64(l.Stream)))
	n.Start = hip.Event(c.handle(hip.HandleEvent, uint64(l.Start)))
	n.Stop = hip.Event(c.handle(hip.HandleEvent, uint64(l.Stop)))
	return n
}

// LaunchKernelMultiDevice is hipExtLaunchMultiKernelMultiDevice: devices of one worker only, since its kernels begin together.
func (r *Runtime) LaunchKernelMultiDevice(t hip.Thread, launches []hip.Launch, flags uint32) hip.Error {
	c := r.call()
	list := make([]hip.Launch, len(launches))
	for i := range launches {
		one := r.call()
		list[i] = one.launch(&launches[i])
		if one.err != hip.Success {
			return one.err
		}
		if c.worker >= 0 && one.worker >= 0 && one.worker != c.worker {
			return hip.ErrorNotSupported
		}
		c.worker = max(c.worker, one.worker)
	}
	w, code := c.of(&t)
	if code != hip.Success {
		return code
	}
	return w.LaunchKernelMultiDevice(t, list, flags)
}

// LaunchHostFunc is hipLaunchHostFunc.
func (r *Runtime) LaunchHostFunc(t hip.Thread, s hip.Stream, f func()) hip.Error {
	c := r.call()
	s = hip.Stream(c.handle(hip.HandleStream, uint64(s)))
	w, code := c.of(&t)
	if code != hip.Success {
		return code
	}
	return w.LaunchHostFunc(t, s, f)
}
