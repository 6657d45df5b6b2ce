package exec

import (
	"errors"
	"fmt"
)

// FaultKind says why a kernel was stopped.
type FaultKind int

const (
	MemoryFault        FaultKind = iota + 1 // access outside the device's memory, or to memory that is not allocated
	InstructionFault                        // an encoding that is invalid or not executable here
	TrapFault                               // s_trap: the kernel gave up (llvm.trap, failed assertion)
	RegisterFault                           // a register the kernel did not ask for
	ScratchFault                            // access outside the lane's private segment
	AlignmentFault                          // an atomic on an address that is not a multiple of its size
	ConfigurationFault                      // a dispatch that cannot run (sizes, entry point)
	InternalFault                           // the simulator itself failed; the kernel may be innocent
	CheckFault                              // a check found something, and that is to end the kernel
)

func (k FaultKind) String() string {
	switch k {
	case MemoryFault:
		return "memory access fault"
	case InstructionFault:
		return "illegal instruction"
	case TrapFault:
		return "trap"
	case RegisterFault:
		return "register out of range"
	case ScratchFault:
		return "scratch access out of range"
	case AlignmentFault:
		return "misaligned atomic"
	case ConfigurationFault:
		return "invalid dispatch"
	case InternalFault:
		return "simulator error"
	case CheckFault:
		return "sim-check"
	}
	return fmt.Sprintf("fault %d", int(k))
}

// Sentinels for errors.Is: each matches the Fault of the same kind.
var (
	ErrMemory        = errors.New("memory access fault")
	ErrInstruction   = errors.New("illegal instruction")
	ErrTrap          = errors.New("trap")
	ErrConfiguration = errors.New("invalid dispatch")
)

// Fault is how a kernel ends that did something it must not do.
type Fault struct {
	Kind      FaultKind
	Addr      uint64    // the address accessed (MemoryFault, AlignmentFault, ScratchFault: offset)
	Lane      int       // lane that faulted, -1 if not known
	PC        uint64    // address of the instruction
	Inst      string    // its text as the disassembler prints it
	Bytes     []byte    // its encoding
	Kernel    string    // kernel name
	Workgroup [3]uint32 // workgroup id
	Wave      int       // wave of the workgroup
	Detail    string    // more, for people
}

func (f *Fault) Error() string {
	s := f.Kind.String()
	switch f.Kind {
	case MemoryFault, AlignmentFault:
		s += fmt.Sprintf(" at address %#x", f.Addr)
	case ScratchFault:
		s += fmt.Sprintf(" at offset %#x", f.Addr)
	}
	if f.Detail != "" {
		s += ": " + f.Detail
	}
	if f.Inst != "" || f.PC != 0 {
		s += fmt.Sprintf(" by %q [% x] at pc %#x", f.Inst, f.Bytes, f.PC)
	}
	s += fmt.Sprintf(" in kernel %s, workgroup (%d,%d,%d), wave %d", f.Kernel, f.Workgroup[0], f.Workgroup[1], f.Workgroup[2], f.Wave)
	if f.Lane >= 0 {
		s += fmt.Sprintf(", lane %d", f.Lane)
	}
	return s
}

// Is lets errors.Is match the sentinels of this package.
func (f *Fault) Is(target error) bool {
	switch target {
	case ErrMemory:
		return f.Kind == MemoryFault || f.Kind == AlignmentFault || f.Kind == ScratchFault
	case ErrInstruction:
		return f.Kind == InstructionFault || f.Kind == RegisterFault
	case ErrTrap:
		return f.Kind == TrapFault
	case ErrConfiguration:
		return f.Kind == ConfigurationFault
	}
	return false
}
