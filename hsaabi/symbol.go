//go:build linux

package hsaabi

/*
#include "call.h"
*/
import "C"

import (
	"errors"
	"unsafe"

	"github.com/rocwire/rocwire/codeobject"
	"github.com/rocwire/rocwire/hip"
)

// symbol is a kernel (its descriptor, NAME.kd) or a variable of a code object.
type symbol struct {
	handle   uint64
	name     string
	object   *object
	kernel   *codeobject.Kernel // nil: a variable
	variable *codeobject.Global
}

func (l *library) addSymbols(x *executable, o *object) {
	add := func(s *symbol) {
		s.handle, s.object = l.loaded.handle(), o
		x.symbols = append(x.symbols, s)
		keep(&l.symbols, s.handle, s)
	}
	for _, k := range o.l.Object().Kernels {
		add(&symbol{name: k.Symbol, kernel: k})
	}
	for name, g := range o.l.Object().Globals {
		add(&symbol{name: name, variable: g})
	}
}

// loadStatus is what is wrong with a code object.
func loadStatus(err error) status {
	switch e := hip.Error(0); {
	case errors.Is(err, codeobject.ErrUndefined):
		return HSA_STATUS_ERROR_VARIABLE_UNDEFINED
	case errors.Is(err, codeobject.ErrNoBinary):
		return HSA_STATUS_ERROR_INVALID_ISA
	case errors.As(err, &e) && e == hip.ErrorOutOfMemory:
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES
	}
	return HSA_STATUS_ERROR_INVALID_CODE_OBJECT
}

// hsaExecutableGetSymbolByName is the symbol of a name in what was loaded for a card.
func hsaExecutableGetSymbolByName(h uint64, name unsafe.Pointer, agent *uint64, out *uint64) status {
	l := current.Load()
	return l.with(h, func(x *executable) status {
		if agent == nil { // symbols of programs: there are none
			return HSA_STATUS_ERROR_INVALID_SYMBOL_NAME
		}
		c, st := l.card(*agent)
		if st != HSA_STATUS_SUCCESS {
			return st
		}
		want := text(name)
		for _, s := range x.symbols {
			if s.name == want && s.object.card == c {
				*out = s.handle
				return HSA_STATUS_SUCCESS
			}
		}
		return HSA_STATUS_ERROR_INVALID_SYMBOL_NAME
	})
}

// hsaExecutableGetSymbol is the same: there are no modules.
func hsaExecutableGetSymbol(h uint64, module, name unsafe.Pointer, agent uint64, _ int32, out *uint64) status {
	if module != nil && text(module) != "" {
		return HSA_STATUS_ERROR_INVALID_SYMBOL_NAME
	}
	return hsaExecutableGetSymbolByName(h, name, &agent, out)
}

// list are the symbols of an executable, for who calls back without the lock.
func (l *library) list(h, agent uint64) (list []*symbol, st status) {
	st = l.with(h, func(x *executable) status {
		for _, s := range x.symbols {
			if agent == 0 || s.object.card.handle() == agent {
				list = append(list, s)
			}
		}
		return HSA_STATUS_SUCCESS
	})
	return list, st
}

// hsaExecutableIterateSymbols calls back for each symbol.
func hsaExecutableIterateSymbols(h uint64, callback, data unsafe.Pointer) status {
	list, st := current.Load().list(h, 0)
	for _, s := range list {
		if st = status(C.rw_hsa_call_symbol(callback, C.uint64_t(h), C.uint64_t(s.handle), data)); st != HSA_STATUS_SUCCESS {
			break
		}
	}
	return st
}

// hsaExecutableIterateAgentSymbols calls back for each symbol of a card's.
func hsaExecutableIterateAgentSymbols(h, agent uint64, callback, data unsafe.Pointer) status {
	l := current.Load()
	if _, st := l.agent(agent); st != HSA_STATUS_SUCCESS {
		return st
	}
	list, st := l.list(h, agent)
	for _, s := range list {
		if st = status(C.rw_hsa_call_agent_symbol(callback, C.uint64_t(h), C.uint64_t(agent), C.uint64_t(s.handle), data)); st != HSA_STATUS_SUCCESS {
			break
		}
	}
	return st
}

// hsaExecutableIterateProgramSymbols has nothing to call back for.
func hsaExecutableIterateProgramSymbols(h uint64, _, _ unsafe.Pointer) status {
	return current.Load().with(h, func(*executable) status { return HSA_STATUS_SUCCESS })
}

// hsaExecutableSymbolGetInfo is what is known of a symbol.
func hsaExecutableSymbolGetInfo(h uint64, attribute uint32, value unsafe.Pointer) status {
	l := current.Load()
	l.loadMu.Lock()
	s := l.symbols[h]
	l.loadMu.Unlock()
	if s == nil {
		return HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL
	}
	switch attribute {
	case HSA_EXECUTABLE_SYMBOL_INFO_TYPE:
		if s.kernel != nil {
			return put[uint32](value, HSA_SYMBOL_KIND_KERNEL)
		}
		return put[uint32](value, HSA_SYMBOL_KIND_VARIABLE)
	case HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH:
		return put(value, uint32(len(s.name)))
	case HSA_EXECUTABLE_SYMBOL_INFO_NAME: // no NUL
		copy(unsafe.Slice((*byte)(value), len(s.name)), s.name)
		return HSA_STATUS_SUCCESS
	case HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME_LENGTH:
		return put[uint32](value, 0)
	case HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME:
		return HSA_STATUS_SUCCESS
	case HSA_EXECUTABLE_SYMBOL_INFO_AGENT:
		return put(value, s.object.card.handle())
	case HSA_EXECUTABLE_SYMBOL_INFO_LINKAGE:
		return put[uint32](value, HSA_SYMBOL_LINKAGE_PROGRAM)
	case HSA_EXECUTABLE_SYMBOL_INFO_IS_DEFINITION:
		return put(value, true)
	}
	if s.kernel != nil {
		return s.kernelInfo(attribute, value)
	}
	return s.variableInfo(attribute, value)
}

func (s *symbol) kernelInfo(attribute uint32, value unsafe.Pointer) status {
	k := s.kernel
	switch attribute {
	case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT:
		return put(value, s.object.l.Base()+k.Addr)
	case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE:
		return put(value, k.KernargSize)
	case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_ALIGNMENT:
		return put(value, max(k.KernargAlign, 16))
	case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE:
		return put(value, k.GroupSize)
	case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE:
		return put(value, k.PrivateSize)
	case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_DYNAMIC_CALLSTACK:
		return put(value, k.DynamicStack)
	case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_CALL_CONVENTION:
		return put[uint32](value, 0)
	}
	return HSA_STATUS_ERROR_INVALID_ARGUMENT
}

func (s *symbol) variableInfo(attribute uint32, value unsafe.Pointer) status {
	switch attribute {
	case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS:
		return put(value, s.object.l.Base()+s.variable.Addr)
	case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE:
		return put(value, uint32(s.variable.Size))
	case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALLOCATION:
		return put[uint32](value, HSA_VARIABLE_ALLOCATION_AGENT)
	case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SEGMENT:
		return put[uint32](value, HSA_VARIABLE_SEGMENT_GLOBAL)
	case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALIGNMENT:
		return put[uint32](value, 1)
	case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_IS_CONST:
		return put(value, false)
	}
	return HSA_STATUS_ERROR_INVALID_ARGUMENT
}
