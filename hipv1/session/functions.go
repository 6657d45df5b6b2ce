package session

import (
	"math"

	"github.com/rocwire/rocwire/codeobject"
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipv1"
)

// getFunction finds a kernel and gives it the name that the client wants, 0 for one of ours.
func (s *Session) getFunction(of, want uint64, name string) (uint64, *function, hip.Error) {
	m, ok := s.modules[of]
	switch {
	case !ok:
		return 0, nil, hip.HandleModule.Wrong()
	case !s.functions.free(want):
		return 0, nil, hip.ErrorInvalidValue
	}
	k := m.kernels[name]
	if k == nil {
		return 0, nil, hip.ErrorNotFound
	}
	h, code := s.Runtime.ModuleGetFunction(hip.Thread{Device: m.device, ID: threadID}, m.h, name)
	if code != hip.Success {
		return 0, nil, code
	}
	f := &function{h: h, module: m, kernel: k, most: -1}
	given, ok := add(s, &s.functions, hip.HandleFunction, want, f)
	if !ok {
		return 0, nil, hip.ErrorOutOfMemory
	}
	m.names = append(m.names, given)
	return given, f, hip.Success
}

// described is what a client is told of a function, in its dialect. April's client packs arguments by that, so all of them must be there.
func (s *Session) described(name uint64, f *function) (any, hip.Error) {
	args := f.kernel.Args
	if s.dialect == hipv1.February {
		return &hipv1.FunctionFebruary{Function: name, NumArgs: uint32(len(args))}, hip.Success
	}
	if len(args) > hipv1.MaxArgs {
		return nil, hip.ErrorNotSupported
	}
	if s.dialect == hipv1.Later {
		v := &hipv1.FunctionLater{Function: name, NumArgs: f.kernel.KernargSize, NumParams: uint32(len(args))}
		for i, a := range args {
			v.Params[i] = hipv1.Param{Offset: a.Offset, Size: a.Size}
		}
		return v, hip.Success
	}
	v := &hipv1.ModuleGetFunctionReply{Function: name, NumArgs: f.kernel.KernargSize, NumParams: uint32(len(args))}
	describe(&v.Params, args)
	return v, hip.Success
}

func describe(to *[hipv1.MaxArgs]hipv1.ParamDesc, args []codeobject.Arg) {
	for i, a := range args {
		to[i] = hipv1.ParamDesc{Offset: a.Offset, Size: a.Size}
		if a.Kind.Pointer() {
			to[i].IsPointer = 1
		}
	}
}

// loadAndGet loads a module and finds one of its kernels.
func (s *Session) loadAndGet(c *call, q *hipv1.LoadAndGetFunction) (any, hip.Error) {
	const longest = 64 << 10
	if q.NameLength > longest {
		return nil, s.violates(c, "a name of %d bytes", q.NameLength)
	}
	name := make([]byte, q.NameLength)
	if !s.take(c, name) {
		return nil, hip.ErrorInvalidValue
	}
	if n := len(name); n > 0 && name[n-1] == 0 {
		name = name[:n-1]
	}
	m, code := s.load(c, q.DataSize, q.Vmodule)
	if code != hip.Success {
		return nil, code
	}
	given, f, code := s.getFunction(m, q.Vfunc, string(name))
	if code == hip.Success && len(f.kernel.Args) > hipv1.MaxArgs {
		code = hip.ErrorNotSupported
	}
	if code != hip.Success {
		_ = s.unload(m)
		return nil, code
	}
	v := &hipv1.ModuleLoadAndGetFunctionReply{Module: m, Function: given, NumParams: uint32(len(f.kernel.Args)), KernargSize: f.kernel.KernargSize}
	describe(&v.Params, f.kernel.Args)
	return v, hip.Success
}

// function is what a client's function stands for, with what its device is.
func (s *Session) function(name uint64) (*function, *hip.DevicePropR0600, hip.Error) {
	f, ok := s.functions[name]
	if !ok {
		return nil, nil, hip.HandleFunction.Wrong()
	}
	p, code := s.propertiesOf(uint64(f.module.device))
	return f, p, code
}

// limits is what a device and a kernel's bounds leave to one workgroup.
func (f *function) limits(p *hip.DevicePropR0600) (threads uint32, lds uint64) {
	threads = uint32(p.MaxThreadsPerBlock)
	if n := f.kernel.MaxFlatWorkgroupSize; n != 0 {
		threads = min(threads, n)
	}
	return threads, p.SharedMemPerBlock - min(p.SharedMemPerBlock, uint64(f.kernel.GroupSize))
}

// blocks is how many workgroups one compute unit holds at once.
func (f *function) blocks(p *hip.DevicePropR0600, threads uint32, dynamic uint64) uint64 {
	cu := codeobject.ComputeUnit{Threads: uint64(p.MaxThreadsPerMultiProcessor), LDS: max(p.MaxSharedMemoryPerMultiProcessor, p.SharedMemPerBlock)}
	return min(f.kernel.Resident(cu, threads, dynamic), math.MaxUint16)
}

func (s *Session) activeBlocks(q *hipv1.OccupancyMaxActiveBlocksPerSMRequest) (any, hip.Error) {
	f, p, code := s.function(q.Function)
	if code != hip.Success {
		return nil, code
	}
	if q.BlockSize <= 0 {
		return nil, hip.ErrorInvalidValue
	}
	v := new(hipv1.OccupancyMaxActiveBlocksPerSMReply)
	if most, _ := f.limits(p); uint32(q.BlockSize) <= most {
		v.NumBlocks = int32(f.blocks(p, uint32(q.BlockSize), q.DynSharedMem))
	}
	return v, hip.Success
}

// bestBlock is the workgroup size that keeps most threads resident, the larger of equals.
func (s *Session) bestBlock(q *hipv1.OccupancyMaxPotentialBlockSizeRequest) (any, hip.Error) {
	f, p, code := s.function(q.Function)
	if code != hip.Success {
		return nil, code
	}
	most, _ := f.limits(p)
	if q.BlockSizeLimit > 0 {
		most = min(most, uint32(q.BlockSizeLimit))
	}
	warp, resident, blocks := uint32(max(p.WarpSize, 1)), uint64(0), uint64(0)
	v := new(hipv1.OccupancyMaxPotentialBlockSizeReply)
	for n := most; n > 0; n = (n - 1) / warp * warp {
		b := f.blocks(p, n, q.DynSharedMem)
		if r := b * uint64(n); r > resident {
			resident, blocks, v.BlockSize = r, b, int32(n)
		}
	}
	v.MinGridSize = int32(blocks * uint64(max(p.MultiProcessorCount, 0)))
	return v, hip.Success
}

// aboutFunction is the attributes of a function.
func (s *Session) aboutFunction(c *call) (any, hip.Error) {
	switch q := c.body.(type) {
	case *hipv1.FuncGetAttributesRequest:
		f, p, code := s.function(q.Function)
		if code != hip.Success {
			return nil, code
		}
		threads, lds := f.limits(p)
		regs := f.kernel.VGPRs
		if regs == 0 {
			regs = uint32(f.kernel.Descriptor.VGPRs())
		}
		v := &hipv1.FuncGetAttributesReply{
			SharedSizeBytes: int32(f.kernel.GroupSize), LocalSizeBytes: int32(f.kernel.PrivateSize), NumRegs: int32(regs), MaxThreadsPerBlock: int32(threads),
			PtxVersion: p.Major*10 + p.Minor, BinaryVersion: p.Major*10 + p.Minor, MaxDynamicSharedSizeBytes: int32(lds),
		}
		if f.most >= 0 {
			v.MaxDynamicSharedSizeBytes = f.most
		}
		return v, hip.Success
	case *hipv1.FuncSetAttributeRequest:
		f, p, code := s.function(q.Function)
		if code != hip.Success {
			return nil, code
		}
		switch _, lds := f.limits(p); hip.FuncAttribute(q.Attribute) {
		case hip.FuncAttributeMaxDynamicSharedMemorySize:
			if q.Value < 0 || uint64(q.Value) > lds {
				return nil, hip.ErrorInvalidValue
			}
			f.most = q.Value
			return nil, hip.Success
		case hip.FuncAttributePreferredSharedMemoryCarveout: // a hint that no AMD GPU takes
			return nil, hip.Success
		}
		return nil, hip.ErrorInvalidValue
	case *hipv1.FuncSetCacheConfigRequest:
		if _, _, code := s.function(q.Function); code != hip.Success {
			return nil, code
		}
		if q.CacheConfig < int32(hip.FuncCachePreferNone) || q.CacheConfig > int32(hip.FuncCachePreferEqual) {
			return nil, hip.ErrorInvalidValue
		}
		return nil, hip.Success
	}
	return nil, hip.ErrorNotSupported
}
