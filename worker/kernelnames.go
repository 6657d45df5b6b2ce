package worker

import (
	"strings"
	"sync"

	"github.com/rocwire/rocwire/calls/rpcstats"
	"github.com/rocwire/rocwire/codeobject"
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/wire"
)

// maxKernels bounds the functions whose names are kept.
const maxKernels = 1 << 14

// kernelNames are the names of a session's functions. A handle that the runtime gives again, after a module was unloaded, has its new name.
type kernelNames struct {
	mu    sync.Mutex
	names map[hip.Function]string
}

func (k *kernelNames) set(f hip.Function, name string) {
	if len(name) > rpcstats.MaxKernel {
		name = strings.ToValidUTF8(name[:rpcstats.MaxKernel], "")
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, known := k.names[f]; !known && len(k.names) >= maxKernels {
		return
	}
	if k.names == nil {
		k.names = map[hip.Function]string{}
	}
	k.names[f] = name
}

// of is a function's name, "" if it is not known.
func (k *kernelNames) of(f hip.Function) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.names[f]
}

func (s *session) doModuleGetFunction(r *wire.Request) {
	d := wire.NewDec(r.Fixed)
	t := hip.Thread{Device: d.I32(), ID: d.U32()}
	module, name := hip.Module(d.U64()), d.Str()
	if d.Bad() {
		s.malformed(r)
		return
	}
	if !s.checked(r, s.handles.check(hip.HandleModule, uint64(module))) {
		return
	}
	f, code := s.function(t, module, name)
	s.replyU64(r, uint64(f), code)
}

func (s *session) function(t hip.Thread, m hip.Module, name string) (hip.Function, hip.Error) {
	f, code := s.rt.ModuleGetFunction(t, m, name)
	if code == hip.Success {
		s.handles.AddOf(hip.HandleFunction, uint64(f), hip.HandleModule, uint64(m), t.Device)
		s.times.kernels.set(f, name)
	}
	return f, code
}

// maxListed is the longest code object, in bytes, that is read for the names of its kernels: larger ones have more of them than go with a reply.
const maxListed = 1 << 20

// functionsOf are a module's kernels, for the reply to its load; none if there are too many.
func (s *session) functionsOf(t hip.Thread, m hip.Module, image []byte) []hiprpc.NamedFunction {
	if len(image) > maxListed {
		return nil
	}
	o, err := codeobject.Parse(image)
	if err != nil || len(o.Kernels) > hiprpc.MaxFunctions {
		return nil
	}
	var list []hiprpc.NamedFunction
	for name := range o.Kernels {
		if f, code := s.function(t, m, name); code == hip.Success {
			list = append(list, hiprpc.NamedFunction{Function: f, Name: name})
		}
	}
	return list
}
