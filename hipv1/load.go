package hipv1

// Parts of the requests of modules that have several forms.

// LoadAndGetFunction is the request of OpModuleLoadAndGetFunction in April's dialect. Behind it: bytes name[NameLength]; bytes code_object[DataSize].
type LoadAndGetFunction struct {
	ModuleLoadRequest
	NameLength uint32
	_          uint32
	Vmodule    uint64
	Vfunc      uint64
}

const loadAndGet = 40

// GetFunction is what the request of OpModuleGetFunction says in any dialect.
type GetFunction struct {
	Module  uint64
	Vhandle uint64 // 0: the worker gives one
	Name    string
}

// parseModuleLoad tells the dialects apart by what is left for the code object.
func parseModuleLoad(length uint32, b []byte) (any, int, error) {
	v, _, err := padded[ModuleLoadRequest](b)
	if err != nil {
		return nil, 0, err
	}
	m := v.(*ModuleLoadRequest)
	switch uint64(length) - m.DataSize {
	case moduleLoadApril:
		if len(b) < moduleLoadApril {
			return nil, 0, violation("a payload of %d bytes where %d belong", len(b), moduleLoadApril)
		}
		return m, moduleLoadApril, nil
	case moduleLoadEarlier:
		m.Vhandle = 0
		return m, moduleLoadEarlier, nil
	}
	return nil, 0, violation("a code object of %d bytes in a payload of %d", m.DataSize, length)
}

func parseLoadAndGetFunction(length uint32, b []byte) (any, int, error) {
	v, n, err := fixed[LoadAndGetFunction](b)
	if err != nil {
		return nil, 0, err
	}
	m := v.(*LoadAndGetFunction)
	if rest := uint64(length) - uint64(n); uint64(length) < uint64(n) || uint64(m.NameLength) > rest || m.DataSize != rest-uint64(m.NameLength) {
		return nil, 0, violation("a name of %d and a code object of %d bytes in a payload of %d", m.NameLength, m.DataSize, length)
	}
	return m, n, nil
}

func parseGetFunction(length uint32, b []byte) (any, int, error) {
	f, name := new(GetFunction), 8
	switch {
	case uint64(length) != uint64(len(b)):
		return nil, 0, violation("%d bytes of %d", len(b), length)
	case length == functionApril:
		f.Vhandle, name = le.Uint64(b[8:]), 16
	case length != functionFebruary && length != functionLater:
		return nil, 0, violation("a function's name in a payload of %d bytes", length)
	}
	f.Module = le.Uint64(b)
	var ok bool
	if f.Name, ok = text(b[name:]); !ok {
		return nil, 0, violation("a function's name without an end")
	}
	return f, len(b), nil
}

// Replies to OpModuleGetFunction of the earlier dialects. Where a function's parameters are told, NumArgs is the length of its argument segment.
type (
	FunctionFebruary struct {
		Function uint64
		NumArgs  uint32
		_        uint32
	}
	FunctionLater struct {
		Function  uint64
		NumArgs   uint32
		NumParams uint32
		Params    [MaxArgs]Param
	}
	Param struct {
		Offset uint32
		Size   uint32
	}
)
