package gcn

// Arch is a target of the instruction set.
type Arch uint8

// The targets.
const (
	GFX90A  Arch = iota // MI200: amdgcn-amd-amdhsa--gfx90a
	GFX942              // MI300: amdgcn-amd-amdhsa--gfx942
	GFX950              // MI350: amdgcn-amd-amdhsa--gfx950
	GFX1100             // RX 7900, PRO W7900: amdgcn-amd-amdhsa--gfx1100, waves of 32 lanes

	numArch = 4
)

// wave64 marks the code of kernels that have waves of 64 lanes, on a target whose waves have 32 otherwise.
const wave64 Arch = 1 << 7

// Wave64 is the target as kernels see it that are compiled for waves of 64 lanes: on RDNA lane masks are pairs of scalar registers then, and the results of matrix
// instructions have half the registers. Other targets are what they are.
func (a Arch) Wave64() Arch {
	if a.Has(RDNA) {
		return a | wave64
	}
	return a
}

// Target is the target, whatever waves kernels have.
func (a Arch) Target() Arch { return a &^ wave64 }

// Feature is what sets targets apart beside the opcodes they have.
type Feature uint16

// The features.
const (
	// ArchitectedScratch: FLAT_SCRATCH is preset, and a scratch instruction has a bit that
	// says whether it has a vector address.
	ArchitectedScratch Feature = 1 << iota
	// ScopeBits: cache policy is a scope (sc0, sc1) and nt; else it is glc, slc, scc.
	ScopeBits
	// MatrixNegate: blgp of matrix instructions of doubles negates their sources.
	MatrixNegate
	// MatrixFlush: matrix instructions take denormals for zero where A and B have
	// elements of 16 bits, whatever MODE says.
	MatrixFlush
	// MatrixMode: MODE says whether denormals of f32 matrices are flushed.
	MatrixMode
	// FloatsNUZ: floats of 8 bits have no infinity, no negative zero and one NaN; else
	// they are those of the Open Compute Project (OCP).
	FloatsNUZ
	// XCCRegisters: there are hardware registers that tell the accelerator die, and
	// those of the performance snapshots.
	XCCRegisters
	// RDNA: waves of 32 lanes, whose lane masks are single scalar registers, if a kernel does not ask for 64 (see Wave64), and
	// encodings that CDNA has not. FLAT_SCRATCH is no scalar register, and there are no accumulation registers.
	RDNA
	// KeepsHalf: a result of 16 bits leaves the other half of its register as it is.
	KeepsHalf
)

// targets are the names, the LDS of a compute unit in bytes and the features of the targets.
var targets = [numArch]struct {
	name     string
	lds      int
	features Feature
}{
	GFX90A:  {"gfx90a", 64 << 10, MatrixFlush},
	GFX942:  {"gfx942", 64 << 10, FloatsNUZ | ArchitectedScratch | ScopeBits | MatrixNegate | MatrixMode | XCCRegisters},
	GFX950:  {"gfx950", 160 << 10, ArchitectedScratch | ScopeBits | MatrixNegate | MatrixMode | XCCRegisters},
	GFX1100: {"gfx1100", 64 << 10, ArchitectedScratch | RDNA | KeepsHalf},
}

// Archs are all targets.
func Archs() []Arch {
	all := make([]Arch, numArch)
	for i := range all {
		all[i] = Arch(i)
	}
	return all
}

// String is the processor name: "gfx90a", "gfx942", "gfx950", "gfx1100".
func (a Arch) String() string {
	if a := a.Target(); a < numArch {
		return targets[a].name
	}
	return "Arch(?)"
}

// Has reports whether the target has a feature.
func (a Arch) Has(f Feature) bool {
	a = a.Target()
	return a < numArch && targets[a].features&f == f
}

// LDS is the size of a compute unit's local data share in bytes; a workgroup can have all
// of it.
func (a Arch) LDS() int {
	if a := a.Target(); a < numArch {
		return targets[a].lds
	}
	return 0
}

// WaveSize is how many lanes a wave has.
func (a Arch) WaveSize() int {
	if a.Has(RDNA) && a&wave64 == 0 {
		return 32
	}
	return 64
}
