package exec

// Class is the unit of the device that executes an instruction.
type Class uint8

const (
	SALU   Class = iota // scalar arithmetic, moves, waits, messages
	SMEM                // scalar memory
	Branch              // branches, calls, end of program
	VALU                // vector arithmetic
	MFMA                // matrix arithmetic
	VMEM                // flat, global, scratch, buffer
	LDS                 // local data share
	NumClasses
)

func (c Class) String() string {
	if c < NumClasses {
		return [...]string{"salu", "smem", "branch", "valu", "mfma", "vmem", "lds"}[c]
	}
	return "?"
}

// Stats is what one or several dispatches executed.
type Stats struct {
	Dispatches   uint64
	Workgroups   uint64             // finished workgroups
	Waves        uint64             // finished waves
	Instructions [NumClasses]uint64 // wave instructions by class
	Lanes        [NumClasses]uint64 // active lanes summed over the vector instructions of a class
	ReadBytes    uint64             // from device memory, by vector and scalar loads
	WriteBytes   uint64             // to device memory
	Atomics      uint64             // lane atomics on device memory
	FLOPs        uint64             // floating-point operations of matrix instructions
}

// Add adds o to s.
func (s *Stats) Add(o *Stats) {
	s.Dispatches += o.Dispatches
	s.Workgroups += o.Workgroups
	s.Waves += o.Waves
	for i := range s.Instructions {
		s.Instructions[i] += o.Instructions[i]
		s.Lanes[i] += o.Lanes[i]
	}
	s.ReadBytes += o.ReadBytes
	s.WriteBytes += o.WriteBytes
	s.Atomics += o.Atomics
	s.FLOPs += o.FLOPs
}

// TotalInstructions is the number of wave instructions of all classes.
func (s *Stats) TotalInstructions() uint64 {
	var n uint64
	for _, v := range s.Instructions {
		n += v
	}
	return n
}

// LaneOperations is the number of lane operations of vector arithmetic, memory
// and LDS instructions: the sum of their active lanes.
func (s *Stats) LaneOperations() uint64 {
	return s.Lanes[VALU] + s.Lanes[MFMA] + s.Lanes[VMEM] + s.Lanes[LDS]
}
