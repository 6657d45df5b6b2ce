//go:build linux

package hsaabi

/*
#include "call.h"
*/
import "C"

import (
	"bytes"
	"debug/elf"
	"strings"
	"unsafe"

	"github.com/rocwire/rocwire/codeobject"
)

// The functions for code objects that were there before code object readers. AMD's library tells of a code object of version 3 or later what its
// ELF file says: variables, of which a kernel's descriptor is one. What notes of version 2 said, it has no answer to.

// code is a code object that was deserialized.
type code struct {
	image   []byte
	known   bool // whether it is one; symbols are read
	symbols []*codeSymbol
}

// codeSymbol is a symbol of one.
type codeSymbol struct {
	handle uint64
	elf.Symbol
	section *elf.Section
}

// hsaCodeObjectDeserialize takes a copy of a code object. What it is shows when it is used.
func hsaCodeObjectDeserialize(p unsafe.Pointer, size uint64, _ unsafe.Pointer, out *uint64) status {
	if !mayHoldCode(p, size) {
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	}
	l := current.Load()
	c := &code{image: bytes.Clone(unsafe.Slice((*byte)(p), size))}
	l.loadMu.Lock()
	defer l.loadMu.Unlock()
	h := l.loaded.handle()
	keep(&l.codes, h, c)
	*out = h
	return HSA_STATUS_SUCCESS
}

// code is the code object of a handle, read.
func (t *loaded) code(h uint64) (*code, status) {
	t.loadMu.Lock()
	defer t.loadMu.Unlock()
	c := t.codes[h]
	if c == nil || !c.known && !c.read(t) {
		return nil, HSA_STATUS_ERROR_INVALID_CODE_OBJECT
	}
	return c, HSA_STATUS_SUCCESS
}

// read reads the symbols; false if it is no code object. loadMu is held.
func (c *code) read(t *loaded) bool {
	if _, err := codeobject.Parse(c.image); err != nil {
		return false
	}
	f, err := elf.NewFile(bytes.NewReader(c.image))
	if err != nil {
		return false
	}
	list, err := f.Symbols()
	if err != nil { // stripped
		list, _ = f.DynamicSymbols()
	}
	for _, s := range list {
		if elf.ST_TYPE(s.Info) != elf.STT_OBJECT || int(s.Section) >= len(f.Sections) || s.Section == elf.SHN_UNDEF {
			continue
		}
		x := &codeSymbol{handle: t.handle(), Symbol: s, section: f.Sections[s.Section]}
		c.symbols = append(c.symbols, x)
		keep(&t.codeSymbols, x.handle, x)
	}
	c.known = true
	return true
}

// hsaCodeObjectSerialize writes the code object to memory that the program gives.
func hsaCodeObjectSerialize(h uint64, alloc unsafe.Pointer, data uint64, _ unsafe.Pointer, out *unsafe.Pointer, size *uint64) status {
	c, st := current.Load().code(h)
	if st != HSA_STATUS_SUCCESS {
		return st
	}
	n := uint64(len(c.image))
	*out = nil // or it would be written to what the program had there, if it gives nothing
	if st := status(C.rw_hsa_call_alloc(alloc, C.size_t(n), C.uint64_t(data), unsafe.Pointer(out))); st != HSA_STATUS_SUCCESS {
		return st
	}
	if *out == nil {
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES
	}
	copy(unsafe.Slice((*byte)(*out), n), c.image)
	*size = n
	return HSA_STATUS_SUCCESS
}

// hsaCodeObjectDestroy ends a code object; what was loaded of it stays.
func hsaCodeObjectDestroy(h uint64) status {
	l := current.Load()
	l.loadMu.Lock()
	defer l.loadMu.Unlock()
	c := l.codes[h]
	if c == nil {
		return HSA_STATUS_ERROR_INVALID_CODE_OBJECT
	}
	for _, s := range c.symbols {
		delete(l.codeSymbols, s.handle)
	}
	delete(l.codes, h)
	return HSA_STATUS_SUCCESS
}

// hsaCodeObjectGetInfo has no answers: they stand in notes of version 2 of code objects, which no card here executes.
func hsaCodeObjectGetInfo(h uint64, attribute uint32, _ unsafe.Pointer) status {
	if _, st := current.Load().code(h); st != HSA_STATUS_SUCCESS {
		return st
	}
	switch attribute {
	case HSA_CODE_OBJECT_INFO_VERSION, HSA_CODE_OBJECT_INFO_MACHINE_MODEL, HSA_CODE_OBJECT_INFO_PROFILE, HSA_CODE_OBJECT_INFO_DEFAULT_FLOAT_ROUNDING_MODE:
		return HSA_STATUS_ERROR_INVALID_CODE_OBJECT
	case HSA_CODE_OBJECT_INFO_ISA:
		return HSA_STATUS_ERROR_INVALID_ISA_NAME
	}
	return HSA_STATUS_ERROR_INVALID_ARGUMENT
}

// hsaCodeObjectGetSymbol is the symbol of a name.
func hsaCodeObjectGetSymbol(h uint64, name unsafe.Pointer, out *uint64) status {
	return hsaCodeObjectGetSymbolFromName(h, nil, name, out)
}

// hsaCodeObjectGetSymbolFromName is the symbol of a name in a module.
func hsaCodeObjectGetSymbolFromName(h uint64, module, name unsafe.Pointer, out *uint64) status {
	c, st := current.Load().code(h)
	if st != HSA_STATUS_SUCCESS {
		return st
	}
	want := text(name)
	if module != nil && text(module) != "" {
		want = text(module) + "::" + want
	}
	for _, s := range c.symbols {
		if s.Name == want {
			*out = s.handle
			return HSA_STATUS_SUCCESS
		}
	}
	return HSA_STATUS_ERROR_INVALID_SYMBOL_NAME
}

// hsaCodeObjectIterateSymbols calls back for each symbol.
func hsaCodeObjectIterateSymbols(h uint64, callback, data unsafe.Pointer) status {
	c, st := current.Load().code(h)
	if st != HSA_STATUS_SUCCESS {
		return st
	}
	for _, s := range c.symbols {
		if st = status(C.rw_hsa_call_code_symbol(callback, C.uint64_t(h), C.uint64_t(s.handle), data)); st != HSA_STATUS_SUCCESS {
			break
		}
	}
	return st
}

// hsaCodeSymbolGetInfo is what is known of a symbol.
func hsaCodeSymbolGetInfo(h uint64, attribute uint32, value unsafe.Pointer) status {
	l := current.Load()
	l.loadMu.Lock()
	s := l.codeSymbols[h]
	l.loadMu.Unlock()
	if s == nil {
		return HSA_STATUS_ERROR_INVALID_CODE_SYMBOL
	}
	module, name := "", s.Name
	if i := strings.IndexByte(name, ':'); i >= 0 {
		module, name = name[:i], name[strings.LastIndexByte(name, ':')+1:]
	}
	switch attribute {
	case HSA_CODE_SYMBOL_INFO_TYPE:
		return put[uint32](value, HSA_SYMBOL_KIND_VARIABLE)
	case HSA_CODE_SYMBOL_INFO_NAME_LENGTH:
		return put(value, uint32(len(name)))
	case HSA_CODE_SYMBOL_INFO_NAME: // no NUL
		copy(unsafe.Slice((*byte)(value), len(name)), name)
		return HSA_STATUS_SUCCESS
	case HSA_CODE_SYMBOL_INFO_MODULE_NAME_LENGTH:
		return put(value, uint32(len(module)))
	case HSA_CODE_SYMBOL_INFO_MODULE_NAME:
		copy(unsafe.Slice((*byte)(value), len(module)), module)
		return HSA_STATUS_SUCCESS
	case HSA_CODE_SYMBOL_INFO_LINKAGE:
		if elf.ST_BIND(s.Info) == elf.STB_GLOBAL {
			return put[uint32](value, HSA_SYMBOL_LINKAGE_PROGRAM)
		}
		return put[uint32](value, HSA_SYMBOL_LINKAGE_MODULE)
	case HSA_CODE_SYMBOL_INFO_IS_DEFINITION:
		return put(value, true)
	case HSA_CODE_SYMBOL_INFO_VARIABLE_ALLOCATION:
		return put[uint32](value, HSA_VARIABLE_ALLOCATION_PROGRAM)
	case HSA_CODE_SYMBOL_INFO_VARIABLE_SEGMENT:
		return put[uint32](value, HSA_VARIABLE_SEGMENT_GLOBAL)
	case HSA_CODE_SYMBOL_INFO_VARIABLE_ALIGNMENT:
		return put(value, uint32(s.section.Addralign))
	case HSA_CODE_SYMBOL_INFO_VARIABLE_SIZE:
		return put(value, uint32(s.Size))
	case HSA_CODE_SYMBOL_INFO_VARIABLE_IS_CONST:
		return put(value, s.section.Flags&elf.SHF_WRITE == 0)
	}
	return HSA_STATUS_ERROR_INVALID_ARGUMENT
}

// hsaExecutableLoadCodeObject loads a code object for a card.
func hsaExecutableLoadCodeObject(h, agent, codeObject uint64, _ unsafe.Pointer) status {
	l := current.Load()
	return l.change(h, func(x *executable) status {
		c := l.codes[codeObject]
		if c == nil {
			return HSA_STATUS_ERROR_INVALID_CODE_OBJECT
		}
		return l.load(x, agent, c.image, nil)
	})
}

// hsaExecutableLoadProgramCodeObject refuses all: code objects of these cards are those of agents.
func hsaExecutableLoadProgramCodeObject(h, reader uint64, _ unsafe.Pointer, _ *uint64) status {
	l := current.Load()
	return l.change(h, func(*executable) status {
		if _, ok := l.readers[reader]; !ok {
			return HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER
		}
		return HSA_STATUS_ERROR_INVALID_CODE_OBJECT
	})
}
