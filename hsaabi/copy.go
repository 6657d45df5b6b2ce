//go:build linux

package hsaabi

import (
	"unsafe"
)

// dependencies are the signals of a list, which the caller may change afterwards.
func dependencies(n uint32, list *uint64) ([]uint64, status) {
	if n > 0 && list == nil {
		return nil, HSA_STATUS_ERROR_INVALID_ARGUMENT
	}
	deps := append([]uint64(nil), unsafe.Slice(list, n)...)
	for _, h := range deps {
		if signal(h) == nil {
			return nil, HSA_STATUS_ERROR_INVALID_SIGNAL
		}
	}
	return deps, HSA_STATUS_SUCCESS
}

// hsaAMDMemoryAsyncCopy copies when the signals are zero.
func hsaAMDMemoryAsyncCopy(dst unsafe.Pointer, dstAgent uint64, src unsafe.Pointer, srcAgent, size uint64, n uint32, deps *uint64, completion uint64) status {
	l := current.Load()
	if st := l.known([]uint64{dstAgent, srcAgent}); st != HSA_STATUS_SUCCESS {
		return st
	}
	list, st := dependencies(n, deps)
	if st != HSA_STATUS_SUCCESS {
		return st
	}
	if signal(completion) == nil {
		return HSA_STATUS_ERROR_INVALID_SIGNAL
	}
	to, from := address(dst), address(src)
	l.after(list, completion, func() status {
		if size == 0 {
			return HSA_STATUS_SUCCESS
		}
		return l.copy(to, from, size)
	})
	return HSA_STATUS_SUCCESS
}

// hsaAMDMemoryAsyncCopyOnEngine is the same: the engines are all free, and equal.
func hsaAMDMemoryAsyncCopyOnEngine(dst unsafe.Pointer, dstAgent uint64, src unsafe.Pointer, srcAgent, size uint64, n uint32, deps *uint64, completion uint64,
	engine uint32, _ bool) status {
	if engine == 0 || engine >= 1<<copyEngines || engine&(engine-1) != 0 {
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	}
	return hsaAMDMemoryAsyncCopy(dst, dstAgent, src, srcAgent, size, n, deps, completion)
}

// hsaAMDMemoryCopyEngineStatus is which engines are free.
func hsaAMDMemoryCopyEngineStatus(dstAgent, srcAgent uint64, mask *uint32) status {
	if st := current.Load().known([]uint64{dstAgent, srcAgent}); st != HSA_STATUS_SUCCESS {
		return st
	}
	*mask = 1<<copyEngines - 1
	return HSA_STATUS_SUCCESS
}

// hsaAMDMemoryAsyncCopyRect copies a box, range.x bytes wide, when the signals are zero.
func hsaAMDMemoryAsyncCopyRect(dst *pitchedPtr, dstAt *dim3, src *pitchedPtr, srcAt, size *dim3, h uint64, _ uint32, n uint32, deps *uint64, completion uint64) status {
	l := current.Load()
	if _, st := l.card(h); st != HSA_STATUS_SUCCESS {
		return st
	}
	list, st := dependencies(n, deps)
	if st != HSA_STATUS_SUCCESS {
		return st
	}
	if signal(completion) == nil {
		return HSA_STATUS_ERROR_INVALID_SIGNAL
	}
	d, s, whole := *dst, *src, *size
	to, ok := d.offset(*dstAt, whole)
	from, ok2 := s.offset(*srcAt, whole)
	if !ok || !ok2 {
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	}
	l.after(list, completion, func() status {
		return l.move(box{to, d.pitch, d.slice}, box{from, s.pitch, s.slice}, [3]uint64{uint64(whole.x), uint64(whole.y), uint64(whole.z)}, 1)
	})
	return HSA_STATUS_SUCCESS
}

// offset is the address of a corner of the memory, and whether a box from there keeps to its pitch and slice.
func (p *pitchedPtr) offset(at, box dim3) (uint64, bool) {
	if box.y > 1 && p.pitch < uint64(box.x) || box.z > 1 && p.slice < p.pitch*uint64(box.y) {
		return 0, false
	}
	return uint64(p.base) + uint64(at.z)*p.slice + uint64(at.y)*p.pitch + uint64(at.x), true
}

// hsaAMDProfilingAsyncCopyEnable is that times are always taken.
func hsaAMDProfilingAsyncCopyEnable(bool) status { return HSA_STATUS_SUCCESS }

// times are when what a signal stands for began and ended.
func times(h uint64) (begin, end uint64, st status) {
	s := signal(h)
	if s == nil {
		return 0, 0, HSA_STATUS_ERROR_INVALID_SIGNAL
	}
	if s.s.end_ts == 0 {
		return 0, 0, HSA_STATUS_ERROR
	}
	return uint64(s.s.start_ts), uint64(s.s.end_ts), HSA_STATUS_SUCCESS
}

// hsaAMDProfilingGetAsyncCopyTime is when a copy was made.
func hsaAMDProfilingGetAsyncCopyTime(h uint64, out *amdProfilingAsyncCopyTime) status {
	begin, end, st := times(h)
	if st == HSA_STATUS_SUCCESS {
		*out = amdProfilingAsyncCopyTime{begin, end}
	}
	return st
}

// hsaAMDProfilingGetDispatchTime is when a kernel ran.
func hsaAMDProfilingGetDispatchTime(agent, h uint64, out *amdProfilingDispatchTime) status {
	if _, st := current.Load().card(agent); st != HSA_STATUS_SUCCESS {
		return st
	}
	begin, end, st := times(h)
	if st == HSA_STATUS_SUCCESS {
		*out = amdProfilingDispatchTime{begin, end}
	}
	return st
}

// hsaAMDProfilingConvertTickToSystemDomain is that cards' times are the system's.
func hsaAMDProfilingConvertTickToSystemDomain(agent, tick uint64, out *uint64) status {
	if _, st := current.Load().card(agent); st != HSA_STATUS_SUCCESS {
		return st
	}
	*out = tick
	return HSA_STATUS_SUCCESS
}
