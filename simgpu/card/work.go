package card

// Class is the unit of a card that executes an instruction.
type Class uint8

const (
	SALU   Class = iota // scalar arithmetic
	SMEM                // scalar memory
	Branch              // branches, calls
	VALU                // vector arithmetic
	MFMA                // matrix arithmetic
	VMEM                // vector memory
	LDS                 // local data share
	NumClasses
)

// Work is what kernels executed.
type Work struct {
	Dispatches, Workgroups, Waves uint64             // finished
	Instructions                  [NumClasses]uint64 // wave instructions
	Lanes                         [NumClasses]uint64 // active lanes, summed over the vector instructions
	ReadBytes, WriteBytes         uint64             // of card memory
	Atomics                       uint64             // lane atomics on card memory
	FLOPs                         uint64             // floating-point operations of matrix instructions
}

// TotalInstructions is the number of wave instructions of all classes.
func (w *Work) TotalInstructions() uint64 {
	var n uint64
	for _, v := range w.Instructions {
		n += v
	}
	return n
}
