package hiprpc

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/wire"
)

// FeatureFunctions: the reply to hipModuleLoadData has the module's kernels, a few of them, so that no call needs to ask for each.
const FeatureFunctions = "functions"

// MaxFunctions is how many kernels a Loaded has: who loads libraries of thousands uses few of them.
const MaxFunctions = 64

// Loaded is what hipModuleLoadData returns: u64 module and, with FeatureFunctions, u16 count and for each kernel its u64 function and its
// name. A module with more than MaxFunctions kernels has none here.
type Loaded struct {
	Module    hip.Module
	Functions []NamedFunction
}

// NamedFunction is a kernel of a module.
type NamedFunction struct {
	Function hip.Function
	Name     string
}

// Append adds the encoding to b, without the functions unless that is agreed on.
func (l *Loaded) Append(b []byte, functions bool) []byte {
	e := wire.Enc{B: b}
	e.U64(uint64(l.Module))
	if functions {
		e.U16(uint16(len(l.Functions)))
		for _, f := range l.Functions {
			e.U64(uint64(f.Function))
			e.Str(f.Name)
		}
	}
	return e.B
}

// Decode reads what Append wrote, and reports whether it was that.
func (l *Loaded) Decode(b []byte, functions bool) bool {
	d := wire.NewDec(b)
	*l = Loaded{Module: hip.Module(d.U64())}
	if functions {
		n := int(d.U16())
		if n > MaxFunctions {
			return false
		}
		for range n {
			l.Functions = append(l.Functions, NamedFunction{hip.Function(d.U64()), d.Str()})
		}
	}
	return d.Done()
}
