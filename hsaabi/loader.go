//go:build linux

package hsaabi

import "C"

import (
	"io"
	"os"
	"slices"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/simgpu"
)

// loaded is what the loader has made. Its handles are one sequence, so none is another's.
type loaded struct {
	loadMu      sync.Mutex
	last        uint64
	readers     map[uint64][]byte
	executables map[uint64]*executable
	objects     map[uint64]*object
	symbols     map[uint64]*symbol
	codes       map[uint64]*code
	codeSymbols map[uint64]*codeSymbol
}

const loaderBase = 0x10000_0000 // handles are larger

// executable is code objects that belong together.
type executable struct {
	handle  uint64
	profile uint32
	frozen  bool
	define  map[uint64]map[string]uint64 // addresses, by agent and name; agent 0: of all
	objects []*object
	symbols []*symbol
}

// object is a code object that was loaded.
type object struct {
	handle  uint64
	ex      *executable
	card    *card
	storage []byte // as the reader has it
	l       *simgpu.Loaded
}

func (t *loaded) handle() uint64 {
	t.last++
	return loaderBase + t.last
}

func keep[T any](m *map[uint64]T, h uint64, v T) {
	if *m == nil {
		*m = map[uint64]T{}
	}
	(*m)[h] = v
}

// mayHoldCode reports whether there is memory that may hold a code object.
func mayHoldCode(p unsafe.Pointer, size uint64) bool {
	return size > 0 && size <= 1<<40 && simgpu.Readable(address(p), size)
}

// hsaCodeObjectReaderCreateFromMemory reads a code object that stays where it is until the reader is destroyed.
func hsaCodeObjectReaderCreateFromMemory(p unsafe.Pointer, size uint64, out *uint64) status {
	if !mayHoldCode(p, size) {
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	}
	return current.Load().reader(unsafe.Slice((*byte)(p), size), out)
}

func (t *loaded) reader(b []byte, out *uint64) status {
	t.loadMu.Lock()
	defer t.loadMu.Unlock()
	h := t.handle()
	keep(&t.readers, h, b)
	*out = h
	return HSA_STATUS_SUCCESS
}

// hsaCodeObjectReaderCreateFromFile reads what is in a file, whole.
func hsaCodeObjectReaderCreateFromFile(file int32, out *uint64) status {
	return readerOf(file, 0, 1<<62, out)
}

// rw_hsa_loader_reader reads a part of a file.
//
//export rw_hsa_loader_reader
func rw_hsa_loader_reader(file int32, offset, size uint64, out *uint64) uint32 {
	if offset > 1<<62 || size > 1<<62 {
		return uint32(HSA_STATUS_ERROR_INVALID_ARGUMENT)
	}
	return uint32(readerOf(file, int64(offset), int64(size), out))
}

func readerOf(file int32, offset, size int64, out *uint64) status {
	fd, err := unix.FcntlInt(uintptr(file), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return HSA_STATUS_ERROR_INVALID_FILE
	}
	f := os.NewFile(uintptr(fd), "code object")
	defer f.Close()
	b, err := io.ReadAll(io.NewSectionReader(f, offset, size))
	if err != nil || len(b) == 0 {
		return HSA_STATUS_ERROR_INVALID_FILE
	}
	return current.Load().reader(b, out)
}

// hsaCodeObjectReaderDestroy ends a reader; what was loaded from it stays.
func hsaCodeObjectReaderDestroy(h uint64) status {
	l := current.Load()
	l.loadMu.Lock()
	defer l.loadMu.Unlock()
	if _, ok := l.readers[h]; !ok {
		return HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER
	}
	delete(l.readers, h)
	return HSA_STATUS_SUCCESS
}

// hsaExecutableCreateAlt makes an executable.
func hsaExecutableCreateAlt(profile, rounding uint32, _ unsafe.Pointer, out *uint64) status {
	if profile > HSA_PROFILE_FULL || rounding > HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR {
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	}
	l := current.Load()
	l.loadMu.Lock()
	defer l.loadMu.Unlock()
	x := &executable{handle: l.loaded.handle(), profile: profile, define: map[uint64]map[string]uint64{}}
	keep(&l.executables, x.handle, x)
	*out = x.handle
	return HSA_STATUS_SUCCESS
}

// hsaExecutableCreate is the same, frozen perhaps.
func hsaExecutableCreate(profile, state uint32, options unsafe.Pointer, out *uint64) status {
	if state > HSA_EXECUTABLE_STATE_FROZEN {
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	}
	st := hsaExecutableCreateAlt(profile, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, options, out)
	if st == HSA_STATUS_SUCCESS && state == HSA_EXECUTABLE_STATE_FROZEN {
		return hsaExecutableFreeze(*out, nil)
	}
	return st
}

// with calls f for an executable.
func (t *loaded) with(h uint64, f func(*executable) status) status {
	t.loadMu.Lock()
	defer t.loadMu.Unlock()
	x := t.executables[h]
	if x == nil {
		return HSA_STATUS_ERROR_INVALID_EXECUTABLE
	}
	return f(x)
}

// change is with for what has to come before it is frozen.
func (t *loaded) change(h uint64, f func(*executable) status) status {
	return t.with(h, func(x *executable) status {
		if x.frozen {
			return HSA_STATUS_ERROR_FROZEN_EXECUTABLE
		}
		return f(x)
	})
}

// hsaExecutableFreeze has nothing be added any more.
func hsaExecutableFreeze(h uint64, _ unsafe.Pointer) status {
	return current.Load().change(h, func(x *executable) status {
		x.frozen = true
		return HSA_STATUS_SUCCESS
	})
}

// hsaExecutableDestroy ends an executable with its code and symbols, when what runs is done.
func hsaExecutableDestroy(h uint64) status {
	l := current.Load()
	var gone []*object
	st := l.with(h, func(x *executable) status {
		delete(l.executables, h)
		for _, s := range x.symbols {
			delete(l.symbols, s.handle)
		}
		for _, o := range x.objects {
			delete(l.objects, o.handle)
		}
		gone = x.objects
		return HSA_STATUS_SUCCESS
	})
	for _, o := range gone {
		o.l.Unload()
	}
	return st
}

// hsaExecutableLoadAgentCodeObject loads a code object for a card.
func hsaExecutableLoadAgentCodeObject(h, agent, reader uint64, _ unsafe.Pointer, out *uint64) status {
	l := current.Load()
	return l.change(h, func(x *executable) status {
		b, ok := l.readers[reader]
		if !ok {
			if _, st := l.card(agent); st != HSA_STATUS_SUCCESS {
				return st
			}
			return HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER
		}
		return l.load(x, agent, b, out)
	})
}

// load loads a code object for a card. loadMu is held.
func (l *library) load(x *executable, agent uint64, b []byte, out *uint64) status {
	c, st := l.card(agent)
	if st != HSA_STATUS_SUCCESS {
		return st
	}
	define := map[string]uint64{}
	for _, a := range []uint64{0, agent} {
		for name, at := range x.define[a] {
			define[name] = at
		}
	}
	loaded, err := l.sim.Load(c.index, b, define)
	if err != nil {
		say("HSA: a code object of %d bytes: %v", len(b), err)
		return loadStatus(err)
	}
	o := &object{handle: l.loaded.handle(), ex: x, card: c, storage: b, l: loaded}
	x.objects = append(x.objects, o)
	keep(&l.objects, o.handle, o)
	l.addSymbols(x, o)
	if out != nil {
		*out = o.handle
	}
	return HSA_STATUS_SUCCESS
}

// hsaExecutableAgentGlobalVariableDefine says where a variable is that code objects refer to.
func hsaExecutableAgentGlobalVariableDefine(h, agent uint64, name, at unsafe.Pointer) status {
	l := current.Load()
	return l.change(h, func(x *executable) status {
		if _, st := l.agent(agent); st != HSA_STATUS_SUCCESS {
			return st
		}
		return x.defines(agent, text(name), address(at))
	})
}

// hsaExecutableReadonlyVariableDefine is the same.
func hsaExecutableReadonlyVariableDefine(h, agent uint64, name, at unsafe.Pointer) status {
	return hsaExecutableAgentGlobalVariableDefine(h, agent, name, at)
}

// hsaExecutableGlobalVariableDefine is the same for all agents.
func hsaExecutableGlobalVariableDefine(h uint64, name, at unsafe.Pointer) status {
	return current.Load().change(h, func(x *executable) status { return x.defines(0, text(name), address(at)) })
}

func (x *executable) defines(agent uint64, name string, at uint64) status {
	m := x.define[agent]
	if m == nil {
		m = map[string]uint64{}
		x.define[agent] = m
	}
	defined := slices.ContainsFunc(x.symbols, func(s *symbol) bool { return s.name == name && (agent == 0 || s.object.card.handle() == agent) })
	if _, twice := m[name]; twice || defined {
		return HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED
	}
	m[name] = at
	return HSA_STATUS_SUCCESS
}

// hsaExecutableGetInfo is what is known of an executable.
func hsaExecutableGetInfo(h uint64, attribute uint32, value unsafe.Pointer) status {
	return current.Load().with(h, func(x *executable) status {
		switch attribute {
		case HSA_EXECUTABLE_INFO_PROFILE:
			return put(value, x.profile)
		case HSA_EXECUTABLE_INFO_STATE:
			if x.frozen {
				return put[uint32](value, HSA_EXECUTABLE_STATE_FROZEN)
			}
			return put[uint32](value, HSA_EXECUTABLE_STATE_UNFROZEN)
		case HSA_EXECUTABLE_INFO_DEFAULT_FLOAT_ROUNDING_MODE:
			return put[uint32](value, HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR)
		}
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	})
}

// hsaExecutableValidateAlt finds nothing wrong with what could be loaded.
func hsaExecutableValidateAlt(h uint64, _ unsafe.Pointer, result *uint32) status {
	return current.Load().with(h, func(*executable) status {
		*result = 0
		return HSA_STATUS_SUCCESS
	})
}

// hsaExecutableValidate is the same.
func hsaExecutableValidate(h uint64, result *uint32) status {
	return hsaExecutableValidateAlt(h, nil, result)
}
