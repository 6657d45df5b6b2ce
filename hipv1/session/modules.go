package session

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"

	"github.com/rocwire/rocwire/codeobject"
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipv1"
)

// maxImage bounds a code object in bytes.
const maxImage = 1 << 30

// module is a loaded code object.
type module struct {
	h       hip.Module
	device  int32
	kernels map[string]*codeobject.Kernel
	names   []uint64 // of its functions
	kept    uint64   // bytes of the account
}

// function is a kernel that the client has a name for.
type function struct {
	h      hip.Function
	module *module
	kernel *codeobject.Kernel
	most   int32 // dynamic LDS that a launch may ask for, -1: what is left
}

func (s *Session) ofModule(c *call) (any, hip.Error) {
	switch q := c.body.(type) {
	case *hipv1.ModuleLoadRequest:
		name, code := s.load(c, q.DataSize, q.Vhandle)
		return &hipv1.ModuleLoadReply{Module: name}, code
	case *hipv1.ModuleUnloadRequest:
		return nil, s.unload(q.Module)
	case *hipv1.GetFunction:
		name, f, code := s.getFunction(q.Module, q.Vhandle, q.Name)
		if code != hip.Success {
			return nil, code
		}
		return s.described(name, f)
	case *hipv1.Launch:
		return nil, s.launch(q)
	}
	return s.aboutFunction(c)
}

// load reads a code object, or a bundle that has one for the device, and loads it.
func (s *Session) load(c *call, n, want uint64) (uint64, hip.Error) {
	switch {
	case n == 0 || n > maxImage:
		return 0, hip.ErrorInvalidImage
	case !s.modules.free(want):
		return 0, hip.ErrorInvalidValue
	}
	if code := s.captures.RefuseUnsafe(s.thread()); code != hip.Success {
		return 0, code
	}
	kept := 2*n + s.ModuleCost // as much as a client of package wire pays
	if !s.Memory.Take(n + kept) {
		return 0, hip.ErrorOutOfMemory
	}
	defer s.Memory.Give(n)
	b := make([]byte, n)
	m, code := (*module)(nil), hip.ErrorInvalidImage
	if s.take(c, b) {
		m, code = s.loadImage(b)
	}
	if code != hip.Success {
		s.Memory.Give(kept)
		return 0, code
	}
	m.kept = kept
	name, ok := add(s, &s.modules, hip.HandleModule, want, m)
	if !ok {
		_ = s.Runtime.ModuleUnload(s.thread(), m.h)
		s.Memory.Give(kept)
		return 0, hip.ErrorOutOfMemory
	}
	return name, hip.Success
}

func (s *Session) loadImage(b []byte) (*module, hip.Error) {
	more := unfolded(b)
	if !s.Memory.Take(more) {
		return nil, hip.ErrorOutOfMemory
	}
	defer s.Memory.Give(more)
	p, code := s.propertiesOf(uint64(s.device))
	if code != hip.Success {
		return nil, code
	}
	arch, _, _ := strings.Cut(string(p.GcnArchName[:]), "\x00")
	target, err := codeobject.ParseTarget(arch)
	if err != nil {
		return nil, hip.ErrorInvalidDevice
	}
	elf, err := codeobject.Select(b, target)
	var wrong *codeobject.NoBinaryForGPU
	switch {
	case errors.As(err, &wrong):
		s.Log.Warn("module", "error", err)
		return nil, hip.ErrorNoBinaryForGpu
	case err != nil:
		s.Log.Warn("module", "error", err)
		return nil, hip.ErrorInvalidImage
	}
	o, err := codeobject.Parse(elf)
	if err != nil {
		s.Log.Warn("module", "error", err)
		return nil, hip.ErrorInvalidImage
	}
	h, code := s.Runtime.ModuleLoadData(s.thread(), elf)
	return &module{h: h, device: s.device, kernels: o.Kernels}, code
}

// unfolded is how many bytes the compressed bundles of an image may unfold to, by what they say: all there could be in it.
func unfolded(b []byte) (n uint64) {
	for magic := []byte("CCOB"); ; b = b[4:] {
		i := bytes.Index(b, magic)
		if i < 0 || len(b)-i < 32 {
			return n
		}
		b = b[i:]
		says := uint64(codeobject.MaxUncompressed)
		switch binary.LittleEndian.Uint16(b[4:]) {
		case 1:
			says = uint64(binary.LittleEndian.Uint32(b[8:]))
		case 2:
			says = uint64(binary.LittleEndian.Uint32(b[12:]))
		case 3:
			says = binary.LittleEndian.Uint64(b[16:])
		}
		n += min(says, codeobject.MaxUncompressed)
	}
}

func (s *Session) unload(name uint64) hip.Error {
	m, ok := s.modules[name]
	if !ok {
		return hip.HandleModule.Wrong()
	}
	code := s.Runtime.ModuleUnload(s.thread(), m.h)
	if code == hip.Success {
		s.forgetModule(name, m)
	}
	return code
}

func (s *Session) forgetModule(name uint64, m *module) {
	for _, f := range m.names {
		drop(s, s.functions, hip.HandleFunction, f)
	}
	drop(s, s.modules, hip.HandleModule, name)
	s.Memory.Give(m.kept)
}
